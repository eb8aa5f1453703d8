import { expect, test } from "bun:test";
import type { Tx } from "../../../../src/db/statements";
import {
  deleteIncident,
  deleteOpenIncidentsOfPage,
} from "../../../../src/features/incidents/incidents";
import { cancelMaintenanceOfPage } from "../../../../src/features/maintenance/maintenance";
import { detachMonitorsOfPage } from "../../../../src/features/monitors/monitors";
import { belongingsOf } from "../../../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { toIso } from "../../../../src/base/time";
import { deleteComponentsOfPage } from "../../../../src/features/components/components";
import { createTestApp } from "../../../support/app";
import { counted } from "../../../support/counted-transaction";
import { createLargePage } from "../../../support/large-page";
import { openMonitorStore, planOf, statementsOf } from "../../../support/monitor-store";

const HOUR = 3_600_000;

test("finding what a page's deletion ends takes as many statements for many belongings as for one", async () => {
  await using app = await createTestApp();
  const { page, components } = await app.page({ slug: "old" }, ["Mirror", "Archive"]);
  const key = await app.keyWith("manage:monitors", "write:maintenance");
  const ids = Object.values(components);
  const now = app.clock.now();
  const planned = {
    page: "old",
    name: "Upgrade",
    body: "A moment.",
    components: ids,
    scheduled_for: toIso(now + HOUR),
    scheduled_until: toIso(now + 2 * HOUR),
  };
  const config = { url: "https://shop.example.com/" };
  const post = async (path: string, json: object) => {
    expect((await app.call(`/api/v1${path}`, { key, method: "POST", json })).status).toBe(201);
  };
  const add = async () => {
    await post("/monitors", { type: "http", name: "M", config, component_ids: ids });
    await post("/maintenance", planned);
  };
  const work = () =>
    app.ctx.db.write((tx) => {
      const { tx: watched, statements } = counted(tx);
      const { monitors, pendingMaintenance } = belongingsOf(watched, page.id);
      return { monitors: monitors.length, pendingMaintenance, statements: statements() };
    });
  await add();
  const one = await work();
  expect(one).toMatchObject({ monitors: 1, pendingMaintenance: 1 });
  for (let more = 0; more < 9; more++) await add();
  expect(await work()).toEqual({ ...one, monitors: 10, pendingMaintenance: 10 });
});

test("deleting an incident reads one row for each update, and the text of the newest alone", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "old" }, ["Mirror"]);
  const key = await app.keyWith("write:incidents");
  const report = async (updates: number): Promise<string> => {
    const json = { page: "old", name: "Errors", body: "We see errors." };
    const { body } = await app.call("/api/v1/incidents", { key, method: "POST", json });
    const path = `/api/v1/incidents/${body.id}/updates`;
    for (let more = 0; more < updates; more++) {
      await app.call(path, { key, method: "POST", json: { body: "Still looking." } });
    }
    return body.id;
  };
  const rowsRead = (id: string) =>
    app.ctx.db.write((tx) => {
      const { tx: watched, rows } = counted(tx);
      deleteIncident(app.ctx, watched, id, CLI_ACTOR);
      return rows();
    });
  const few = await rowsRead(await report(2));
  expect(await rowsRead(await report(22))).toBe(few + 20);
});

test("deleting the components of a page reads those of no other page", async () => {
  using store = openMonitorStore();
  const { id } = await store.page("old", ["Mirror"]);
  const texts = await store.ctx.db.write((tx) =>
    statementsOf(tx, ({ statements }) =>
      deleteComponentsOfPage(store.ctx, { statements, afterCommit() {}, atEnd() {} }, id),
    ),
  );
  expect(texts.length).toBeGreaterThan(2);
  for (const text of texts) {
    expect(planOf(store, text).filter((step) => step.startsWith("SCAN"))).toEqual([]);
  }
});

test("deleting a page takes few statements and rows for each further incident, maintenance and monitor", async () => {
  await using large = await createLargePage();
  const { app, componentIds } = large;
  const { id: pageId } = large.page;
  const key = await app.keyWith("manage:monitors");
  const watch = async (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const config = { url: "https://shop.example.com/" };
      const json = { type: "http", name: "M", config, component_ids: [componentIds[index]] };
      expect((await app.call("/api/v1/monitors", { key, method: "POST", json })).status).toBe(201);
    }
  };
  const work = async () => {
    const costs: Record<string, { statements: number; rows: number }> = {};
    const rollBack = new Error("rolled back");
    const done = app.ctx.db.write((tx) => {
      const step = (name: string, act: (watched: Tx) => unknown) => {
        const { tx: watched, statements, rows } = counted(tx);
        act(watched);
        costs[name] = { statements: statements(), rows: rows() };
      };
      const { monitors } = belongingsOf(tx, pageId);
      deleteComponentsOfPage(app.ctx, tx, pageId);
      step("maintenance", (watched) => {
        cancelMaintenanceOfPage(app.ctx, watched, pageId, CLI_ACTOR);
      });
      step("incidents", (watched) =>
        deleteOpenIncidentsOfPage(app.ctx, watched, pageId, CLI_ACTOR),
      );
      const detached = { monitors, pageId, actor: CLI_ACTOR };
      step("monitors", (watched) => detachMonitorsOfPage(app.ctx, watched, detached, () => false));
      throw rollBack;
    });
    expect(await done.catch((error: unknown) => error)).toBe(rollBack);
    return costs;
  };
  await large.openIncidents(6);
  await large.plan(6);
  await watch(0, 6);
  const few = await work();
  await large.openIncidents(10);
  await large.plan(10);
  await watch(6, 16);
  const many = await work();
  const added = (name: string) => ({
    statements: (many[name]?.statements ?? 0) - (few[name]?.statements ?? 0),
    rows: (many[name]?.rows ?? 0) - (few[name]?.rows ?? 0),
  });
  // One statement records an event; the named components of an incident are read by another.
  expect(added("incidents").statements).toBeLessThanOrEqual(2 * 10);
  expect(added("incidents").rows).toBeLessThanOrEqual(10 * 25);
  // Updates are written in batches.
  expect(added("maintenance").statements).toBeLessThanOrEqual(10);
  expect(added("maintenance").rows).toBeLessThanOrEqual(10 * 25);
  // A monitor's state, its open span and the span that begins.
  expect(added("monitors").statements).toBeLessThanOrEqual(3 * 10);
});
