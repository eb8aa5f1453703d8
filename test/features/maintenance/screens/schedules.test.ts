import { describe, expect, test } from "bun:test";
import type { Role } from "../../../../src/base/actor";
import { apply } from "../../../support/apply";
import { type Fields, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { createMaintenanceDashboard, MAINTENANCE } from "../../../support/maintenance-dashboard";
import { DAILY, SCHEDULES_PATH } from "../../../support/maintenance-schedules";

const LIST = `${MAINTENANCE}/schedules`;
const NEW = `${LIST}/new`;

/** A dashboard with functions for the forms of schedules. */
async function createScheduleDashboard(role: Role = "editor") {
  const dashboard = await createMaintenanceDashboard(role);
  const { site, send, session } = dashboard;
  const typed = (fields: Fields = {}): Fields => ({
    page: site.page.id,
    shown_page: site.page.id,
    name: "Nightly restart",
    components: [site.ids["API"] ?? ""],
    cron: "0 2 * * *",
    duration_minutes: "60",
    time_zone: "Europe/Berlin",
    body: "A minute without it.",
    remind_minutes_before: "60",
    starts_on: "",
    ends_on: "",
    every_days: "",
    enabled: "yes",
    ...fields,
  });
  return {
    ...dashboard,
    typed,
    /** Opens the form for a new schedule and submits it filled in. */
    create: async (fields?: Fields) =>
      send(NEW, { form: await openForm(site.app, NEW, session), ...typed(fields) }),
    /** Lists the schedules as the API does. */
    schedules: async () =>
      (await site.app.call(SCHEDULES_PATH, { key: site.key })).body.data as {
        id: string;
        version: number;
      }[],
    [Symbol.asyncDispose]: () => dashboard[Symbol.asyncDispose](),
  };
}

/** Returns the occurrences that a form shows. */
const nextOn = (html: string) => readHtml(html).texts("[data-occurrences] li");

describe("the form for a new schedule", () => {
  test("creates a schedule from what was typed, which the list shows", async () => {
    await using dashboard = await createScheduleDashboard();
    const { create, schedules, open, site } = dashboard;
    const answer = await create({
      starts_on: "2026-03-12",
      ends_on: "2026-12-31",
      every_days: "2",
      remind_minutes_before: "never",
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, LIST]);
    expect(await schedules()).toMatchObject([
      {
        ...DAILY,
        components: [{ name: "API" }],
        every_days: 2,
        starts_on: "2026-03-12",
        ends_on: "2026-12-31",
        remind_minutes_before: null,
        enabled: true,
      },
    ]);
    const list = readHtml((await open(LIST)).text);
    expect(list.texts(".flash")).toEqual(["The schedule was created."]);
    expect(list.texts(".row-link")).toEqual(["Nightly restart"]);
    expect(list.texts("td:nth-child(2)")).toEqual([
      "Every day at 02:00only every 2 daysEurope/Berlin",
    ]);
    expect(site.app.audit().at(-1)?.action).toBe("maintenance_schedule.create");
  });

  test("shows the next five occurrences in the time zone, at first those of its initial values", async () => {
    await using dashboard = await createScheduleDashboard();
    expect(nextOn((await dashboard.open(NEW)).text)).toHaveLength(5);
    const before = [dashboard.site.app.audit(), await dashboard.schedules()];
    const typed = dashboard.typed({ cron: "30 2 * * SUN", duration_minutes: "90" });
    const form = await openForm(dashboard.site.app, NEW, dashboard.session);
    const shown = await dashboard.send(NEW, { ...typed, form, intent: "occurrences" });
    expect(shown.status).toBe(200);
    expect(nextOn(shown.text)).toEqual([
      "Sun, 15 Mar 2026, 02:30–04:00 CET",
      "Sun, 22 Mar 2026, 02:30–04:00 CET",
      "Sun, 29 Mar 2026, 03:00–04:30 CEST",
      "Sun, 5 Apr 2026, 02:30–04:00 CEST",
      "Sun, 12 Apr 2026, 02:30–04:00 CEST",
    ]);
    expect(typedIn(shown.text, "cron")).toEqual(["30 2 * * SUN"]);
    expect([dashboard.site.app.audit(), await dashboard.schedules()]).toEqual(before);
    // The form can still be submitted.
    expect((await dashboard.send(NEW, { ...typed, form })).status).toBe(303);
  });

  test.each<Fields>([
    { cron: "0 25 * * *" },
    { cron: "" },
    { time_zone: "Mars/Base" },
    { starts_on: "2026-02-30" },
    { every_days: "none", starts_on: "2026-03-12" },
    { ends_on: "2020-01-01" },
    { cron: "0 0 29 2 */7", every_days: "366", starts_on: "2026-03-01" },
  ])("shows no occurrences, and no error yet, for %j", async (fields) => {
    await using dashboard = await createScheduleDashboard();
    const typed = dashboard.typed(fields);
    const shown = await dashboard.send(NEW, { ...typed, intent: "occurrences" });
    expect([shown.status, nextOn(shown.text)]).toEqual([200, []]);
    expect(shown.text).toContain("None. Check the times, the time zone and the days.");
    expect(fieldErrorsOn(shown.text)).toEqual({});
  });

  test("is shown again with all errors and what was typed, and nothing is written", async () => {
    await using dashboard = await createScheduleDashboard();
    const wrong = { name: "", cron: "0 25 * * *", duration_minutes: "no", time_zone: "Mars/Base" };
    const answer = await dashboard.create(wrong);
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text)).toSorted()).toEqual([
      "cron",
      "duration_minutes",
      "name",
    ]);
    expect(fieldErrorsOn(answer.text)["cron"]).toContain("has no valid hour: 25");
    expect(typedIn(answer.text, "time_zone")).toEqual(["Mars/Base"]);
    const zone = await dashboard.create({ time_zone: "Mars/Base" });
    expect(fieldErrorsOn(zone.text)["time_zone"]).toContain("must be a time zone");
    expect(await dashboard.schedules()).toEqual([]);
  });
});

