import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, type Role } from "../../../../src/base/actor";
import { getIncident, listIncidents } from "../../../../src/features/incidents/records";
import { readOutages } from "../../../../src/features/incidents/outage-store";
import { createTestApp, type TestApp } from "../../../support/app";
import { actionsOf, type Fields } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";
import { createStorm, type Storm } from "../../../support/storm-site";
import { addUpdate } from "../../../support/examined";

interface SplitSite extends AsyncDisposable {
  app: TestApp;
  storm: Storm;
  session: string;
  show(path?: string, session?: string): ReturnType<TestApp["call"]>;
  /** Sends the form of the screen, as it is now, with these monitors selected. */
  split(monitors: readonly string[], fields?: Fields): ReturnType<TestApp["call"]>;
  /** Returns the ids of the monitors of an incident that still fail. */
  failing(incidentId: string): readonly string[];
  incidents(): readonly { id: string; name: string }[];
  state(): unknown;
}

async function createSplitSite(
  options: { count?: number; opens?: "automatic" | "draft" } = {},
): Promise<SplitSite> {
  const app = await createTestApp();
  const storm = await createStorm(app, { count: 4, ...options });
  const session = await app.signedIn("editor");
  const { ctx } = app;
  const all = () =>
    listIncidents(ctx.db, { limit: 10 }).map(({ row }) => ({ id: row.id, name: row.name }));
  const show: SplitSite["show"] = (path = storm.path, by = session) =>
    app.call(path, { session: by });
  return {
    app,
    storm,
    session,
    show,
    async split(monitors, fields = {}) {
      const [form = ""] = typedIn(formOf((await show()).text), "form");
      return app.call(`${storm.path}/split-off`, {
        session,
        form: { form, monitors: [...monitors], ...fields },
      });
    },
    failing: (id) => readOutages(ctx.db, getIncident(ctx.db, id, true).row).failingMonitorIds,
    incidents: all,
    state: () => ({ incidents: all(), audit: app.audit(), events: app.events() }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Returns the form that splits outages off; empty without one. */
function formOf(html: string): string {
  return /<form[^>]*action="[^"]*\/split-off".*?<\/form>/s.exec(html)?.[0] ?? "";
}

describe("splitting outages off an incident", () => {
  test("moves the selected outages to a new incident, which the confirmation links, and is audited", async () => {
    await using site = await createSplitSite();
    const { storm, app } = site;
    const [first = "", second = "", third = "", fourth = ""] = storm.monitors;
    const answer = await site.split([second, fourth]);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, storm.path]);
    const [created] = site.incidents();
    if (!created) throw new Error("a new incident is listed first");
    expect(created).toMatchObject({ name: "Problems with API and Payments" });
    expect(site.failing(storm.incidentId)).toEqual([first, third]);
    expect(site.failing(created.id)).toEqual([second, fourth]);
    expect(actionsOf(app)).toContain("incident.split_off");
    const page = readHtml((await site.show()).text);
    expect(page.texts(".flash")).toEqual(["2 monitors split off. Open the new incident"]);
    expect(page.attributes(".flash a", "href")).toEqual([`/admin/incidents/${created.id}`]);
    expect(page.texts("#detected-by .detail-name")).toEqual(["Sign-in", "Web app"]);
    const other = readHtml((await site.show(`/admin/incidents/${created.id}`)).text);
    expect(other.texts("#detected-by .detail-name")).toEqual(["API", "Card payments"]);
    expect(other.texts("#incident-writer")).toEqual([
      "Allclear writes and resolves this incident until you write in it.",
    ]);
  });

  test("a form that is sent twice splits once, and both answers lead to the incident", async () => {
    await using site = await createSplitSite();
    const { storm, app, session } = site;
    const [form = ""] = typedIn(formOf((await site.show()).text), "form");
    const sent = { form, monitors: [storm.monitors[1] ?? ""] };
    const send = () => app.call(`${storm.path}/split-off`, { session, form: sent });
    const answers = await Promise.all([send(), send()]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(site.incidents()).toHaveLength(2);
    expect(actionsOf(app).filter((action) => action === "incident.split_off")).toHaveLength(1);
  });

  test("the outages of a draft become another draft", async () => {
    await using site = await createSplitSite({ opens: "draft" });
    const answer = await site.split([site.storm.monitors[0] ?? ""]);
    expect(answer.status).toBe(303);
    const drafts = listIncidents(site.app.ctx.db, { limit: 10, isDraft: true });
    expect(drafts).toHaveLength(2);
    expect(site.app.events().filter(({ type }) => type.startsWith("incident."))).toEqual([]);
  });

  test.each([
    { name: "checked", notify: "yes", isSent: true },
    { name: "unchecked", notify: "", isSent: false },
  ])("sends notifications about the new incident if that is $name", async ({ notify, isSent }) => {
    await using site = await createSplitSite();
    const { app, storm } = site;
    expect(formOf((await site.show()).text)).toMatch(/name="notify"[^>]* checked/);
    expect((await site.split([storm.monitors[1] ?? ""], { notify })).status).toBe(303);
    const id = site.incidents()[0]?.id ?? "";
    const { updates } = getIncident(app.ctx.db, id, true);
    expect(updates.map((update) => update.notify)).toEqual([isSent]);
  });

  test("an unknown incident is not found", async () => {
    await using site = await createSplitSite();
    const { app, session } = site;
    const form = { form: "1", monitors: "mon_x" };
    const answer = await app.call("/admin/incidents/inc_x/split-off", { session, form });
    expect(answer.status).toBe(404);
  });

  test("a GET request for the form leads to the incident", async () => {
    await using site = await createSplitSite();
    const answer = await site.show(`${site.storm.path}/split-off`);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, site.storm.path]);
  });
});

