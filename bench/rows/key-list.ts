import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { KeyListCost } from "../programs/key-list";
import { compileProgram } from "../support/compile";
import { type Figure, median } from "../support/figure";
import { seed } from "../support/seed";
import type { Workshop } from "../support/workshop";

const RUNS = 3;
const KEYS = 1_000;
const REACH_MS = 10;
/** As many as are kept. */
const HOURS = 35 * 24;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A page of API keys with the counts above it, every key busy in every hour that is kept. */
export async function measureKeyList(workshop: Workshop): Promise<Figure[]> {
  const { dataDir } = await seed(workshop.path("data"), { keys: KEYS });
  makeOldAndBusy(join(dataDir, "allclear.db"));
  const program = compileProgram(workshop, "key-list");
  const costs: KeyListCost[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, dataDir]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    costs.push(JSON.parse(stdout.toString()));
  }
  const middles = Object.keys(costs[0] ?? {})
    .map((what) => ({ what, ms: median(costs.map((cost) => cost[what] ?? Number.NaN)) }))
    .sort((a, b) => b.ms - a.ms);
  const [worst, least] = [middles[0], middles.at(-1)];
  if (!worst || !least) throw new Error("nothing was measured");
  return [
    {
      what: `a page of API keys and its counts, ${KEYS.toLocaleString("en-US")} keys, ${HOURS / 24} days of hours each, p99`,
      reach: `${REACH_MS} ms, whatever is asked`,
      measured: `${least.ms.toFixed(1)} ms (${least.what}) to ${worst.ms.toFixed(1)} ms (${worst.what})`,
      isReached: worst.ms <= REACH_MS,
    },
  ];
}

/** Gives every key a past: counts of every hour, a last use, and for one in twenty a refusal a day. */
function makeOldAndBusy(file: string): void {
  const now = Date.now();
  const database = new Database(file, { strict: true });
  try {
    database.transaction(() => {
      database.run("UPDATE api_keys SET created_at = created_at - ?", [100 * DAY_MS]);
      database.run("UPDATE api_keys SET expires_at = ? + rowid % 60 * ? WHERE rowid % 3 = 0", [
        now + DAY_MS,
        DAY_MS,
      ]);
      database.run("UPDATE api_key_values SET last_used_at = ? - unicode(substr(start, -1)) * ?", [
        now,
        DAY_MS,
      ]);
      database.run(
        `WITH RECURSIVE ago (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM ago WHERE n < ? - 1)
         INSERT INTO api_key_hours
         SELECT id, ? - n * ?, 900 + n % 50, 3, iif(api_keys.rowid % 20 = 0 AND n % 24 = 0, 5, 0)
         FROM api_keys, ago`,
        [HOURS, now - (now % HOUR_MS), HOUR_MS],
      );
    })();
  } finally {
    database.close();
  }
}
