import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/base/time";
import { ofLocations, ofMonitors as checks } from "../../../src/features/monitors/checks-store";
import * as spans from "../../../src/features/monitors/spans-store";
import * as elsewhere from "../../../src/features/monitors/location-store";
import { newEvaluation } from "../../../src/features/monitors/rules";
import * as jobs from "../../../src/features/monitors/job-store";
import * as lists from "../../../src/features/monitors/store";
import * as monitors from "../../../src/features/monitors/store";
import { check, openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

/** Plan steps that scan a table that grows with every check or over the years. */
const LARGE =
  /^SCAN (monitor_checks|monitor_rollups|location_checks|location_rollups|monitor_spans|component_no_data|c|r|s)\b/;

describe("statements about monitors", () => {
  test("statements about monitors use indexes of large tables and do not sort", async () => {
    using store = openMonitorStore();
    const page = await store.page("shop", ["Cart"]);
    const { id: monitorId, num } = await store.monitor({ componentIds: page.components });
    const [componentId = ""] = page.components;
    const monitorNum = num;
    const span = { from: 0, to: 9 };
    const nums = `[${num}]`;
    const filters = { state: null, type: null, tag: null, group: null, search: null };
    const list = { ...filters, before: "~", limit: 2 };
    const statements = await store.ctx.db.write((tx) =>
      statementsOf(tx, (tx) => {
        checks.insertCheck(tx, check(num, 5, 1));
        checks.listChecksBefore(tx, { monitorNum, before: 9, limit: 2 });
        checks.listLastChecks(tx, { nums });
        checks.listNewestChecks(tx, { nums, each: 2, until: 0 });
        spans.findOpenSpan(tx, { monitorNum });
        spans.endSpan(tx, { monitorNum, startedAt: 1, endedAt: 2 });
        spans.rewriteSpan(tx, { monitorNum, startedAt: 1, state: "up", message: null });
        spans.listSpans(tx, { nums, ...span });
        spans.sumTimes(tx, { nums, ...span });
        spans.listNewestSpans(tx, { monitorNum, ...span, limit: 2 });
        spans.saveNoData(tx, { componentId, startedAt: 1, endedAt: null });
        spans.endNoData(tx, { componentId, endedAt: 2 });
        spans.listNoDataOfPage(tx, { pageId: page.id, since: 0 });
        spans.saveLiveness(tx, { at: 1 });
        spans.findLiveness(tx, {});
        checks.listBehind(tx, { due: 0, limit: 1 });
        checks.returnTo(tx, { at: 9e15 });
        checks.saveRolledUntil(tx, { monitorNum, rolledUntil: 0 });
        checks.findFirstCheck(tx, { monitorNum, ...span });
        checks.listResults(tx, { monitorNum, ...span });
        checks.listRollups(tx, { monitorNum, size: HOUR_MS, ...span });
        checks.deleteChecksBefore(tx, { monitorNum, before: 0, limit: 1 });
        checks.deleteRollupsBefore(tx, { monitorNum, size: HOUR_MS, before: 0, limit: 1 });
        checks.findLeastRolledUntil(tx, { nums });
        checks.listRollupsOfMonitors(tx, { nums, size: HOUR_MS, ...span });
        checks.listUnrolledResults(tx, { nums, ...span });
        monitors.findNextNum(tx, {});
        monitors.findMonitor(tx, { id: monitorId });
        monitors.findMonitorByRef(tx, { ref: "monitor-1" });
        monitors.findMonitorState(tx, { monitorNum });
        monitors.listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([monitorId]) });
        monitors.listMonitorsOfPage(tx, { pageId: page.id });
        monitors.saveEvaluation(tx, { monitorNum, ...newEvaluation("up", 1) });
        jobs.saveHeartbeat(tx, { monitorNum, heartbeatAt: 1 });
        monitors.saveCertificate(tx, { monitorNum, certificateExpiresAt: 1 });
        lists.findMonitorWithState(tx, { id: monitorId });
        lists.listMonitorRows(tx, { ...list, pageId: null, componentId: null });
        checks.listHourAverages(tx, { nums, from: 0 });
        const other = ofLocations;
        other.listChecksBefore(tx, { monitorNum, before: 9, limit: 2 });
        other.listLastChecks(tx, { nums });
        other.listNewestChecks(tx, { nums, each: 2, until: 0 });
        other.listBehind(tx, { due: 0, limit: 1 });
        other.returnTo(tx, { at: 9e15 });
        other.saveRolledUntil(tx, { monitorNum, rolledUntil: 0 });
        other.findFirstCheck(tx, { monitorNum, ...span });
        other.listResults(tx, { monitorNum, ...span });
        other.listRollups(tx, { monitorNum, size: HOUR_MS, ...span });
        other.deleteChecksBefore(tx, { monitorNum, before: 0, limit: 1 });
        other.deleteRollupsBefore(tx, { monitorNum, size: HOUR_MS, before: 0, limit: 1 });
        other.findLeastRolledUntil(tx, { nums });
        other.listRollupsOfMonitors(tx, { nums, size: HOUR_MS, ...span });
        other.listUnrolledResults(tx, { nums, ...span });
        other.listHourAverages(tx, { nums, from: 0 });
        elsewhere.listLocationStates(tx, { nums });
        elsewhere.listEvaluationsAt(tx, { nums, locationIds: nums });
        elsewhere.listLastLocationChecks(tx, { nums });
        elsewhere.resetLocationStatesOf(tx, { monitorNums: nums, state: "pending", at: 0 });
      }),
    );
    expect(statements.length).toBeGreaterThan(35);
    for (const sql of statements) {
      const steps = planOf(store, sql);
      expect(
        steps.filter((step) => LARGE.test(step)),
        sql,
      ).toEqual([]);
      // The components of the monitors that are shown are put in the order of their pages.
      const canOrder = /"monitor_components"/.test(sql);
      if (!canOrder)
        expect(
          steps.filter((step) => /TEMP B-TREE/.test(step)),
          sql,
        ).toEqual([]);
    }
  });

  test("filtered lists of monitors scan no table", async () => {
    using store = openMonitorStore();
    const page = await store.page("shop", ["Cart"]);
    const [componentId = ""] = page.components;
    const filters = { state: null, type: null, tag: null, group: null, search: null };
    const list = { ...filters, before: "~", limit: 2 };
    const statements = statementsOf(store.ctx.db, (reader) => {
      lists.listMonitorRows(reader, { ...list, pageId: page.id, componentId: null });
      lists.listMonitorRows(reader, { ...list, pageId: null, componentId });
      monitors.listMonitorsOfPage(reader, { pageId: page.id });
    });
    expect(statements).toHaveLength(3);
    for (const sql of statements) {
      const steps = planOf(store, sql);
      expect(
        steps.filter((step) => step.startsWith("SCAN")),
        sql,
      ).toEqual([]);
      expect(steps.join("\n"), sql).toMatch(/SEARCH/);
    }
  });
});
