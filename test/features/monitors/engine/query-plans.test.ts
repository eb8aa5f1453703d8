import { expect, test } from "bun:test";
import { findFailingParent } from "../../../../src/features/monitors/dependency-store";
import * as spans from "../../../../src/features/monitors/spans-store";
import * as evaluation from "../../../../src/features/monitors/evaluation-store";
import { findDueReminder, listDueReminders } from "../../../../src/features/monitors/store";
import { openMonitorStore, planOf, statementsOf } from "../../../support/monitor-store";

test("the engine's statements for batches and transitions scan no table", async () => {
  using store = openMonitorStore();
  const { components } = await store.page("shop", ["Cart"]);
  const { num: monitorNum } = await store.monitor({ componentIds: components });
  const [componentId = ""] = components;
  const nums = `[${monitorNum}]`;
  const statements = statementsOf(store.ctx.db, (reader) => {
    evaluation.listScheduledMonitors(reader, { nums });
    evaluation.listEvaluationInputs(reader, { nums });
    evaluation.listMonitorsInMaintenance(reader, {});
    spans.findLastKnown(reader, { monitorNum });
    spans.findOutageStart(reader, { monitorNum });
    spans.findUnknownSince(reader, { componentId });
    spans.findOpenNoData(reader, { componentId });
    findFailingParent(reader, { monitorId: "mon_0", failed: "[]" });
    findDueReminder(reader, { monitorNum, now: 0 });
  });
  expect(statements).toHaveLength(9);
  for (const sql of statements) {
    const scanned = planOf(store, sql).filter((step) => /^SCAN (?!j VIRTUAL|json_each)/.test(step));
    expect(scanned, sql).toEqual([]);
  }
});

test("the search for reminders reads only monitors that are down", async () => {
  using store = openMonitorStore();
  await store.monitor();
  const [sql = ""] = statementsOf(store.ctx.db, (reader) => listDueReminders(reader, { now: 0 }));
  expect(planOf(store, sql)[0]).toBe("SCAN monitor_states USING INDEX monitor_states_down");
});