/** Returns the way to repeat that a form has selected. */
const repeatsIn = (html: string) =>
  readHtml(html).attributes('[name="repeats"] [selected]', "value");

describe("the plain fields of a schedule", () => {
  test.each<[Fields, string, string]>([
    [{ repeats: "daily", at: "03:00" }, "0 3 * * *", "Wed, 11 Mar 2026, 03:00–03:15 CET"],
    [{ repeats: "weekdays", at: "09:30" }, "30 9 * * MON-FRI", "Wed, 11 Mar 2026, 09:30–09:45 CET"],
    [
      { repeats: "weekly", on_days: ["TUE"], at: "03:00" },
      "0 3 * * TUE",
      "Tue, 17 Mar 2026, 03:00–03:15 CET",
    ],
    [
      { repeats: "weekly", on_days: ["SUN", "TUE"], at: "03:00" },
      "0 3 * * TUE,SUN",
      "Sun, 15 Mar 2026, 03:00–03:15 CET",
    ],
    [
      { repeats: "month_day", month_day: "L", at: "22:00" },
      "0 22 L * *",
      "Tue, 31 Mar 2026, 22:00–22:15 CEST",
    ],
    [
      { repeats: "month_weekday", month_week: "2", month_weekday: "TUE", at: "03:00" },
      "0 3 * * TUE#2",
      "Tue, 14 Apr 2026, 03:00–03:15 CEST",
    ],
    [
      { repeats: "cron", at: "", cron: "0 */6 * * *" },
      "0 */6 * * *",
      "Tue, 10 Mar 2026, 18:00–18:15 CET",
    ],
  ])("%j are stored as cron, and the form shows when that is", async (fields, cron, next) => {
    await using dashboard = await createScheduleDashboard();
    const { create, schedules, open, send, typed } = dashboard;
    const sent = { cron: "", duration_minutes: "15", ...fields };
    const shown = await send(NEW, { ...typed(sent), intent: "occurrences" });
    expect(nextOn(shown.text)).toHaveLength(5);
    expect(nextOn(shown.text)[0]).toBe(next);
    expect((await create(sent)).status).toBe(303);
    const [schedule] = await schedules();
    expect(schedule).toMatchObject({ cron, duration_minutes: 15, time_zone: "Europe/Berlin" });
    // It opens in the fields that made it, and a submission without changes changes nothing.
    const path = `${LIST}/${schedule?.id}`;
    const { text } = await open(path);
    expect([repeatsIn(text), nextOn(text)[0]]).toEqual([[String(fields["repeats"])], next]);
    const [version = ""] = typedIn(text, "version");
    expect((await send(path, { ...typed(sent), version })).status).toBe(303);
    expect(await schedules()).toMatchObject([{ version: 1, cron }]);
  });

  test.each<[Fields, string, string]>([
    [{ repeats: "daily", at: "25:00" }, "at", "must be a time such as 03:00"],
    [{ repeats: "daily", at: "" }, "at", "must be a time such as 03:00"],
    [{ repeats: "weekly", at: "03:00" }, "on_days", "Select at least one day."],
    [{ repeats: "month_day", at: "03:00", month_day: "0" }, "month_day", "Select a day."],
    [{ repeats: "month_weekday", at: "03:00" }, "month_week", "Select a week and a day."],
    [{ repeats: "cron", at: "03:00", cron: "0 25 * * *" }, "cron", "has no valid hour: 25"],
  ])("%j are an error at %s, and keep what was typed", async (fields, name, error) => {
    await using dashboard = await createScheduleDashboard();
    const answer = await dashboard.create({ cron: "", ...fields });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual([name]);
    expect(fieldErrorsOn(answer.text)[name]).toContain(error);
    expect([repeatsIn(answer.text), typedIn(answer.text, "at")]).toEqual([
      [String(fields["repeats"])],
      [String(fields["at"])],
    ]);
    expect(nextOn(answer.text)).toEqual([]);
    expect(await dashboard.schedules()).toEqual([]);
  });

  test("begin with every day at 02:00, and the next occurrences of that", async () => {
    await using dashboard = await createScheduleDashboard();
    const { text } = await dashboard.open(NEW);
    expect([repeatsIn(text), typedIn(text, "at"), nextOn(text).length]).toEqual([
      ["daily"],
      ["02:00"],
      5,
    ]);
  });

  test("show a stored expression that they can say, however it was written", async () => {
    await using dashboard = await createScheduleDashboard();
    const { site, open, send, schedules } = dashboard;
    const { body } = await site.app.call(SCHEDULES_PATH, {
      method: "POST",
      key: site.key,
      json: { ...DAILY, cron: "0 3 * * 2,7" },
    });
    const path = `${LIST}/${body.id}`;
    const { text } = await open(path);
    expect([repeatsIn(text), typedIn(text, "on_days")]).toEqual([["weekly"], ["TUE", "SUN"]]);
    expect(readHtml((await open(LIST)).text).texts("td:nth-child(2)")).toEqual([
      "Every Tuesday and Sunday at 03:00Europe/Berlin",
    ]);
    // An expression stays as it was written until its times change.
    const [version = ""] = typedIn(text, "version");
    const {
      page: _page,
      shown_page: _shown,
      ...typed
    } = dashboard.typed({
      cron: "",
      repeats: "weekly",
      on_days: ["TUE", "SUN"],
      at: "03:00",
      components: [],
      name: "Renamed",
    });
    await send(path, { ...typed, version });
    expect(await schedules()).toMatchObject([{ name: "Renamed", cron: "0 3 * * 2,7" }]);
  });
});