describe("a rejected form that splits outages off", () => {
  test.each<{
    name: string;
    selected: (monitors: readonly string[]) => readonly string[];
    before?: (site: SplitSite) => Promise<void>;
    status: number;
    message: string;
  }>([
    {
      name: "no monitor",
      selected: () => [],
      status: 422,
      message: "Select at least one monitor.",
    },
    {
      name: "all monitors",
      selected: (monitors) => monitors,
      status: 409,
      message: "At least one monitor that fails must stay in the incident.",
    },
    {
      name: "all monitors that still fail",
      selected: (monitors) => monitors.slice(1),
      before: ({ storm }) => storm.enter(storm.monitors[0] ?? "", "up"),
      status: 409,
      message: "At least one monitor that fails must stay in the incident.",
    },
    {
      name: "a monitor that has recovered since the screen was opened",
      selected: (monitors) => monitors.slice(0, 2),
      before: ({ storm }) => storm.enter(storm.monitors[0] ?? "", "up"),
      status: 422,
      message: "A selected monitor is no longer down in this incident. Select from those that are.",
    },
    {
      name: "a monitor that was paused since the screen was opened",
      selected: (monitors) => monitors.slice(0, 1),
      before: ({ storm }) => storm.pause(storm.monitors[0] ?? ""),
      status: 422,
      message: "A selected monitor is no longer down in this incident. Select from those that are.",
    },
    {
      name: "a monitor that does not exist",
      selected: () => ["mon_x"],
      status: 422,
      message: "A selected monitor is no longer down in this incident. Select from those that are.",
    },
  ])(
    "shows the error below the monitors, keeps the selection and writes nothing: $name",
    async ({ selected, before, status, message }) => {
      await using site = await createSplitSite();
      const { storm, app, session } = site;
      const [form = ""] = typedIn(formOf((await site.show()).text), "form");
      await before?.(site);
      const state = site.state();
      const ids = selected(storm.monitors);
      const answer = await app.call(`${storm.path}/split-off`, {
        session,
        form: { form, monitors: [...ids] },
      });
      expect(answer.status).toBe(status);
      const page = readHtml(answer.text);
      expect(page.texts("#field-monitors #field-monitors-error")).toEqual([message]);
      expect(page.attributes("#field-monitors", "aria-describedby")).toEqual([
        "field-monitors-error",
      ]);
      const checked = page.attributes("input[name=monitors][checked]", "value");
      const failing = site.failing(storm.incidentId);
      expect(checked).toEqual(ids.filter((id) => failing.includes(id)));
      expect(site.state()).toEqual(state);
      // The form that is shown can be sent.
      expect(typedIn(formOf(answer.text), "form")[0]).not.toBe(form);
    },
  );

  test.each<{ name: string; change: (site: SplitSite) => Promise<void>; message: string }>([
    {
      name: "was resolved",
      change: async ({ app: { ctx }, storm }) => {
        const update = { status: "resolved" as const, body: "Over." };
        await ctx.db.write((tx) => addUpdate(ctx, tx, storm.incidentId, update, CLI_ACTOR));
      },
      message: "Only an incident that Allclear opened and no one has taken over can be split.",
    },
    {
      name: "was taken over",
      change: async ({ app: { ctx }, storm }) => {
        const update = { status: "identified" as const, body: "A switch." };
        await ctx.db.write((tx) => addUpdate(ctx, tx, storm.incidentId, update, CLI_ACTOR));
      },
      message: "Only an incident that Allclear opened and no one has taken over can be split.",
    },
    {
      name: "was resolved by Allclear",
      change: async ({ storm }) => {
        for (const id of storm.monitors) {
          // oxlint-disable-next-line no-await-in-loop
          await storm.enter(id, "up");
        }
      },
      message: "The incident is resolved, so it cannot be split.",
    },
  ])(
    "is a conflict with the reason above the monitors, without the form: the incident $name",
    async ({ change, message }) => {
      await using site = await createSplitSite();
      const { storm, app, session } = site;
      const [form = ""] = typedIn(formOf((await site.show()).text), "form");
      await change(site);
      const state = site.state();
      const answer = await app.call(`${storm.path}/split-off`, {
        session,
        form: { form, monitors: [storm.monitors[0] ?? ""] },
      });
      expect(answer.status).toBe(409);
      expect(readHtml(answer.text).texts("main [role=alert]")).toEqual([message]);
      expect(formOf(answer.text)).toBe("");
      expect(site.state()).toEqual(state);
    },
  );

  test("is shown with its reason if another person has split the same outage off", async () => {
    await using site = await createSplitSite({ count: 2 });
    const { storm, app, session } = site;
    const [form = ""] = typedIn(formOf((await site.show()).text), "form");
    const monitors = [storm.monitors[1] ?? ""];
    expect((await site.split(monitors)).status).toBe(303);
    const state = site.state();
    const sent = { form, monitors };
    const answer = await app.call(`${storm.path}/split-off`, { session, form: sent });
    expect(answer.status).toBe(422);
    expect(readHtml(answer.text).texts("main [role=alert]")).toEqual([
      "A selected monitor is no longer down in this incident. Select from those that are.",
    ]);
    expect(site.state()).toEqual(state);
  });

  test("keeps the selection of a form that was sent after the session ended", async () => {
    await using site = await createSplitSite();
    const { storm, app, session } = site;
    const form = { kept_form: "yes", form: "1", monitors: [storm.monitors[2] ?? ""] };
    const state = site.state();
    const answer = await app.call(`${storm.path}/split-off`, { session, form });
    expect(answer.status).toBe(200);
    const page = readHtml(answer.text);
    expect(page.texts("#detected-by [role=status]")[0]).toContain("before you signed in");
    expect(page.attributes("#detected-by input[checked]", "value")).toEqual(form.monitors);
    expect(site.state()).toEqual(state);
  });

  test.each<{ who: string; role: Role | undefined; status: number }>([
    { who: "a viewer", role: "viewer", status: 403 },
    { who: "a visitor", role: undefined, status: 401 },
  ])("is refused to $who, and nothing is written", async ({ role, status }) => {
    await using site = await createSplitSite();
    const { storm, app } = site;
    const session = role && (await app.signedIn(role));
    const state = site.state();
    const answer = await app.call(`${storm.path}/split-off`, {
      ...(session === undefined ? {} : { session }),
      form: { form: "1", monitors: storm.monitors[0] ?? "" },
    });
    expect(answer.status).toBe(status);
    expect(site.state()).toEqual(state);
  });

  test("from another site is refused, and nothing is written", async () => {
    await using site = await createSplitSite();
    const { storm, app, session } = site;
    const state = site.state();
    const answer = await app.call(`${storm.path}/split-off`, {
      session,
      form: { form: "1", monitors: storm.monitors[0] ?? "" },
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    });
    expect(answer.status).toBe(403);
    expect(site.state()).toEqual(state);
  });
});

