import { expect, test } from "bun:test";
import * as alerts from "../../../../src/features/monitors/alerts/alert-store";
import { openMonitorStore, planOf, statementsOf } from "../../../support/monitor-store";

test("statements about alerts search by indexes, and judging a monitor reads no row beside the first alert", async () => {
  using store = openMonitorStore();
  const { num: monitorNum } = await store.monitor({});
  const key = { monitorNum, sender: "key_1", fingerprint: "f" };
  const labels = { alertname: "Errors" };
  const fingerprints = '["f"]';
  const row = { ...key, labels, level: "down", startedAt: 1, lastSeenAt: 2, title: "E" } as const;
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      alerts.saveOpenAlert(tx, row);
      alerts.listReported(tx, { sender: "key_1", fingerprints });
      alerts.listLastReports(tx, { nums: `[${monitorNum}]` });
      alerts.listLevels(tx, { monitorNum, seenBy: 0 });
      alerts.findFirstAlert(tx, { monitorNum, level: "down", seenBy: 0 });
      alerts.deleteStaleAlerts(tx, { monitorNum, seenBy: 0 });
      alerts.deleteOpenAlert(tx, key);
      alerts.listUnmatchedAlerts(tx, { since: 0, limit: 1_000 });
    }),
  );
  expect(statements).toHaveLength(8);
  for (const sql of statements) {
    const steps = planOf(store, sql).filter(
      (step) => !/json_each|LIST SUBQUERY|SCAN value/.test(step),
    );
    expect(
      steps.filter((step) => /^SCAN|TEMP B-TREE/.test(step)),
      sql,
    ).toEqual([]);
  }
  const levels =
    statements.find((sql) => sql.includes("oldest") || sql.includes("CASE WHEN")) ?? "";
  expect(planOf(store, levels).join("\n")).toContain("COVERING INDEX open_alerts_by_level");
});
