import { describe, expect, test } from "bun:test";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { expectProblem } from "../../../support/app";
import { type Fields, openForm } from "../../../support/dashboard";
import {
  createMaintenanceDashboard,
  MAINTENANCE,
  NEW_PLAN,
} from "../../../support/maintenance-dashboard";
import { shareSite } from "../../../support/shared-site";

describe("the form that plans maintenance", () => {
  test("planning a maintenance stores the typed values in UTC, is audited and confirmed", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const answer = await dashboard.plan();
    expect(await dashboard.made(answer)).toMatchObject({
      name: "Database upgrade",
      status: "scheduled",
      page: "acme",
      components: [{ id: site.ids["API"], name: "API" }],
      scheduled_for: "2026-03-10T14:00:00.000Z",
      scheduled_until: "2026-03-10T15:00:00.000Z",
      auto_start: true,
      auto_complete: true,
      remind_minutes_before: 60,
      updates: [{ status: "scheduled", body: "A minute without search." }],
    });
    expect(site.eventTypes()).toEqual(["maintenance.scheduled"]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "maintenance.plan",
      actorKind: "user",
    });
    const next = await dashboard.open(answer.headers.get("location") ?? "");
    expect(readHtml(next.text).texts(".flash")).toEqual(["The maintenance was planned."]);
  });

  test("a maintenance can be planned with an end, without reminder and without notifications", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const answer = await dashboard.plan({
      components: [],
      lasts: "until",
      scheduled_until: "2026-03-11T01:30",
      auto_start: [],
      auto_complete: [],
      remind_minutes_before: "never",
      notify: [],
      body: "Line one.\r\nLine two.",
    });
    expect(await dashboard.made(answer)).toMatchObject({
      components: [],
      scheduled_until: "2026-03-11T01:30:00.000Z",
      auto_start: false,
      auto_complete: false,
      remind_minutes_before: null,
      updates: [{ body: "Line one.\nLine two." }],
    });
    expect(dashboard.site.app.events().at(-1)?.data["notify"]).toBe(false);
  });

  const WRONG: { what: string; fields: Fields; at: string; says: string }[] = [
    { what: "no name", fields: { name: " " }, at: "name", says: "Name is empty." },
    { what: "no message", fields: { body: "\r\n " }, at: "body", says: "Message is empty." },
    {
      what: "no beginning",
      fields: { scheduled_for: "" },
      at: "scheduled_for",
      says: "Starts at is empty.",
    },
    {
      what: "30 February",
      fields: { scheduled_for: "2026-02-30T10:00" },
      at: "scheduled_for",
      says: "Starts at must be a date and a time such as 2027-01-31 14:00.",
    },
    {
      what: "a length that was not offered",
      fields: { lasts: "1e9" },
      at: "lasts",
      says: "Select a duration.",
    },
    {
      what: "a length that leads out of the calendar",
      fields: { scheduled_for: "9999-12-31T23:30" },
      at: "scheduled_for",
      says: "Starts at is too late.",
    },
    {
      what: "an end that is not there",
      fields: { lasts: "until" },
      at: "scheduled_until",
      says: "Ends at is empty.",
    },
    {
      what: "an end before the beginning",
      fields: { lasts: "until", scheduled_until: "2026-03-10T14:00" },
      at: "scheduled_until",
      says: "Ends at must be later than the start.",
    },
    {
      what: "a component of nothing",
      fields: { components: ["cmp_none"] },
      at: "components",
      says: "Select components of the page.",
    },
    {
      what: "a reminder of half a minute",
      fields: { remind_minutes_before: "0.5" },
      at: "remind_minutes_before",
      says: "Reminder must be a whole number from 1 to 43,200.",
    },
  ];

  const shared = shareSite(createMaintenanceDashboard);
  for (const { what, fields, at, says } of WRONG) {
    test(`a plan with ${what} is redisplayed with the typed values, and nothing is planned`, async () => {
      const dashboard = await shared();
      const before = await dashboard.site.state();
      const answer = await dashboard.plan(fields);
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({ [at]: says });
      expect(await dashboard.site.state()).toEqual(before);
      const sent = dashboard.planFields(fields);
      expect(typedIn(answer.text, "name")).toEqual([String(sent["name"])]);
      expect(typedIn(answer.text, "scheduled_for")).toEqual([String(sent["scheduled_for"])]);
      expect((await dashboard.plan()).status).toBe(303);
    });
  }

  test("a plan with several invalid fields is rejected with an error for each", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const answer = await dashboard.send(NEW_PLAN, {
      ...dashboard.planFields(),
      name: "",
      scheduled_for: "2026-03-10T14:00",
      lasts: "until",
      scheduled_until: "2026-03-10T13:00",
      body: "",
      remind_minutes_before: "",
    });
    expect(Object.keys(fieldErrorsOn(answer.text)).sort()).toEqual([
      "body",
      "name",
      "remind_minutes_before",
      "scheduled_until",
    ]);
  });

  test("a rejected plan keeps an emoji, the message and the chosen components", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const web = dashboard.site.ids["Web"] ?? "";
    const answer = await dashboard.plan({ name: "🚧 Works", components: [web], lasts: "soon" });
    expect(typedIn(answer.text, "name")).toEqual(["🚧 Works"]);
    expect(typedIn(answer.text, "components")).toEqual([web]);
    expect(readHtml(answer.text).texts("textarea")).toEqual(["A minute without search."]);
  });

  test("submitting one plan twice at once plans one maintenance, and both answers lead to it", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const form = { form: await openForm(site.app, NEW_PLAN, session), ...dashboard.planFields() };
    const answers = await Promise.all([1, 2].map(() => dashboard.send(NEW_PLAN, form)));
    const places = answers.map(({ headers }) => headers.get("location"));
    expect(new Set(places).size).toBe(1);
    expect((await site.call("")).body.data).toHaveLength(1);
    expect(site.eventTypes()).toEqual(["maintenance.scheduled"]);
    await dashboard.plan();
    expect((await site.call("")).body.data).toHaveLength(2);
  });

  test("a plan submitted from another site is rejected", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, session } = dashboard;
    const before = await site.state();
    const answer = await site.app.call(NEW_PLAN, {
      session,
      form: dashboard.planFields(),
      headers: { origin: "https://elsewhere.example" },
    });
    expectProblem(answer, "cross_site_request");
    expect(await site.state()).toEqual(before);
  });

  test("a viewer can neither open, preview nor submit a plan and sees no link to it", async () => {
    await using dashboard = await createMaintenanceDashboard("viewer");
    const before = await dashboard.site.state();
    const form = dashboard.planFields();
    expectProblem(await dashboard.open(NEW_PLAN), "insufficient_role");
    expectProblem(await dashboard.send(NEW_PLAN, form), "insufficient_role");
    expectProblem(await dashboard.send(`${NEW_PLAN}/preview`, form), "insufficient_role");
    expect(await dashboard.site.state()).toEqual(before);
    const list = readHtml((await dashboard.open(MAINTENANCE)).text);
    expect(list.texts("h1")).toEqual(["Maintenance"]);
    expect(list.attributes("main a", "href")).not.toContain(NEW_PLAN);
  });
});