describe("the form for a stored schedule", () => {
  test("changes what was typed, and a submission without changes changes nothing", async () => {
    await using dashboard = await createScheduleDashboard();
    const { create, schedules, send, open, typed, site } = dashboard;
    await create();
    const [schedule] = await schedules();
    const path = `${LIST}/${schedule?.id}`;
    const [version = ""] = typedIn((await open(path)).text, "version");
    expect(nextOn((await open(path)).text)).toHaveLength(5);
    await send(path, { ...typed(), version });
    expect(await schedules()).toMatchObject([{ version: 1 }]);
    const { enabled: _, ...disabled } = typed({ cron: "0 3 * * *" });
    expect((await send(path, { ...disabled, version })).status).toBe(303);
    expect(await schedules()).toMatchObject([{ version: 2, cron: "0 3 * * *", enabled: false }]);
    expect(site.app.audit().at(-1)?.summary).toBe(
      "Changed the maintenance schedule “Nightly restart”: cron expression, enabled",
    );
    expect((await open(LIST)).text).toContain("Disabled");
    const stale = await send(path, { ...typed({ cron: "0 4 * * *" }), version });
    expect(stale.status).toBe(409);
    expect(await schedules()).toMatchObject([{ version: 2 }]);
  });

  test("says that a configuration file manages the schedule", async () => {
    await using dashboard = await createScheduleDashboard();
    const file = `pages:
  - { slug: filed, name: Filed }
maintenance_schedules:
  - { name: Filed one, page: filed, body: B, cron: 0 1 * * *, duration_minutes: 5 }
`;
    await apply(dashboard.site.app, file);
    const [schedule] = await dashboard.schedules();
    const { text } = await dashboard.open(`${LIST}/${schedule?.id}`);
    expect(text).toContain("Managed by a configuration file");
    expect((await dashboard.open(LIST)).text).toContain("Managed by a file");
  });

  test("leads to its deletion, which asks first", async () => {
    await using dashboard = await createScheduleDashboard();
    await dashboard.create();
    const [schedule] = await dashboard.schedules();
    const path = `${LIST}/${schedule?.id}/delete`;
    expect((await dashboard.open(path)).text).toContain("Delete “Nightly restart”");
    const answer = await dashboard.send(path, {});
    expect([answer.status, answer.headers.get("location")]).toEqual([303, LIST]);
    expect(readHtml((await dashboard.open(LIST)).text).texts(".flash")).toEqual([
      "“Nightly restart” was deleted.",
    ]);
    expect((await dashboard.open(`${LIST}/${schedule?.id}`)).status).toBe(404);
  });
});

