import { describe, expect, test } from "bun:test";
import { deleteMonitor, pauseMonitor } from "../../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { readHtml } from "../../../support/html";
import {
  createMonitorDashboard,
  type MonitorDashboard,
  MONITORS,
} from "../../../support/monitor-dashboard";

const SELECTED = `${MONITORS}/selected`;

/** Submits a selection and returns the address of the list and the message that it shows. */
async function choose(
  dashboard: MonitorDashboard,
  intent: string,
  id: readonly string[],
  query = "",
) {
  const answer = await dashboard.send(`${SELECTED}${query}`, { intent, id });
  expect(answer.status).toBe(303);
  const location = answer.headers.get("location") ?? "";
  const [message = ""] = readHtml((await dashboard.open(location)).text).texts(".flash");
  return { location, message };
}

describe("selected monitors", () => {
  test("selected monitors are paused and resumed, each with its own entry in the audit log", async () => {
    await using dashboard = await createMonitorDashboard();
    const ids = [await dashboard.make({ name: "A" }), await dashboard.make({ name: "B" })];
    await dashboard.make({ name: "C" });
    const paused = await choose(dashboard, "pause", ids, "?q=x&state=up");
    expect(paused.location).toBe(`${MONITORS}?q=x&state=up`);
    expect(paused.message).toContain("2 monitors are paused.");
    expect(ids.map((id) => dashboard.stored(id).row.paused)).toEqual([true, true]);
    const actions = () => dashboard.app.audit().map(({ action, targetId: id }) => ({ action, id }));
    for (const id of ids) expect(actions()).toContainEqual({ action: "monitor.pause", id });
    const [first = ""] = ids;
    const resumed = await choose(dashboard, "resume", [first]);
    expect(resumed.message).toContain("1 monitor is resumed.");
    expect(actions()).toContainEqual({ action: "monitor.resume", id: first });
  });

  test("a message says which selected monitors were unchanged or no longer exist", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const [one, paused, deleted] = [
      await dashboard.make(),
      await dashboard.make(),
      await dashboard.make(),
    ];
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, paused, CLI_ACTOR));
    await app.ctx.db.write((tx) => deleteMonitor(app.ctx, tx, deleted, CLI_ACTOR));
    const { message } = await choose(dashboard, "pause", [one, paused, deleted]);
    expect(message).toContain(
      "1 monitor is paused. 1 monitor is paused already. 1 monitor no longer exists.",
    );
  });

  test("selected outages are acknowledged, except of monitors that are not down", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const ids = [await dashboard.make(), await dashboard.make(), await dashboard.make()];
    const [one = "", other = "", up = ""] = ids;
    for (const id of [one, other]) {
      // oxlint-disable-next-line no-await-in-loop
      await dashboard.applyTransition(id, "down", app.clock.now());
    }
    await choose(dashboard, "acknowledge", [one]);
    const { message } = await choose(dashboard, "acknowledge", ids);
    expect(message).toContain(
      "1 monitor is acknowledged. 1 monitor is acknowledged already. 1 monitor is not down.",
    );
    expect(ids.map((id) => dashboard.stored(id).state.acknowledgement !== null)).toEqual([
      true,
      true,
      false,
    ]);
    const audited = app.audit().filter(({ action }) => action === "monitor.acknowledge");
    expect(audited.map(({ targetId }) => targetId)).toEqual([one, other]);
    expect(up).not.toBe("");
  });

  test("selected monitors are checked, except paused ones and those that wait for calls", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const [one, paused, push] = [
      await dashboard.make(),
      await dashboard.make(),
      await dashboard.make({ type: "push", config: {} }),
    ];
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, paused, CLI_ACTOR));
    const { message } = await choose(dashboard, "check", [one, paused, push]);
    expect(message).toContain("1 monitor is being checked. 1 monitor is paused and not checked.");
    expect(message).toContain("1 monitor cannot be checked, since others report to them.");
    expect(dashboard.checked).toEqual([one]);
  });

  test("selected monitors are deleted after a question that names them, each with its own entry in the audit log", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const api = site.components["API"] ?? "";
    const ids: string[] = [];
    for (let index = 0; index < 12; index++) {
      ids.push(await dashboard.make({ name: `Shop <${index}>`, component_ids: [api] }));
    }
    const [first = ""] = ids;
    await dashboard.applyTransition(first, "down", app.clock.now());
    const kept = await dashboard.make({ name: "Kept" });
    const before = dashboard.written();
    const query = "?q=probe&type=http";
    const question = await dashboard.send(`${SELECTED}${query}`, {
      intent: "delete",
      id: [...ids, "mon_none"],
    });
    expect(question.status).toBe(200);
    const page = readHtml(question.text);
    expect(page.texts("h1")).toEqual(["Delete 12 monitors?"]);
    expect(page.texts(".chosen li")).toEqual(ids.map((_, index) => `Shop <${index}>`));
    expect(page.attributes("form[method=post] .actions a", "href")).toEqual([
      `${MONITORS}${query}`,
    ]);
    expect(page.attributes("input[name=id]", "value")).toEqual(ids);
    const [action = ""] = page.attributes("main form", "action");
    expect(action).toBe(`${SELECTED}/delete${query}`);
    expect(dashboard.written()).toEqual(before);
    const answer = await dashboard.send(action, { id: ids });
    expect(answer.headers.get("location")).toBe(`${MONITORS}${query}`);
    const list = readHtml((await dashboard.open(MONITORS)).text);
    expect(list.texts(".flash")[0]).toContain("12 monitors are deleted.");
    expect(list.texts(".row-link")).toEqual(["Kept"]);
    const deleted = app.audit().filter(({ action: each }) => each === "monitor.delete");
    expect(deleted.map(({ targetId }) => targetId)).toEqual(ids);
    const key = await app.keyWith("read:status");
    expect((await app.call(`/api/v1/components/${api}`, { key })).body.status).toBe("operational");
    // The same form again.
    await dashboard.send(action, { id: ids });
    expect(readHtml((await dashboard.open(MONITORS)).text).texts(".flash")[0]).toContain(
      "12 monitors are deleted already.",
    );
    expect(dashboard.stored(kept).row.name).toBe("Kept");
    const gone = await choose(dashboard, "delete", ids);
    expect(gone.message).toContain("The selected monitors no longer exist.");
  });

  test("an address of a form for selected monitors leads to the list when it is opened", async () => {
    await using dashboard = await createMonitorDashboard();
    for (const path of ["", "/delete"]) {
      const answer = await dashboard.open(`${SELECTED}${path}`);
      expect(answer.headers.get("location")).toBe(MONITORS);
    }
  });

  test("many selected monitors are checked a few at a time", async () => {
    await using dashboard = await createMonitorDashboard();
    const ids: string[] = [];
    for (let index = 0; index < 25; index++) ids.push(await dashboard.make());
    const { promise, resolve } = Promise.withResolvers<void>();
    dashboard.answering = promise;
    await dashboard.send(SELECTED, { intent: "check", id: ids });
    expect(dashboard.checked).toEqual(ids.slice(0, 10));
    resolve();
    await dashboard.hasChecked(ids.length);
    expect(dashboard.checked).toEqual(ids);
  });

  test("all monitors that match the filters of the list can be chosen at once, also those of its other parts", async () => {
    await using dashboard = await createMonitorDashboard();
    const names = Array.from({ length: 30 }, (_, index) => `Probe ${index}`);
    const ids: string[] = [];
    for (const name of names) ids.push(await dashboard.make({ name }));
    const other = await dashboard.make({ name: "Elsewhere" });
    const page = readHtml((await dashboard.open(`${MONITORS}?q=probe`)).text);
    expect(page.texts(".pick-all")).toEqual(["All 30"]);
    const answer = await dashboard.send(`${SELECTED}?q=probe`, {
      intent: "pause",
      all: "1",
      id: [other],
    });
    expect(answer.headers.get("location")).toBe(`${MONITORS}?q=probe`);
    expect(ids.every((id) => dashboard.stored(id).row.paused)).toBe(true);
    expect(dashboard.stored(other).row.paused).toBe(false);
    const few = readHtml((await dashboard.open(`${MONITORS}?q=elsewhere`)).text);
    expect(few.texts(".pick-all")).toEqual([]);
  });

  test("an empty selection, one of more than 1,000 monitors and one without an action change nothing", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const before = dashboard.written();
    const many = [id, ...Array.from({ length: 1_000 }, (_, index) => `mon_${index}`)];
    expect((await choose(dashboard, "pause", [])).message).toContain(
      "Select at least one monitor.",
    );
    expect((await choose(dashboard, "pause", many)).message).toContain(
      "More than 1,000 monitors were selected. At most 1,000 can be changed at once.",
    );
    expect((await choose(dashboard, "explode", [id])).message).toContain("Select an action");
    for (const ids of [[], many]) {
      const answer = await dashboard.send(`${SELECTED}/delete`, { id: ids });
      expect(answer.headers.get("location")).toBe(MONITORS);
    }
    expect(dashboard.written()).toEqual(before);
  });

  test("an editor can neither select monitors nor submit a selection", async () => {
    await using dashboard = await createMonitorDashboard("editor");
    const id = await dashboard.make();
    const page = readHtml((await dashboard.open()).text);
    expect(page.attributes("main input[type=checkbox]", "name")).toEqual([]);
    const before = dashboard.written();
    for (const path of ["", "/delete"]) {
      const answer = await dashboard.send(`${SELECTED}${path}`, { intent: "pause", id: [id] });
      expect(answer.status).toBe(403);
    }
    expect(dashboard.written()).toEqual(before);
  });
});
