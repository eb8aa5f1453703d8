import { expect, test } from "bun:test";
import {
  countMonitorsMatching,
  listMonitorsInOrder,
  type ListOrder,
  recentTimesOf,
} from "../../../src/features/monitors/overview";
import { deleteMonitor } from "../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../src/base/actor";
import type { MonitorRow } from "../../../src/features/monitors/store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";
import { atOnce } from "../../support/turns";

const NOW = Date.parse("2026-03-10T12:00:00Z");

test("the worst-first list of many monitors needs as many statements as that of one, and scans no spans", async () => {
  using store = openMonitorStore();
  const { components } = await store.page("shop", ["Cart"]);
  await store.monitor({ componentIds: components });
  const read = () =>
    statementsOf(store.ctx.db, (reader) => {
      const { records } = atOnce(listMonitorsInOrder(reader, { limit: 25 }));
      atOnce(countMonitorsMatching(reader, {}));
      recentTimesOf(
        reader,
        records.map(({ row }) => row.num),
        NOW,
      );
    });
  const forOne = read();
  for (let i = 0; i < 20; i++) await store.monitor({ componentIds: components });
  expect(read()).toHaveLength(forOne.length);
  expect(forOne).toHaveLength(8);
  for (const sql of forOne) {
    const scans = planOf(store, sql).filter((step) =>
      /^SCAN (monitor_spans|monitor_checks|s)\b/.test(step),
    );
    expect(scans, sql).toEqual([]);
  }
});

test("a list by response time or name continues where it ended, although monitors were checked and deleted", async () => {
  using store = openMonitorStore();
  const rows: MonitorRow[] = [];
  for (const name of ["b", "A", "a", "B", "c"]) rows.push(await store.monitor({ name }));
  const check = (index: number, at: number, latencyMs: number | null) =>
    store.record({
      monitorNum: rows[index]?.num ?? 0,
      at,
      outcome: "ok",
      latencyMs,
      message: null,
    });
  // “B” has no result, and that of “c” no response time.
  await check(0, 10, 900);
  await check(0, 20, 40);
  await check(1, 10, 80);
  await check(2, 10, 80);
  await check(4, 10, null);
  const read = (order: ListOrder, after?: string) => {
    const query = { order, after, limit: 2 };
    const { records, nextBefore } = atOnce(listMonitorsInOrder(store.ctx.db, query));
    return { names: records.map(({ row }) => row.name), nextBefore };
  };
  const slowest = read("-response");
  // The later one of two equal ones comes first, as in the reversed order.
  expect(slowest.names).toEqual(["a", "A"]);
  expect(read("response").names).toEqual(["b", "A"]);
  await check(1, 30, 5);
  const { ctx } = store;
  await ctx.db.write((tx) => deleteMonitor(ctx, tx, rows[1]?.id ?? "", CLI_ACTOR));
  const next = read("-response", slowest.nextBefore);
  expect(next.names).toEqual(["b", "c"]);
  expect(read("-response", next.nextBefore)).toEqual({ names: ["B"], nextBefore: undefined });
  const named = read("name");
  expect(named.names).toEqual(["a", "b"]);
  expect(read("name", named.nextBefore).names).toEqual(["B", "c"]);
});

test("a list in the order of a column finds the last result of each monitor by the index", () => {
  using store = openMonitorStore();
  for (const order of ["response", "-checked"] as const) {
    const statements = statementsOf(store.ctx.db, (reader) => {
      atOnce(listMonitorsInOrder(reader, { order, limit: 25 }));
    });
    const steps = statements.flatMap((sql) => planOf(store, sql));
    expect(steps.some((step) => step.startsWith("SEARCH last USING"))).toBe(true);
    expect(steps.some((step) => step.startsWith("SCAN last"))).toBe(false);
  }
});
