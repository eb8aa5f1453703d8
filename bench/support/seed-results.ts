import { Database } from "bun:sqlite";
import { join } from "node:path";
import { sketchOf, sketchToBytes } from "../../src/base/sketch";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** As many monitors are filled in one commit. */
const BATCH = 100;
const OUTAGE_EVERY_DAYS = 3;
const OUTAGE_MS = 20 * MINUTE_MS;

interface Results {
  /** For each monitor, one a minute up to now. */
  each: number;
  /** The first so many monitors have all that is kept of `days`; the others have ten days of hours. */
  shown: number;
  days: number;
}

/**
 * Writes results and history of `days` for every monitor of a database, in bulk. The monitors are
 * paused, so that no check adds results. Returns the number of results.
 */
export function seedResults(dataDir: string, { each, shown, days }: Results): number {
  const database = new Database(join(dataDir, "allclear.db"), { strict: true });
  const now = Date.now();
  const hour = now - (now % HOUR_MS);
  try {
    database.run("UPDATE monitors SET created_at = created_at - ?", [days * DAY_MS]);
    database.run("UPDATE monitor_states SET rolled_until = ?, since = ?", [hour, now]);
    seedSpans(database, now, days);
    const most = numberOf(database, "SELECT max(num) AS number FROM monitors");
    for (let first = 1; first <= most; first += BATCH) {
      const span = { first, last: first + BATCH - 1 };
      seedChecks(database, { ...span, each, now });
      seedRollups(database, { ...span, size: HOUR_MS, until: hour, count: 10 * 24 });
    }
    const page = { first: 1, last: shown };
    seedRollups(database, { ...page, size: MINUTE_MS, until: hour, count: 7 * 24 * 60 });
    seedRollups(database, { ...page, size: HOUR_MS, until: hour - 10 * DAY_MS, count: days * 24 });
    const today = hour - (hour % DAY_MS);
    seedRollups(database, { ...page, size: DAY_MS, until: today, count: days });
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return numberOf(database, "SELECT count(*) AS number FROM monitor_checks");
  } finally {
    database.close();
  }
}

/** Up for days, down for minutes, in turns; and paused since now. */
function seedSpans(database: Database, now: number, days: number): void {
  const nums = database.query<{ num: number }, []>("SELECT num FROM monitors ORDER BY num").all();
  const insert = database.query("INSERT INTO monitor_spans VALUES (?, ?, ?, ?, NULL)");
  database.transaction(() => {
    database.run("DELETE FROM monitor_spans");
    for (const { num } of nums) {
      // Not all at the same time.
      const outages = Array.from(
        { length: Math.floor(days / OUTAGE_EVERY_DAYS) },
        (_, n) => now - days * DAY_MS + (n + 0.5) * OUTAGE_EVERY_DAYS * DAY_MS + num * 1_000,
      );
      let at = now - days * DAY_MS;
      for (const from of outages) {
        insert.run(num, at, from, "up");
        insert.run(num, from, from + OUTAGE_MS, "down");
        at = from + OUTAGE_MS;
      }
      insert.run(num, at, now, "up");
      insert.run(num, now, null, "paused");
    }
  })();
}

interface Monitors {
  first: number;
  last: number;
}

function seedChecks(database: Database, given: Monitors & { each: number; now: number }): void {
  const { first, last, each, now } = given;
  database.run(
    `WITH RECURSIVE ago (n) AS (VALUES (? - 1) UNION ALL SELECT n - 1 FROM ago WHERE n > 0)
     INSERT INTO monitor_checks
     SELECT num, ? - n * ? - num * 7919 % ?, 0, 30 + (num * 7919 + n * 104729) % 97, NULL
     FROM (SELECT num FROM monitors WHERE num BETWEEN ? AND ? ORDER BY num), ago`,
    [each, now, MINUTE_MS, MINUTE_MS, first, last],
  );
}

function seedRollups(
  database: Database,
  given: Monitors & { size: number; until: number; count: number },
): void {
  const { first, last, size, until, count } = given;
  const checks = size / MINUTE_MS;
  const latencies = Array.from({ length: checks }, (_, n) => 30 + ((n * 104_729) % 97));
  const sum = latencies.reduce((a, b) => a + b, 0);
  database.run(
    `WITH RECURSIVE ago (n) AS (VALUES (?) UNION ALL SELECT n - 1 FROM ago WHERE n > 1)
     INSERT INTO monitor_rollups
     SELECT num, ?, ? - n * ?, ?, 0, ?, ?, ?, ?, ?
     FROM (SELECT num FROM monitors WHERE num BETWEEN ? AND ? ORDER BY num), ago`,
    [
      count,
      size,
      until,
      size,
      checks,
      checks,
      sum,
      Math.min(...latencies),
      Math.max(...latencies),
      sketchToBytes(sketchOf(latencies)),
      first,
      last,
    ],
  );
}

function numberOf(database: Database, query: string): number {
  const row = database.query<{ number: number }, []>(query).get();
  return row?.number ?? Number.NaN;
}
