import { expect, test } from "bun:test";
import {
  countMonitorsMatching,
  listMonitorsInOrder,
  recentTimesOf,
} from "../../../src/features/monitors/overview";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

const NOW = Date.parse("2026-03-10T12:00:00Z");

test("the worst-first list of many monitors needs as many statements as that of one, and scans no spans", async () => {
  using store = openMonitorStore();
  const { components } = await store.page("shop", ["Cart"]);
  await store.monitor({ componentIds: components });
  const read = () =>
    statementsOf(store.ctx.db, (reader) => {
      const records = listMonitorsInOrder(reader, { limit: 26 });
      countMonitorsMatching(reader, {});
      recentTimesOf(
        reader,
        records.map(({ row }) => row.num),
        NOW,
      );
    });
  const forOne = read();
  for (let i = 0; i < 20; i++) await store.monitor({ componentIds: components });
  expect(read()).toHaveLength(forOne.length);
  expect(forOne).toHaveLength(6);
  for (const sql of forOne) {
    const scans = planOf(store, sql).filter((step) =>
      /^SCAN (monitor_spans|monitor_checks|s)\b/.test(step),
    );
    expect(scans, sql).toEqual([]);
  }
});