describe("a viewer", () => {
  test("reads the list and cannot open the forms", async () => {
    await using dashboard = await createScheduleDashboard("viewer");
    const { site, open, send, typed } = dashboard;
    await site.app.call(SCHEDULES_PATH, { method: "POST", key: site.key, json: DAILY });
    const list = await open(LIST);
    expect([list.status, readHtml(list.text).texts(".row-link")]).toEqual([200, []]);
    expect(list.text).not.toContain("Create schedule");
    expect((await open(NEW)).status).toBe(403);
    expect((await send(NEW, typed())).status).toBe(403);
    expect(await dashboard.schedules()).toHaveLength(1);
  });
});

describe("an occurrence", () => {
  test("names its schedule, with a link for editors, until the schedule is deleted", async () => {
    await using dashboard = await createScheduleDashboard();
    await dashboard.create();
    const [schedule] = await dashboard.schedules();
    const { body } = await dashboard.site.call("?limit=1");
    const path = `${MAINTENANCE}/${body.data[0].id}`;
    await dashboard.site.patch(body.data[0].id, { name: "Edited" });
    const link = `<a href="${LIST}/${schedule?.id}">Nightly restart</a>`;
    expect((await dashboard.open(path)).text).toContain(link);
    const viewer = await dashboard.site.app.signedIn("viewer");
    const read = await dashboard.site.app.call(path, { session: viewer });
    expect(read.text).toContain("Nightly restart");
    expect(read.text).not.toContain(link);
    await dashboard.send(`${LIST}/${schedule?.id}/delete`, {});
    // The confirmation names the schedule once.
    await dashboard.open(LIST);
    expect((await dashboard.open(path)).text).not.toContain("Nightly restart");
  });
});

describe("the calendar of planned maintenance", () => {
  test("shows the maintenance of each day of a month, and leads to other months", async () => {
    await using dashboard = await createScheduleDashboard();
    await dashboard.create({ cron: "0 2 * * SUN" });
    await dashboard.site.plan({
      scheduled_for: "2026-03-30T22:00:00Z",
      scheduled_until: "2026-04-01T02:00:00Z",
      name: "Move",
    });
    const read = async (query = "") =>
      readHtml((await dashboard.open(`${MAINTENANCE}/calendar${query}`)).text);
    const march = await read();
    expect(march.texts(".calendar li")).toEqual([
      "01:00 Nightly restart",
      "01:00 Nightly restart",
      // 03:00 in Berlin, since the clock skips 02:00.
      "01:00 Nightly restart",
      "22:00 Move",
      "… Move",
    ]);
    expect(march.texts("nav[aria-label=Months] a")).toEqual(["← February 2026", "April 2026 →"]);
    const april = await read("?month=2026-04");
    expect(april.texts(".calendar li")).toEqual(["… Move", "00:00 Nightly restart"]);
    expect(april.texts(".calendar .calendar-number")).toHaveLength(30);
    const later = await dashboard.open(`${MAINTENANCE}/calendar?month=2031-02`);
    expect(later.text).toContain("No maintenance is planned in February 2031.");
    expect((await read("?month=nonsense")).texts(".calendar li")).toHaveLength(5);
  });

  test("is of one page if it is chosen", async () => {
    await using dashboard = await createScheduleDashboard();
    await dashboard.site.app.page({ slug: "other", name: "Other" }, []);
    await dashboard.site.plan({ name: "Mine" });
    await dashboard.site.plan({ name: "Another", page: "other", components: [] });
    const of = async (query: string) =>
      readHtml((await dashboard.open(`${MAINTENANCE}/calendar${query}`)).text).texts(
        ".calendar li",
      );
    expect(await of("")).toEqual(["14:00 Mine", "14:00 Another"]);
    expect(await of("?page=other")).toEqual(["14:00 Another"]);
  });
});