describe("the form that splits outages off", () => {
  test("has a checkbox for each monitor that fails, and none for others", async () => {
    await using site = await createSplitSite();
    const { storm } = site;
    const [first = "", second = "", third = "", fourth = ""] = storm.monitors;
    await storm.enter(first, "up");
    await storm.pause(second);
    const page = readHtml((await site.show()).text);
    expect(page.attributes("#detected-by input[name=monitors]", "value")).toEqual([third, fourth]);
    expect(page.texts("#detected-by .detail-pick")).toEqual([
      "Select Web app",
      "Select Card payments",
    ]);
  });

  test.each<{
    name: string;
    count?: number;
    change?: (site: SplitSite) => Promise<void>;
    role?: Role;
  }>([
    { name: "for a viewer", role: "viewer" },
    { name: "for a single monitor", count: 1 },
    {
      name: "while only one monitor still fails",
      change: async ({ storm }) => {
        for (const id of storm.monitors.slice(1)) {
          // oxlint-disable-next-line no-await-in-loop
          await storm.enter(id, "up");
        }
      },
    },
    {
      name: "after a person has written",
      change: async ({ app: { ctx }, storm }) => {
        const update = { status: "identified" as const, body: "A switch." };
        await ctx.db.write((tx) => addUpdate(ctx, tx, storm.incidentId, update, CLI_ACTOR));
      },
    },
    {
      name: "after the resolution",
      change: async ({ storm }) => {
        for (const id of storm.monitors) {
          // oxlint-disable-next-line no-await-in-loop
          await storm.enter(id, "up");
        }
      },
    },
  ])("is absent $name", async ({ count = 4, change, role }) => {
    await using site = await createSplitSite({ count });
    await change?.(site);
    const session = role === undefined ? site.session : await site.app.signedIn(role);
    const { text } = await site.show(site.storm.path, session);
    expect(formOf(text)).toBe("");
    expect(readHtml(text).attributes("#detected-by input", "type")).toEqual([]);
    expect(readHtml(text).texts("#detected-by .detail-name")).toHaveLength(count);
  });
});
