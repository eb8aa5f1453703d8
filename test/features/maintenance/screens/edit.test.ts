import { describe, expect, test } from "bun:test";
import { deleteComponent } from "../../../../src/features/components/components";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { type Answer, expectProblem } from "../../../support/app";
import type { Fields } from "../../../support/dashboard";
import {
  createMaintenanceDashboard,
  MAINTENANCE,
  type MaintenanceDashboard,
} from "../../../support/maintenance-dashboard";
import { at } from "../../../support/maintenance-site";

/** Returns the fields that a browser sends for the edit form of a maintenance without changes. */
async function untouched(dashboard: MaintenanceDashboard, id: string): Promise<Fields> {
  const { status, text } = await dashboard.open(`${MAINTENANCE}/${id}/edit`);
  expect(status).toBe(200);
  const names = [
    "version",
    "name",
    "components",
    "scheduled_for",
    "scheduled_until",
    "auto_start",
    "auto_complete",
  ];
  const [remind] = readHtml(text).attributes("option[selected]", "value");
  return {
    ...Object.fromEntries(names.map((name) => [name, typedIn(text, name)])),
    ...(remind === undefined ? {} : { remind_minutes_before: remind }),
  };
}

function save(dashboard: MaintenanceDashboard, id: string, form: Fields): Promise<Answer> {
  return dashboard.send(`${MAINTENANCE}/${id}/edit`, form);
}

