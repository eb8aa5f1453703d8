import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { deleteIncident } from "../../../../src/features/incidents/incidents";
import { MINUTE_MS } from "../../../../src/base/time";
import { composed } from "../../../../src/base/validation";
import { acknowledgeMonitor } from "../../../../src/features/monitors/monitors";
import { createTestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { openOverview } from "../../../support/overview";
import { createStorm } from "../../../support/storm-site";
import { addUpdate } from "../../../support/examined";

async function createStormOverview(options: { count: number; opens?: "automatic" | "draft" }) {
  const app = await createTestApp();
  const storm = await createStorm(app, options);
  const session = await app.signedIn("editor");
  const { ctx } = app;
  return {
    app,
    storm,
    session,
    open: (by = session) => openOverview(app, by),
    /** Writes an update as a person. */
    write: (status: "identified" | "resolved") =>
      ctx.db.write((tx) => {
        addUpdate(ctx, tx, storm.incidentId, { status, body: "A switch." }, CLI_ACTOR);
      }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("monitors that share an incident, on the overview", () => {
  test("have one row with the incident, their number, their components and the next update", async () => {
    await using site = await createStormOverview({ count: 12 });
    const { titles, notes, actions, page } = await site.open();
    expect(titles).toEqual(["Problems with Sign-in, API and 2 more 12 monitors down for 3 min"]);
    expect(notes).toEqual([
      "Incident · Sign-in, API, Web app and 9 more, last update 3 min ago. They mark Sign-in (major outage), API (major outage), Web app (major outage) and 1 more.",
    ]);
    expect(actions).toEqual([site.storm.path]);
    expect(page.texts("#attention .count")).toEqual(["1"]);
    expect(page.texts("#incidents .row-note")).toEqual([
      "Investigating · 3 min · 12 monitors · Sign-in, API, Web app and 1 more",
    ]);
  });

  test("say how many of their outages are acknowledged", async () => {
    await using site = await createStormOverview({ count: 2 });
    const { ctx } = site.app;
    const acknowledge = (id = "") =>
      ctx.db.write((tx) => acknowledgeMonitor(ctx, tx, id, composed({}), CLI_ACTOR));
    const [first, second] = site.storm.monitors;
    await acknowledge(first);
    expect((await site.open()).titles[0]).toEndWith("2 monitors down for 3 min, 1 acknowledged");
    await acknowledge(second);
    expect((await site.open()).titles[0]).toEndWith("2 monitors down for 3 min, all acknowledged");
  });

  test("have a row each if only one of them is down in the incident", async () => {
    await using site = await createStormOverview({ count: 2 });
    await site.storm.enter(site.storm.monitors[0] ?? "", "up");
    const { titles, notes } = await site.open();
    expect(titles).toEqual(["API Down for 3 min"]);
    expect(notes[0]).toContain("Reported in Problems with Sign-in and API");
  });

  test("of a draft lead to the draft, and a viewer has no action", async () => {
    await using site = await createStormOverview({ count: 3, opens: "draft" });
    const { notes, page } = await site.open();
    expect(notes[0]).toStartWith("Draft · Sign-in, API and Web app.");
    expect(page.texts("#attention .row-side a")).toEqual([
      "Review draft: Problems with Sign-in, API and Web app",
    ]);
    expect((await site.open(await site.app.signedIn("viewer"))).actions).toEqual([]);
  });

  test("leave the incident to be resolved when all outages have ended", async () => {
    await using site = await createStormOverview({ count: 3 });
    const { storm, app } = site;
    await site.write("identified");
    for (const id of storm.monitors) {
      // oxlint-disable-next-line no-await-in-loop
      await storm.enter(id, "up");
      app.clock.setWallClock(app.clock.now() + MINUTE_MS);
    }
    const { notes, actions } = await site.open();
    expect(notes).toEqual([
      "Incident · Web app, API and Sign-in have been up for 1 min, last update 3 min ago.",
    ]);
    expect(actions).toEqual([`${storm.path}?status=resolved`]);
  });

  test("leave the incident to be resolved when all have left it", async () => {
    await using site = await createStormOverview({ count: 2 });
    for (const id of site.storm.monitors) {
      // oxlint-disable-next-line no-await-in-loop
      await site.storm.pause(id);
    }
    const { notes, actions } = await site.open();
    expect(notes).toEqual(["Incident · All outages have ended, last update 3 min ago."]);
    expect(actions).toEqual([`${site.storm.path}?status=resolved`]);
  });

  test("are named one by one after a person has resolved or deleted the incident", async () => {
    await using site = await createStormOverview({ count: 2 });
    const { app, storm } = site;
    await site.write("resolved");
    const resolved = await site.open();
    expect(resolved.titles).toHaveLength(2);
    for (const note of resolved.notes) {
      expect(note).toContain("Problems with Sign-in and API was resolved while it was down.");
    }
    await app.ctx.db.write((tx) => deleteIncident(app.ctx, tx, storm.incidentId, CLI_ACTOR));
    const deleted = await site.open();
    for (const note of deleted.notes) {
      expect(note).toContain("Problems with Sign-in and API was deleted while it was down.");
    }
    expect(deleted.page.attributes("#attention .row-note a", "href")).not.toContain(storm.path);
  });
});

describe("the list of incidents", () => {
  test("counts the monitors of an incident that several detected", async () => {
    await using site = await createStormOverview({ count: 12 });
    await createStorm(site.app, { count: 1, slug: "other" });
    const { text } = await site.app.call("/admin/incidents", { session: site.session });
    const notes = readHtml(text).texts("#incident-rows .note");
    expect(notes).toHaveLength(2);
    expect(notes.filter((note) => note.includes("monitor"))).toEqual([
      "Acme (acme) · Sign-in, API, Web app and 1 more · 12 monitors",
    ]);
  });
});

describe("the screen of a monitor", () => {
  test("names the incident of its present outage, also one that was resolved or deleted meanwhile", async () => {
    await using site = await createStormOverview({ count: 2 });
    const { app, storm } = site;
    const rows = async () => {
      const path = `/admin/monitors/${storm.monitors[1]}`;
      const page = readHtml((await app.call(path, { session: site.session })).text);
      return page.texts("#monitor-incidents .detail-note");
    };
    expect(await rows()).toEqual([
      "Investigating, critical impact · started 3 min ago · has the present outage",
    ]);
    await site.write("resolved");
    expect(await rows()).toEqual([
      "Resolved, was critical · started 3 min ago · resolved during the present outage",
    ]);
    await app.ctx.db.write((tx) => deleteIncident(app.ctx, tx, storm.incidentId, CLI_ACTOR));
    expect(await rows()).toEqual(["Deleted during the present outage"]);
    await storm.enter(storm.monitors[1] ?? "", "up");
    expect(await rows()).toEqual([]);
  });
});
