import { expect, test } from "bun:test";
import * as transfer from "../../../src/features/subscribers/transfer-store";
import { openMonitorStore, planOf, statementsOf } from "../../support/monitor-store";

test("statements of exports use indexes and do not sort", async () => {
  using store = openMonitorStore();
  const [pageId, addressHmac] = ["page_1", "mark"];
  const statements = await store.ctx.db.write((tx) =>
    statementsOf(tx, (tx) => {
      transfer.listSubscribersOfAddress(tx, { addressHmac });
      transfer.listActiveAfter(tx, { pageId, after: 0, limit: 9 });
      transfer.listSuppressionsAfter(tx, { addressHmac, pageId, reason: "blocked", limit: 9 });
    }),
  );
  expect(statements).toHaveLength(3);
  for (const sql of statements) {
    const large = planOf(store, sql).filter((step) => /^SCAN|TEMP B-TREE/.test(step));
    expect(large, sql).toEqual([]);
  }
});
