import { type Figure, megabytes } from "../support/figure";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { readMetrics, seedMonitors, startTarget } from "../support/watching";
import type { Workspace } from "../support/workspace";

const MONITORS = 10_000;
const INTERVAL_SECONDS = 60;
/** An interval in which all are checked for the first time, and some more for the compiler. */
const WARM_UP_MS = 90_000;
const MEASURED_MS = 180_000;
const CORE_REACH = 0.1;
const LATE_REACH = 0.01;
const MEMORY_REACH_BYTES = 150e6;

/**
 * Measures the resources of a server with ten thousand monitors, and the punctuality of its checks.
 */
export async function measureTenThousandMonitors(workspace: Workspace): Promise<Figure[]> {
  const scopes = ["read:analytics" as const];
  const { dataDir, componentIds, keys } = await seed(workspace.path("data"), { keys: 1, scopes });
  const targetServer = await startTarget(workspace);
  const count = MONITORS;
  const url = targetServer.url;
  await seedMonitors(dataDir, { count, intervalSeconds: INTERVAL_SECONDS, url, componentIds });
  const server = await startAllclear(workspace, dataDir);
  try {
    await Bun.sleep(WARM_UP_MS);
    const figures = async () => {
      const read = await readMetrics(server, keys[0] ?? "");
      return {
        begun: read("allclear_monitor_checks_begun_total"),
        late: read("allclear_monitor_checks_late_total"),
        delaySeconds: read("allclear_monitor_check_delay_seconds_total"),
        dropped: read("allclear_monitor_results_dropped_total"),
      };
    };
    forgetPeak(server.pid);
    const before = await figures();
    const [spentMs, since] = [processMs(server.pid), performance.now()];
    await Bun.sleep(MEASURED_MS);
    const tookMs = performance.now() - since;
    const share = (processMs(server.pid) - spentMs) / tookMs;
    const [resident, peak] = [residentBytes(server.pid), peakResidentBytes(server.pid)];
    const after = await figures();
    const begun = after.begun - before.begun;
    const late = after.late - before.late;
    if (after.dropped > 0) throw new Error(`${after.dropped} results were never written`);
    const delayMs = ((after.delaySeconds - before.delaySeconds) / begun) * 1_000;
    const what = `${count.toLocaleString("en-US")} HTTP monitors at ${INTERVAL_SECONDS} s`;
    const rate = begun / (tookMs / 1_000);
    return [
      {
        what: `${what}, for ${MEASURED_MS / 60_000} minutes: of one core`,
        target: CORE_REACH.toFixed(2),
        measured: `${share.toFixed(3)} (${rate.toFixed(0)} checks/s)`,
        isReached: share <= CORE_REACH,
        numbers: { cores: share },
      },
      {
        what: "of their checks, begun more than a second late",
        target: "less than 1 % (p99 under 1 s)",
        measured: `${late} of ${begun.toLocaleString("en-US")} (${delayMs.toFixed(0)} ms late on average)`,
        isReached: late < LATE_REACH * begun,
        numbers: { late, "average delay in ms": delayMs },
      },
      {
        what: "resident memory with them",
        target: megabytes(MEMORY_REACH_BYTES),
        measured: `${megabytes(resident)} (${megabytes(peak)} at its most)`,
        isReached: peak <= MEMORY_REACH_BYTES,
        numbers: { MB: peak / 1e6 },
      },
    ];
  } finally {
    await server.stop();
    await targetServer.stop();
  }
}
