import { expect, test } from "bun:test";
import { updateMonitorRow } from "../../../src/features/monitors/store";
import { openMonitorStore, statementsOf } from "../../support/monitor-store";

test("changing a monitor reads no rows of its history", async () => {
  using store = openMonitorStore();
  const monitor = await store.monitor();
  const [sql = ""] = await store.ctx.db.write((tx) =>
    statementsOf(tx, (noting) => updateMonitorRow(noting, { ...monitor, name: "Renamed" })),
  );
  const opened = store.sqlite
    .prepare<{ opcode: string; p2: number }, []>(`EXPLAIN ${sql}`)
    .all()
    .filter(({ opcode }) => opcode.startsWith("Open"))
    .map(({ p2 }) => p2);
  const tables = store.sqlite
    .query<{ rootpage: number; tbl_name: string }, []>(
      "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0",
    )
    .all()
    .filter(({ rootpage }) => opened.includes(rootpage))
    .map(({ tbl_name }) => tbl_name);
  expect([...new Set(tables)]).toEqual(["monitors"]);
});
