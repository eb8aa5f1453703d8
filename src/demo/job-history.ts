import type { Tx } from "../db/statements";
import { SECOND_MS } from "../base/time";
import { insertChecks, insertSignals } from "./history-store";

/** Writes the last runs of a job, and their results. */
export function writeRuns(
  tx: Tx,
  { num: monitorNum, intervalMs }: { num: number; intervalMs: number },
  now: number,
): void {
  const runs = Array.from({ length: 24 }, (_, n) => {
    const at = now - (now % intervalMs) - (23 - n) * intervalMs;
    return { at, durationMs: 40 * SECOND_MS + ((n * 7_919) % 23) * SECOND_MS };
  }).filter(({ at, durationMs }) => at + durationMs < now);
  const none = { monitorNum, rid: "", message: null };
  insertSignals(
    tx,
    runs.flatMap(({ at, durationMs }, n) => [
      {
        ...none,
        position: 2 * n + 1,
        at,
        kind: "start" as const,
        exitCode: null,
        startedAt: null,
        durationMs: null,
      },
      {
        ...none,
        position: 2 * n + 2,
        at: at + durationMs,
        kind: "success" as const,
        exitCode: 0,
        startedAt: at,
        durationMs,
      },
    ]),
  );
  insertChecks(
    tx,
    runs.map(({ at, durationMs }) => ({
      monitorNum,
      at: at + durationMs,
      outcome: "ok" as const,
      latencyMs: durationMs,
      message: null,
    })),
  );
}
