import { expect, test } from "bun:test";
import { AlertChecks } from "../../../../src/features/monitors/engine/alerts";
import type { ScheduledMonitor } from "../../../../src/features/monitors/engine/registry";
import { openMonitorStore } from "../../../support/monitor-store";

test("alerts that cannot be read leave the state as it is, and are read again after ten seconds", () => {
  using store = openMonitorStore();
  let isFailing = true;
  const statements = new Proxy(store.ctx.db.statements, {
    get(target, name) {
      if (isFailing && name === "prepared") throw new Error("disk I/O error");
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const checks = new AlertChecks({
    ctx: { ...store.ctx, db: { ...store.ctx.db, statements } },
    alarms: undefined,
    heardSince: () => 0,
    stateOf: () => undefined,
  });
  const scheduled = { id: "mon_1", num: 1, config: {} } as unknown as ScheduledMonitor;
  expect(checks.run(scheduled)).toEqual({ result: undefined, againMs: 10_000 });
  isFailing = false;
  // No report has come yet.
  expect(checks.run(scheduled)).toEqual({ result: undefined, againMs: Infinity });
});