describe("the page of a planned maintenance", () => {
  test("choosing another page shows its components and keeps the typed text", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const second = await site.app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const planForm = await dashboard.open(`${NEW_PLAN}?page=second`);
    expect(readHtml(planForm.text).texts(".option label")).toEqual(["Mail"]);
    const before = await site.state();
    const chosen = await dashboard.send(
      NEW_PLAN,
      dashboard.planFields({ page: second.page.id, intent: "choose-page" }),
    );
    expect(chosen.status).toBe(200);
    expect(readHtml(chosen.text).texts(".option label")).toEqual(["Mail"]);
    expect(typedIn(chosen.text, "name")).toEqual(["Database upgrade"]);
    expect(await site.state()).toEqual(before);
  });

  test("a plan is rejected until the form has shown the components of its page", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const second = await site.app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const before = await site.state();
    const unseen = await dashboard.plan({ page: second.page.id });
    expect(unseen.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(unseen.text))).toEqual(["page"]);
    expect(await site.state()).toEqual(before);
    const mail = second.components["Mail"] ?? "";
    const seen = { page: second.page.id, shown_page: second.page.id, components: [mail] };
    expect(await dashboard.made(await dashboard.plan(seen))).toMatchObject({
      page: "second",
      components: [{ name: "Mail" }],
    });
  });
});

describe("a preview of a plan", () => {
  test("a preview of a plan is its public page, and writes nothing", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const before = await site.state();
    const answer = await dashboard.send(
      `${NEW_PLAN}/preview`,
      dashboard.planFields({ body: "A **minute** without search." }),
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const page = readHtml(answer.text);
    expect(page.texts("h1")).toEqual(["Database upgrade"]);
    expect(page.texts(".text strong")).toEqual(["minute"]);
    expect(answer.text).toContain("Preview. Nothing was published.");
    expect(await site.state()).toEqual(before);
    expect((await dashboard.plan()).status).toBe(303);
  });

  test("a preview of an invalid plan is the form with its errors", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const before = await dashboard.site.state();
    const fields = dashboard.planFields({ name: "" });
    const answer = await dashboard.send(`${NEW_PLAN}/preview`, fields);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({ name: "Name is empty." });
    expect(await dashboard.site.state()).toEqual(before);
  });
});
