import type { AppContext } from "../../src/context";
import { getMonitorRecord, type Monitoring } from "../../src/features/monitors";
import { insertCheck } from "../../src/features/monitors/checks-store";

/** Creates a monitoring in which every target answers and checks run only on demand. */
export function calmMonitoring(ctx: AppContext): Monitoring {
  return {
    async checkNow(id) {
      const { num: monitorNum } = getMonitorRecord(ctx.db, id).row;
      const at = ctx.clock.now();
      const row = { monitorNum, at, outcome: "ok", latencyMs: 87, message: null } as const;
      await ctx.db.write((tx) => insertCheck(tx, row));
      return row;
    },
    heartbeat: async () => {},
    nextCheckAt: (id) =>
      getMonitorRecord(ctx.db, id).row.paused ? undefined : ctx.clock.now() + 48_000,
    tryOut: async () => ({ outcome: "ok", latencyMs: 87, message: null }),
  };
}
