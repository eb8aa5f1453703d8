import type { Ctx } from "../../src/context";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { createIdleMonitoring, type Monitoring } from "../../src/features/monitors/monitoring";
import type { Step } from "../../src/egress/steps";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { setSteps } from "./steps";

const STEPS: readonly Step[] = (
  [
    ["look_up", 4.2, "shop.northwind.example: 203.0.113.5, 2001:db8::5"],
    ["connect", 18.6, "203.0.113.5:443"],
    ["tls", 22.4, "TLS 1.3, certificate until 2027-02-01"],
    ["request", 38.1, "HTTP status 200"],
    ["body", 3.5, "18,204 bytes"],
    ["assertion", 0, "status should be 200"],
    ["assertion", 0, "body should contain “Add to basket”"],
  ] as const
).map(([name, durationMs, detail]) => ({ name, durationMs, isOk: true, detail }));

/** Creates a monitoring in which every target answers and checks run only on demand. */
export function calmMonitoring(ctx: Ctx): Monitoring {
  return {
    ...createIdleMonitoring(ctx),
    takeResults: async () => {},
    async checkNow(id, steps) {
      if (steps) setSteps(steps, STEPS);
      const { num: monitorNum } = getMonitorRecord(ctx.db, id).row;
      const at = ctx.clock.now();
      const row = { monitorNum, at, outcome: "ok", latencyMs: 87, message: null } as const;
      await ctx.db.write((tx) => ofMonitors.insertCheck(tx, row));
      return row;
    },
    heartbeat: async () => {},
    nextCheckAt: (id) =>
      getMonitorRecord(ctx.db, id).row.paused ? undefined : ctx.clock.now() + 48_000,
    async tryOut(_type, _config, _timeoutMs, steps) {
      if (steps) setSteps(steps, STEPS);
      return { outcome: "ok", latencyMs: 87, message: null };
    },
  };
}
