import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/domain/actor";
import { importFound } from "../../src/features/imports/import";
import { findMonitorId } from "../../src/features/webhooks/monitor-store";
import { counted } from "../support/counted-transaction";
import { foundComponent, foundPage } from "../support/found-objects";
import { createImportSite } from "../support/import-site";
import { openMonitorStore, planOf, statementsOf } from "../support/monitor-store";
import { foundPast, IMPORT_OPTIONS, pastSource } from "../support/past-source";

/** Returns the number of rows that an import of components with keys of Gatus reads. */
async function rowsFor(count: number): Promise<number> {
  await using site = await createImportSite();
  const pages = [foundPage("1", { body: { compat: ["gatus"] } })];
  const components = Array.from({ length: count }, (_, i) => foundComponent(`${i}`, { key: `_${i}` }));
  const found = { ...foundPast([], pastSource({})), pages, components };
  return site.app.ctx.db.write((tx) => {
    const { tx: countedTx, rows } = counted(tx);
    importFound(site.app.ctx, countedTx, found, IMPORT_OPTIONS, CLI_ACTOR);
    return rows();
  });
}

test("an import of twice as many components reads about twice as much", async () => {
  const [few, many] = [await rowsFor(50), await rowsFor(100)];
  expect(many).toBeLessThan(3 * few + 100);
});

test("a monitor that a webhook names is found by indexes", async () => {
  using store = openMonitorStore();
  const [sql = ""] = await store.ctx.db.write((tx) =>
    statementsOf(tx, (recorded) => findMonitorId(recorded, { reference: "mon_1" })),
  );
  expect(planOf(store, sql).join()).not.toContain("SCAN");
});