describe("editing a maintenance", () => {
  test("editing a scheduled maintenance changes name, components, times, flags and reminder", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    const form = await untouched(dashboard, id);
    const answer = await save(dashboard, id, {
      ...form,
      name: "Database move",
      components: [site.ids["Web"] ?? ""],
      scheduled_for: "2026-03-11T01:00",
      scheduled_until: "2026-03-11T02:00",
      auto_start: [],
      remind_minutes_before: "15",
    });
    expect(answer.headers.get("location")).toBe(`${MAINTENANCE}/${id}`);
    expect(await site.get(id)).toMatchObject({
      name: "Database move",
      components: [{ name: "Web" }],
      scheduled_for: "2026-03-11T01:00:00.000Z",
      scheduled_until: "2026-03-11T02:00:00.000Z",
      auto_start: false,
      auto_complete: true,
      remind_minutes_before: 15,
    });
    expect(site.eventTypes()).toEqual(["maintenance.scheduled", "maintenance.updated"]);
  });

  for (const { what, plan } of [
    { what: "times to the millisecond", plan: { scheduled_for: "2026-03-10T14:00:30.250Z" } },
    { what: "an unusual reminder", plan: { remind_minutes_before: 77 } },
    { what: "no reminder", plan: { remind_minutes_before: null } },
  ]) {
    test(`saving a maintenance with ${what} unchanged writes nothing`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site } = dashboard;
      const id = await site.plan(plan);
      const before = await site.state();
      expect((await save(dashboard, id, await untouched(dashboard, id))).status).toBe(303);
      expect(await site.state()).toEqual(before);
      const next = await dashboard.open(`${MAINTENANCE}/${id}`);
      expect(readHtml(next.text).texts(".flash")).toEqual(["Nothing was changed."]);
    });
  }

  test("a maintenance in progress can be renamed and given components, which change status at once", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Now." });
    const form = await untouched(dashboard, id);
    expect(form["scheduled_for"]).toEqual([]);
    const both = [site.ids["API"] ?? "", site.ids["Web"] ?? ""];
    const answer = await save(dashboard, id, { ...form, name: "Renamed", components: both });
    expect(answer.status).toBe(303);
    expect((await site.get(id)).name).toBe("Renamed");
    expect(await site.statusOf("Web")).toBe("under_maintenance");
    const wrong = await save(dashboard, id, { ...(await untouched(dashboard, id)), name: "" });
    expect(fieldErrorsOn(wrong.text)).toEqual({ name: "Name is empty." });
  });

  test("the end of a maintenance in progress moves to a later time without notifications", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    await site.update(id, { status: "in_progress", body: "Now." });
    const form = await untouched(dashboard, id);
    expect(form["scheduled_until"]).toEqual(["2026-03-10T15:00"]);
    const longer = { ...form, scheduled_until: "2026-03-10T16:30" };
    expect((await save(dashboard, id, longer)).status).toBe(303);
    expect((await site.get(id)).scheduled_until).toBe(at("16:30:00"));
    expect(site.app.events().at(-1)?.data).toMatchObject({ notify: false });
    const next = await untouched(dashboard, id);
    const shorter = await save(dashboard, id, { ...next, scheduled_until: "2026-03-10T15:30" });
    expect(shorter.status).toBe(409);
    expect(shorter.text).toContain("only the end can be changed");
    expect((await site.get(id)).scheduled_until).toBe(at("16:30:00"));
  });

  for (const { what, fields, at, says } of [
    { what: "no name", fields: { name: "" }, at: "name", says: "Name is empty." },
    {
      what: "a beginning that is none",
      fields: { scheduled_for: "soon" },
      at: "scheduled_for",
      says: "Starts at must be a date and a time such as 2027-01-31 14:00.",
    },
    {
      what: "an end before the beginning",
      fields: { scheduled_until: "2026-03-10T13:00" },
      at: "scheduled_until",
      says: "Ends at must be later than the start.",
    },
    {
      what: "a start after its end",
      fields: { scheduled_for: "2026-03-10T16:00" },
      at: "scheduled_for",
      says: "Starts at must be earlier than the end.",
    },
    {
      what: "a component of another page",
      fields: { components: ["cmp_other"] },
      at: "components",
      says: "Select components of the page.",
    },
  ]) {
    test(`a maintenance with ${what} is redisplayed with its error, and nothing is changed`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site } = dashboard;
      const id = await site.plan();
      const form = await untouched(dashboard, id);
      const before = await site.state();
      const answer = await save(dashboard, id, { ...form, ...fields });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({ [at]: says });
      expect(await site.state()).toEqual(before);
      expect((await save(dashboard, id, { ...form, name: "Right" })).status).toBe(303);
    });
  }

  test("an outdated edit of a maintenance is a conflict that keeps the typed text", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    const form = { ...(await untouched(dashboard, id)), name: "Mine" };
    await site.patch(id, { name: "Theirs" });
    const before = await site.state();
    const answer = await save(dashboard, id, form);
    expect(answer.status).toBe(409);
    expect(readHtml(answer.text).texts('[role="alert"]')[0]).toStartWith("Someone changed this");
    expect(typedIn(answer.text, "name")).toEqual(["Mine"]);
    expect(await site.state()).toEqual(before);
    const [version = ""] = typedIn(answer.text, "version");
    expect((await save(dashboard, id, { ...form, version })).status).toBe(303);
    expect((await site.get(id)).name).toBe("Mine");
  });

  test("an edit of a maintenance that has started meanwhile is a conflict and shows the end only", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    const form = await untouched(dashboard, id);
    await site.update(id, { status: "in_progress", body: "Now." });
    const before = await site.state();
    const answer = await save(dashboard, id, { ...form, scheduled_until: "2026-03-10T18:00" });
    expect(answer.status).toBe(409);
    expect(typedIn(answer.text, "scheduled_for")).toEqual([]);
    expect(typedIn(answer.text, "scheduled_until")).toEqual(["2026-03-10T18:00"]);
    expect(await site.state()).toEqual(before);
  });

  test("an edit that changes nothing of a maintenance that has started meanwhile is no conflict", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    const form = await untouched(dashboard, id);
    await site.update(id, { status: "in_progress", body: "Now." });
    const before = await site.state();
    expect((await save(dashboard, id, form)).status).toBe(303);
    expect(await site.state()).toEqual(before);
  });

  test("components submitted in another order are no change of a maintenance", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const both = [site.ids["API"] ?? "", site.ids["Web"] ?? ""];
    const id = await site.plan({ components: both });
    const before = await site.state();
    const form = { ...(await untouched(dashboard, id)), version: "0" };
    for (const components of [both, both.toReversed()]) {
      expect((await save(dashboard, id, { ...form, components })).status).toBe(303);
    }
    expect(await site.state()).toEqual(before);
  });

  test("a maintenance that starts and ends within a minute can be renamed", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const times = { scheduled_for: at("14:00:10"), scheduled_until: at("14:00:50") };
    const id = await site.plan(times);
    const form = { ...(await untouched(dashboard, id)), name: "Short" };
    expect((await save(dashboard, id, form)).status).toBe(303);
    expect(await site.get(id)).toMatchObject({ name: "Short", ...times });
  });

  test("editing a maintenance keeps a deleted component unless it is unchecked", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const { ctx } = site.app;
    const id = await site.plan();
    const api = site.ids["API"] ?? "";
    await ctx.db.write((tx) => deleteComponent(ctx, tx, api, CLI_ACTOR));
    const form = await untouched(dashboard, id);
    expect(form["components"]).toEqual([api]);
    await save(dashboard, id, { ...form, name: "Still with it" });
    expect(await site.get(id)).toMatchObject({ name: "Still with it", components: [{ id: api }] });
    await save(dashboard, id, { ...(await untouched(dashboard, id)), components: [] });
    expect((await site.get(id)).components).toEqual([]);
  });

  test("the edit form of an ended maintenance redirects to its screen, and submitting it is a conflict", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    await site.cancel(id);
    const page = await dashboard.open(`${MAINTENANCE}/${id}/edit`);
    expect(page.headers.get("location")).toBe(`${MAINTENANCE}/${id}`);
    const before = await site.state();
    const { version } = await site.get(id);
    const form = { version: String(version), name: "Too late", components: [] };
    expect((await save(dashboard, id, form)).status).toBe(409);
    expect(await site.state()).toEqual(before);
  });

  test("editing a maintenance as a viewer or from another site is rejected", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const id = await site.plan();
    const path = `${MAINTENANCE}/${id}/edit`;
    const form = { ...(await untouched(dashboard, id)), name: "Theirs" };
    const viewer = await site.app.signedIn("viewer");
    const before = await site.state();
    expectProblem(await site.app.call(path, { session: viewer }), "insufficient_role");
    expectProblem(await site.app.call(path, { session: viewer, form }), "insufficient_role");
    const headers = { origin: "https://elsewhere.example" };
    expectProblem(await site.app.call(path, { session, form, headers }), "cross_site_request");
    expect(await site.state()).toEqual(before);
    expect((await save(dashboard, id, form)).status).toBe(303);
  });
});
