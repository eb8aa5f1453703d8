import { expect, test } from "bun:test";
import type { Entry } from "../../../../src/features/monitors/engine/entry";
import { recordEntries } from "../../../../src/features/monitors/engine/record";
import { MonitorRegistry } from "../../../../src/features/monitors/engine/registry";
import { ALL_PRESENT } from "../../../support/agents";
import { openMonitorStore, statementsOf } from "../../../support/monitor-store";

test("a result of a monitor that only the server checks takes two statements, none of them about locations", async () => {
  using store = openMonitorStore();
  const { ctx } = store;
  const { id } = await store.monitor();
  const statements = await ctx.db.write((tx) => {
    const scheduled = new MonitorRegistry().refreshOne(tx, id);
    if (!scheduled) throw new Error("the monitor is not stored");
    const result = { outcome: "ok", latencyMs: 20, message: null } as const;
    const entryAt = (at: number): Entry => ({ kind: "check", scheduled, at, ...result });
    recordEntries(ctx, tx, [entryAt(ctx.clock.now())], false, ALL_PRESENT);
    return statementsOf(tx, (noting) =>
      recordEntries(ctx, noting, [entryAt(ctx.clock.now() + 1_000)], false, ALL_PRESENT),
    );
  });
  expect(statements).toHaveLength(2);
  expect(statements.filter((sql) => sql.includes("location_"))).toEqual([]);
});
