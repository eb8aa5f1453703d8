import { expect, test } from "bun:test";
import { listImports } from "../../src/imports/store";
import { openMonitorStore, planOf, statementsOf } from "../support/monitor-store";

test("imports are listed without reading their reports", () => {
  using store = openMonitorStore();
  const [sql = ""] = statementsOf(store.ctx.db, (db) => listImports(db, {}));
  expect(planOf(store, sql)[0]).toBe("SCAN imports USING COVERING INDEX imports_with_counts");
});
