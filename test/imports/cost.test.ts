import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { findImportCause } from "../../src/features/components/cause-store";
import { importFound } from "../../src/imports/import";
import { type Found, keyOf } from "../../src/imports/found";
import { findMonitorId } from "../../src/features/webhooks/monitor-store";
import { counted } from "../support/counted-transaction";
import { foundComponent, foundIncident, foundPage } from "../support/found-objects";
import { createImportSite } from "../support/import-site";
import { openMonitorStore, planOf, statementsOf } from "../support/monitor-store";
import { foundPast, IMPORT_OPTIONS, pastSource } from "../support/past-source";

/** Returns the number of rows that an import of components with keys of Gatus reads. */
async function rowsFor(count: number): Promise<number> {
  await using site = await createImportSite();
  const pages = [foundPage("1", { body: { compat: ["gatus"] } })];
  const components = Array.from({ length: count }, (_, i) =>
    foundComponent(`${i}`, { key: `_${i}` }),
  );
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

test("an incident with twenty components takes few statements more than one with one component", async () => {
  await using site = await createImportSite();
  const page = { pages: [foundPage("1")] };
  const components = Array.from({ length: 20 }, (_, i) => foundComponent(`${i}`));
  const incidentWith = (id: string, count: number) => {
    const keys = components.slice(0, count).map(({ foreign }) => keyOf(foreign));
    const statuses = Object.fromEntries(keys.map((key) => [key, "major_outage"] as const));
    const at = "2026-01-10T02:00:00Z";
    const updates = ["investigating", "identified", "monitoring", "resolved"] as const;
    return foundIncident(id, {
      body: {
        updates: updates.map((status) => {
          return { status, body: "Text", display_at: at, components: statuses };
        }),
      },
    });
  };
  const statementsFor = (...incidents: Found["incidents"]) =>
    site.app.ctx.db.write((tx) => {
      const { tx: countedTx, statements } = counted(tx);
      const found = { ...foundPast([], pastSource({})), ...page, components, incidents };
      importFound(site.app.ctx, countedTx, found, IMPORT_OPTIONS, CLI_ACTOR);
      return statements();
    });
  await statementsFor();
  const known = [incidentWith("1", 1)];
  const one = await statementsFor(...known);
  const twenty = await statementsFor(...known, incidentWith("2", 20));
  // Fewer than the 80 namings, which are inserted many at once.
  expect(twenty - one).toBeLessThan(60);
});

test("an imported cause is found by its time, since a flapping monitor has thousands of them", async () => {
  using store = openMonitorStore();
  const cause = { componentId: "cmp_1", sourceId: "mon_1", startedAt: 1, endedAt: 2 };
  const [sql = ""] = await store.ctx.db.write((tx) =>
    statementsOf(tx, (recorded) => findImportCause(recorded, cause)),
  );
  expect(planOf(store, sql).join()).toContain(
    "component_causes_by_time (component_id=? AND ended_at=?)",
  );
});
