import { CheckScheduler } from "../../src/features/monitors/engine/scheduler";
import type { ScheduledMonitor } from "../../src/features/monitors/engine/registry";
import { Liveness, Stalls } from "../../src/features/monitors/engine/stalls";
import { systemRandom } from "../../src/base/hash";
import { createTestClock } from "./clock";
import { testContext } from "./context";

/** Returns a scheduler that was started, and a function that makes monitors for it. */
export function openScheduler({ clock = createTestClock(), random = systemRandom } = {}) {
  const ctx = testContext({ clock, random });
  const stalls = new Stalls(clock);
  const scheduler = new CheckScheduler(ctx, new Liveness(clock, undefined), stalls, () => {});
  scheduler.start();
  const monitor = (id: string, intervalMs: number, phase = 0) =>
    ({ id, intervalMs, phase, retryMs: intervalMs, dueAt: 0, heapIndex: -1 }) as ScheduledMonitor;
  return { clock, scheduler, monitor };
}
