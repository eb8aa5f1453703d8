import { asc, eq } from "drizzle-orm";
import { type Reader, selectMany } from "../../src/db/statements";
import { monitorRollups } from "../../src/db/tables/monitors";
import type { CheckRow } from "../../src/features/monitors/checks-store";
import { rollUp } from "../../src/features/monitors/rollup";
import { DAY_MS, HOUR_MS } from "../../src/base/time";
import type { MonitorStore } from "./monitor-store";

/** Times for which tests keep results and rollups, in milliseconds. */
export const KEPT = { resultsMs: 48 * HOUR_MS, minutesMs: 7 * DAY_MS, hoursMs: 400 * DAY_MS };

/** Lists the rollups of a monitor, by size and then by time. */
export const listRollupRows = selectMany((orm, $: { num: number }) =>
  orm
    .select()
    .from(monitorRollups)
    .where(eq(monitorRollups.monitorNum, $.num))
    .orderBy(asc(monitorRollups.size), asc(monitorRollups.at)),
);

/** Returns the rollups of one size without their sketches. */
export function rolledUp(reader: Reader, num: number, size: number) {
  return listRollupRows(reader, { num })
    .filter((row) => row.size === size)
    .map(({ at, checks, failures, answers, latencySum, latencyMin, latencyMax }) => {
      return { at, checks, failures, answers, latencySum, latencyMin, latencyMax };
    });
}

/** Computes the same rollups from the results themselves. */
export function recounted(rows: readonly CheckRow[], size: number) {
  const known = rows.filter(({ outcome }) => outcome !== "unknown");
  return [...Map.groupBy(known, ({ at }) => at - (at % size))].map(([at, own]) => {
    const latencies = own.flatMap(({ latencyMs }) => latencyMs ?? []);
    return {
      at,
      checks: own.length,
      failures: own.filter(({ outcome }) => outcome === "failed").length,
      answers: latencies.length,
      latencySum: latencies.length ? latencies.reduce((a, b) => a + b) : null,
      latencyMin: latencies.length ? Math.min(...latencies) : null,
      latencyMax: latencies.length ? Math.max(...latencies) : null,
    };
  });
}

/** Rolls up until nothing is left and returns the number of transactions. */
export async function rollUpAll(
  { ctx }: MonitorStore,
  now: number,
  oldestUnwritten?: number,
): Promise<number> {
  let transactions = 1;
  while (await ctx.db.write((tx) => rollUp(tx, { now, oldestUnwritten }, KEPT))) transactions += 1;
  return transactions;
}
