import { expect, test } from "bun:test";
import { replaceMonitors } from "../../src/agent/monitors";
import { listScheduledMonitors } from "../../src/features/monitors/evaluation-store";
import { findMonitor } from "../../src/features/monitors/store";
import type { WorkMonitor } from "../../src/features/locations/agent-wire";
import { createTestApp } from "../support/app";

const workOf = (id: string, more: Partial<WorkMonitor> = {}): WorkMonitor => ({
  id,
  version: 1,
  type: "http",
  config: { url: "https://shop.test/", headers: { Authorization: "very-secret" } },
  interval_seconds: 60,
  timeout_ms: 10_000,
  retry_interval_seconds: 10,
  failure_threshold: 3,
  success_threshold: 1,
  degraded_after_ms: null,
  inverted: false,
  locations: ["local", "loc_1"],
  ...more,
});

test("the monitors of an agent follow its work: they come, change, go with their secrets, and come again", async () => {
  await using app = await createTestApp();
  const { ctx } = app;
  let changes = 0;
  ctx.signals.monitorsChanged.on(() => (changes += 1));
  await replaceMonitors(ctx, [workOf("mon_a"), workOf("mon_b")], ["mon_b"]);
  expect(changes).toBe(1);
  const stateOf = (id: string) =>
    listScheduledMonitors(ctx.db, { nums: "[1,2]" }).find((row) => row.id === id)?.state;
  expect([stateOf("mon_a"), stateOf("mon_b")]).toEqual(["pending", "down"]);

  const changed = workOf("mon_a", { version: 2, interval_seconds: 300 });
  await replaceMonitors(ctx, [changed, workOf("mon_b")], []);
  expect(changes).toBe(2);
  expect(findMonitor(ctx.db, { id: "mon_a" })).toMatchObject({ version: 2, intervalSeconds: 300 });
  expect(stateOf("mon_b")).toBe("down");

  await replaceMonitors(ctx, [], []);
  expect(findMonitor(ctx.db, { id: "mon_a" })).toBeUndefined();
  await replaceMonitors(ctx, [changed], []);
  expect(findMonitor(ctx.db, { id: "mon_a" })?.config).toEqual(changed.config);
});

test("a monitor of a newer server that this program cannot check is left out, and the others are checked", async () => {
  await using app = await createTestApp();
  const newer = { ...workOf("mon_a"), type: "quantum" };
  const passive = workOf("mon_b", { type: "push" });
  await replaceMonitors(app.ctx, [newer, passive, null, workOf("mon_c")], []);
  const rows = listScheduledMonitors(app.ctx.db, { nums: "[1,2,3]" });
  expect(rows.map(({ id }) => id)).toEqual(["mon_c"]);
  const warned = app.logged.filter(({ msg }) => msg === "this program cannot check a monitor");
  expect(warned).toHaveLength(3);
});
