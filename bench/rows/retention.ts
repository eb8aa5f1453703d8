import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import { openConnection, requestText } from "../support/connection";
import { type Figure, megabytes, percentile } from "../support/figure";
import { readUntil } from "../support/paced-reads";
import { mainThreadMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

/** Rows past their retention: half of the audit log, and a quarter each of events and of their deliveries. */
const ROWS = 10_000_000;
/** Rows of one statement, which keeps the log of the database small. */
const AT_ONCE = 500_000;
const DAY_MS = 86_400_000;
/** Older than everything is kept. */
const AGE_MS = 500 * DAY_MS;
const PACE_MS = 5;
const REACH_MS = 50;
/** From the start of the server to its first deletion of rows. */
const FIRST_RUN_MS = 300_000;
const LONGEST_MS = 900_000;
const LOOK_MS = 1_000;

/** Reads of the public page while housekeeping deletes 10 million rows, and the size of the file afterwards. */
export async function measureRetention(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug } = await seed(workspace.path("data"));
  const file = join(dataDir, "allclear.db");
  seedOldRows(file);
  const sizeBefore = statSync(file).size;
  const server = await startAllclear(workspace, dataDir, {
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
  });
  const database = new Database(file, { readonly: true });
  try {
    await Bun.sleep(FIRST_RUN_MS);
    const connection = await openConnection(server.url);
    const startedAt = performance.now();
    const workedBefore = mainThreadMs(server.pid);
    const request = requestText(server.url, `/status/${slug}`, {
      headers: { "Accept-Encoding": "gzip" },
    });
    let mostWorkMs = 0;
    const reads = await readUntil(untilSwept(database), PACE_MS, async () => {
      const before = mainThreadMs(server.pid);
      const { status } = await connection.send(request);
      mostWorkMs = Math.max(mostWorkMs, mainThreadMs(server.pid) - before);
      if (status !== 200) throw new Error(`the public page answered ${status}`);
    });
    connection.close();
    const seconds = (performance.now() - startedAt) / 1_000;
    const share = (mainThreadMs(server.pid) - workedBefore) / 1_000 / seconds;
    const left = countRows(database);
    const waits = reads.map(({ ms }) => ms);
    const p99 = percentile(waits, 99);
    const millions = (rows: number) => `${(rows / 1e6).toFixed(1)} million`;
    const deleted =
      left === 0 ? `${millions(ROWS)} rows` : `${millions(ROWS - left)} of ${millions(ROWS)} rows`;
    return [
      {
        what: `the public page, every ${PACE_MS} ms, while ${deleted} past their retention are deleted, p99 from when it was due`,
        target: `${REACH_MS} ms`,
        measured: `${p99.toFixed(1)} ms (median ${percentile(waits, 50).toFixed(1)} ms, ${(seconds / 60).toFixed(1)} min, ${share.toFixed(2)} of a core, at most ${mostWorkMs.toFixed(0)} ms of the server's thread in one read)`,
        isReached: p99 <= REACH_MS,
        numbers: { "p99 in ms": p99, seconds },
      },
      {
        what: "size of the database before and after that",
        target: "",
        measured: `${megabytes(sizeBefore)} and ${megabytes(statSync(file).size)}`,
      },
    ];
  } finally {
    database.close();
    await server.stop();
  }
}

/** Resolves once the rows are gone and the file has given its space back, or after a quarter of an hour. */
async function untilSwept(database: Database): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  const sizeOf = () =>
    database.query<{ page_count: number }, []>("PRAGMA page_count").get()?.page_count;
  let size: number | undefined;
  while (performance.now() < until) {
    await Bun.sleep(LOOK_MS);
    if (hasRows(database)) continue;
    // The last steps of a run make the file smaller.
    const now = sizeOf();
    if (now === size) return;
    size = now;
  }
}

function hasRows(database: Database): boolean {
  const find = (table: string) => database.query(`SELECT 1 FROM ${table} LIMIT 1`).get() !== null;
  return find("audit_log WHERE action = 'bench.old'") || find("events") || find("deliveries");
}

function countRows(database: Database): number {
  const count = (table: string) =>
    database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;
  return count("audit_log WHERE action = 'bench.old'") + count("events") + count("deliveries");
}

function seedOldRows(file: string): void {
  const database = new Database(file, { strict: true });
  try {
    database.run("PRAGMA synchronous = OFF");
    const at = Date.now() - AGE_MS;
    database.run(
      `INSERT INTO webhooks (id, ref, url, events, format, settings, enabled, secret, version, created_at, updated_at)
       VALUES ('whk_bench', 'bench', 'https://hooks.example/', '[]', 'json', '{}', 0, 'x', 1, ?, ?)`,
      [at, at],
    );
    for (let from = 0; from < ROWS / 2; from += AT_ONCE) {
      insertNumbered(database, from, [
        `INSERT INTO audit_log (actor_kind, actor_id, actor_label, action, target_id, summary, ip, at)
         SELECT 'cli', NULL, 'Command line', 'bench.old', 'key_1', 'Changed the key ' || n, '203.0.113.7', ${at} + n FROM numbers`,
      ]);
    }
    for (let from = 0; from < ROWS / 4; from += AT_ONCE) {
      insertNumbered(database, from, [
        `INSERT INTO events (id, type, page_id, subject_id, data, at)
         SELECT printf('evt_%012d', n), 'component.status_changed', NULL, 'cmp_1', '{"status":"operational"}', ${at} + n FROM numbers`,
        `INSERT INTO deliveries (id, webhook_id, event_id, subject_id, status, tries, tries_before, created_at, finished_at)
         SELECT printf('dlv_%012d', n), 'whk_bench', printf('evt_%012d', n), 'cmp_1', 'delivered', 1, 0, ${at} + n, ${at} + n FROM numbers`,
      ]);
    }
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

/** Runs INSERT statements that select `n` from `numbers`, the numbers from `from` on. */
function insertNumbered(database: Database, from: number, statements: readonly string[]): void {
  const last = from + AT_ONCE - 1;
  const numbers = `WITH RECURSIVE numbers (n) AS (VALUES (${from}) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`;
  for (const text of statements) database.run(text.replace(" SELECT", ` ${numbers} SELECT`));
}
