import { describe, expect, test } from "bun:test";
import { ROWS_PER_TURN } from "../../../src/db/parts";
import {
  countMonitorsMatching,
  listMonitorsInOrder,
  type ListOrder,
  ORDER_KEYS,
} from "../../../src/features/monitors/overview";
import {
  addMonitor,
  type MonitorStore,
  openMonitorStore,
  planOf,
  statementsOf,
} from "../../support/monitor-store";
import { atOnce, takeAll } from "../../support/turns";

/** Monitors of two whole parts and a third one. */
const COUNT = 2 * ROWS_PER_TURN + 500;

/** Opens a database with many monitors, every third with a result. Their states and names are not in the order of ids. */
async function openLargeStore(): Promise<MonitorStore> {
  const store = openMonitorStore();
  const { ctx, sqlite } = store;
  await ctx.db.write((tx) => {
    for (let number = 1; number <= COUNT; number++) {
      const name = `${["shop", "Api", "é", "🚀", "\ufb01"][number % 5]} ${(number * 7919) % 10_007}`;
      addMonitor(ctx, tx, { name, componentIds: [], createdAt: ctx.clock.now() });
    }
  });
  sqlite.run(`UPDATE monitor_states SET state = CASE monitor_num % 4 WHEN 0 THEN 'down' WHEN 1 THEN 'up'
    WHEN 2 THEN 'paused' ELSE 'pending' END`);
  sqlite.run(`INSERT INTO monitor_checks (monitor_num, at, outcome, latency_ms)
    SELECT monitor_num, monitor_num * 31 % 997, 0, monitor_num * 17 % 499 FROM monitor_states WHERE monitor_num % 3 = 0`);
  return store;
}

const RANK = "CASE s.state WHEN 'down' THEN 0 WHEN 'pending' THEN 1 WHEN 'up' THEN 2 ELSE 3 END";
const LAST = "(SELECT * FROM monitor_checks AS c WHERE c.monitor_num = m.num)";

/** Orders in words of their own; those without a result are last. */
const EXPECTED: Readonly<Record<(typeof ORDER_KEYS)[number], string>> = {
  name: "lower(m.name) ~, m.id ~",
  response: `${LAST.replace("*", "latency_ms")} ~ NULLS LAST, m.id ~`,
  checked: `${LAST.replace("*", "at")} ~ NULLS LAST, m.id ~`,
};

/** Returns the names of all monitors in an order, as one statement lists them. */
function namesInOrder({ sqlite }: MonitorStore, order: ListOrder | undefined): string[] {
  const key = ORDER_KEYS.find((each) => order?.endsWith(each));
  const direction = order?.startsWith("-") ? "DESC" : "ASC";
  const by = key === undefined ? `${RANK}, lower(m.name), m.id` : EXPECTED[key];
  return sqlite
    .query<{ name: string }, []>(
      `SELECT m.name FROM monitors AS m JOIN monitor_states AS s ON s.monitor_num = m.num
        ORDER BY ${by.replaceAll("~", direction)}`,
    )
    .all()
    .map(({ name }) => name);
}

describe("the list of many monitors", () => {
  test("each order takes several turns, and its parts contain each monitor once", async () => {
    using store = await openLargeStore();
    const orders = [undefined, ...ORDER_KEYS.flatMap((key) => [key, `-${key}`] as const)];
    for (const order of orders) {
      const names: string[] = [];
      let after: string | undefined;
      do {
        const query = { order, after, limit: 900 };
        const { result, turns } = takeAll(listMonitorsInOrder(store.ctx.db, query));
        expect(turns).toBe(3);
        names.push(...result.records.map(({ row }) => row.name));
        after = result.nextBefore;
      } while (after !== undefined);
      expect(names).toEqual(namesInOrder(store, order));
    }
  });

  test("a search and its counts take several turns", async () => {
    using store = await openLargeStore();
    const counted = takeAll(countMonitorsMatching(store.ctx.db, { search: "SHOP" }));
    expect(counted.turns).toBe(3);
    expect(Object.fromEntries(counted.result)).toEqual({
      down: 225,
      up: 225,
      paused: 225,
      pending: 225,
    });
    const query = { search: "shop", state: "down", limit: 1_001 } as const;
    const found = takeAll(listMonitorsInOrder(store.ctx.db, query));
    expect([found.turns, found.result.records.length]).toEqual([3, 225]);
  });

  test.each([undefined, "name", "-response"] as const)(
    "no statement in the order %s reads more than a part of the monitors",
    (order) => {
      using store = openMonitorStore();
      const statements = statementsOf(store.ctx.db, (reader) => {
        atOnce(listMonitorsInOrder(reader, { search: "shop", order, limit: 25 }));
        atOnce(countMonitorsMatching(reader, { search: "shop" }));
      });
      const steps = statements.flatMap((sql) => planOf(store, sql));
      const ofMonitors = steps.filter((step) => /\bmonitors\b/.test(step));
      expect(ofMonitors).toHaveLength(4);
      for (const step of ofMonitors) {
        expect(step).toMatch(
          /^SEARCH monitors USING (COVERING )?INDEX \w+ \((id>\? AND )?id<\?\)$/,
        );
      }
      expect(steps.filter((step) => step.startsWith("SCAN monitor_"))).toEqual([]);
    },
  );
});
