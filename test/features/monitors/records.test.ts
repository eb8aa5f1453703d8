import { describe, expect, test } from "bun:test";
import { getMonitorRecord, listMonitors } from "../../../src/features/monitors/records";
import { newEvaluation } from "../../../src/features/monitors/rules";
import { sparklinesOf } from "../../../src/features/monitors/latency";
import {
  type MonitorRow,
  saveEvaluation,
  updateMonitorRow,
} from "../../../src/features/monitors/store";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import {
  check,
  type MonitorStore,
  openMonitorStore,
  statementsOf,
} from "../../support/monitor-store";
import { rollUpAll } from "../../support/rollups";

const SPARKLINE_VALUES = 24;

const MIDNIGHT = Date.parse("2026-03-10T00:00:00Z");

function remove(store: MonitorStore, row: MonitorRow): Promise<void> {
  return store.ctx.db.write((tx) => updateMonitorRow(tx, { ...row, deletedAt: store.clock.now() }));
}

describe("monitor records", () => {
  test("a monitor's record contains its components, state and last check", async () => {
    using store = openMonitorStore();
    const shop = await store.page("shop", ["Cart", "Search"]);
    const tools = await store.page("tools", ["Gateway"]);
    const componentIds = [...shop.components, ...tools.components];
    const { id, num } = await store.monitor({ componentIds });
    await store.record(check(num, MIDNIGHT, 80), check(num, MIDNIGHT + 1, null));
    const record = getMonitorRecord(store.ctx.db, id);
    expect(record.row.num).toBe(num);
    expect(record.state).toMatchObject({ state: "pending", failures: 0 });
    expect(record.lastCheck).toEqual(check(num, MIDNIGHT + 1, null));
    expect(record.components.map(({ name, pageSlug }) => `${pageSlug}: ${name}`)).toEqual([
      "shop: Cart",
      "shop: Search",
      "tools: Gateway",
    ]);
  });

  test("the record of a deleted or unknown monitor is not found", async () => {
    using store = openMonitorStore();
    const row = await store.monitor();
    expect(getMonitorRecord(store.ctx.db, row.id).lastCheck).toBeUndefined();
    await remove(store, row);
    expect(() => getMonitorRecord(store.ctx.db, row.id)).toThrow("monitor");
    expect(() => getMonitorRecord(store.ctx.db, "mon_none")).toThrow("monitor");
    expect(listMonitors(store.ctx.db, { limit: 9 })).toEqual([]);
  });
});

describe("lists of monitors", () => {
  test("a list of monitors is newest first and continues after the last one of the previous part", async () => {
    using store = openMonitorStore();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await store.monitor()).id);
    const page = (before?: string) =>
      listMonitors(store.ctx.db, { before, limit: 2 }).map(({ row }) => row.id);
    expect(page()).toEqual(ids.slice(0, 2));
    // One more is made meanwhile.
    await store.monitor();
    expect(page(ids[1])).toEqual(ids.slice(2, 4));
    expect(page(ids[3])).toEqual(ids.slice(4));
  });

  test("a list of monitors filters by page, component, state, type and name", async () => {
    using store = openMonitorStore();
    const shop = await store.page("shop", ["Cart", "Search"]);
    const tools = await store.page("tools", ["Gateway"]);
    const [cart, search] = shop.components;
    await store.monitor({
      name: "Cart of the shop",
      componentIds: [cart ?? "", ...tools.components],
    });
    const both = await store.monitor({ name: "Both", componentIds: shop.components });
    await store.monitor({ name: "Alone" });
    await store.ctx.db.write((tx) =>
      saveEvaluation(tx, { monitorNum: both.num, ...newEvaluation("down", MIDNIGHT) }),
    );
    const names = (query: Partial<Parameters<typeof listMonitors>[1]>) =>
      listMonitors(store.ctx.db, { limit: 9, ...query }).map(({ row }) => row.name);
    expect(names({})).toEqual(["Alone", "Both", "Cart of the shop"]);
    expect(names({ pageId: shop.id })).toEqual(["Both", "Cart of the shop"]);
    expect(names({ pageId: tools.id })).toEqual(["Cart of the shop"]);
    expect(names({ componentId: search })).toEqual(["Both"]);
    expect(names({ pageId: tools.id, componentId: search })).toEqual([]);
    expect(names({ state: "down" })).toEqual(["Both"]);
    expect(names({ pageId: shop.id, state: "pending" })).toEqual(["Cart of the shop"]);
    expect(names({ type: "push" })).toEqual([]);
    expect(names({ search: "SHOP" })).toEqual(["Cart of the shop"]);
  });

  test("a list of many monitors needs as many statements as a list of one", async () => {
    using store = openMonitorStore();
    const { components } = await store.page("shop", ["Cart"]);
    await store.monitor({ componentIds: components });
    const count = () =>
      statementsOf(store.ctx.db, (reader) => {
        const records = listMonitors(reader, { limit: 50 });
        sparklinesOf(
          reader,
          records.map(({ row }) => row.num),
          MIDNIGHT,
        );
      }).length;
    const forOne = count();
    for (let i = 0; i < 20; i++) await store.monitor({ componentIds: components });
    expect(count()).toBe(forOne);
    expect(forOne).toBe(7);
  });
});

describe("sparklines of monitors", () => {
  test("a sparkline contains the averages of the last 24 hours, with gaps without responses", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    for (const hour of [0, 20, 22, 23]) {
      const at = MIDNIGHT + hour * HOUR_MS;
      await store.record(
        check(num, at, 100 + hour),
        check(num, at + 1, 200 + hour),
        check(num, at + 2, null),
      );
    }
    await store.record(check(num, MIDNIGHT + 21 * HOUR_MS, null));
    const now = MIDNIGHT + DAY_MS + 30 * MINUTE_MS;
    await rollUpAll(store, now);
    const line = sparklinesOf(store.ctx.db, [num], now).get(num);
    const expected: (number | null)[] = Array.from({ length: SPARKLINE_VALUES }, () => null);
    for (const hour of [0, 20, 22, 23]) expected[hour] = 150 + hour;
    expect(line).toEqual({ of: "hours", values: expected });
    const later = sparklinesOf(store.ctx.db, [num], now + HOUR_MS).get(num);
    expect(later?.values).toEqual([...expected.slice(1), null]);
  });

  test("the sparkline of a new monitor contains its newest checks", async () => {
    using store = openMonitorStore();
    const [young, empty] = [await store.monitor({ createdAt: MIDNIGHT }), await store.monitor()];
    const times = Array.from({ length: 30 }, (_, minute) => minute);
    await store.record(
      ...times.map((minute) =>
        check(young.num, MIDNIGHT + minute * MINUTE_MS, minute === 9 ? null : minute),
      ),
    );
    const lines = sparklinesOf(store.ctx.db, [young.num, empty.num], MIDNIGHT + 40 * MINUTE_MS);
    const newest = times.slice(-SPARKLINE_VALUES).map((minute) => (minute === 9 ? null : minute));
    expect(lines.get(young.num)).toEqual({ of: "checks", values: newest });
    expect(lines.get(empty.num)).toEqual({ of: "checks", values: [] });
  });
});
