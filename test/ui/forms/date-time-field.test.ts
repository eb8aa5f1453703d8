import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dateTimeProblem, parseDateTimeInput } from "../../../src/ui/forms/date-time";
import { fieldErrorsOn, readHtml, typedIn } from "../../support/html";
import {
  createMaintenanceDashboard,
  MAINTENANCE,
  NEW_PLAN,
} from "../../support/maintenance-dashboard";

describe("a date and time typed into a form", () => {
  for (const [typed, iso] of [
    ["2026-03-10T14:00", "2026-03-10T14:00:00.000Z"],
    [" 2026-03-10 14:00 ", "2026-03-10T14:00:00.000Z"],
    ["2026-03-10T14:00:30", "2026-03-10T14:00:30.000Z"],
    ["2026-03-10T14:00:30.5", "2026-03-10T14:00:30.500Z"],
    ["2026-03-10T14:00Z", "2026-03-10T14:00:00.000Z"],
    ["2024-02-29T00:00", "2024-02-29T00:00:00.000Z"],
  ] as const) {
    test(`“${typed}” is read as a time in UTC`, () => {
      expect(parseDateTimeInput(typed)).toBe(iso);
    });
  }

  for (const typed of [
    "",
    "tomorrow",
    "2026-03-10",
    "2026-02-30T10:00",
    "2026-03-10T25:00",
    "2026-03-10T14:60",
    "2026-03-10T23:59:60",
    "+010000-01-01T00:00",
    "2026-03-10T14:00+01:00",
    "2026-03-10T14:00Z[Europe/Berlin]",
    "2026-03-10T14:00[Mars/Base]",
    "2026-03-10T14:00[]",
    "2026-03-10T14:00\n2026",
  ]) {
    test(`“${typed.replace("\n", "⏎")}” is rejected as a date and time`, () => {
      expect(parseDateTimeInput(typed)).toBeUndefined();
    });
  }

  test("a typed date and time is read to the millisecond", () => {
    const max = Date.UTC(10_000, 0) - 1;
    fc.assert(
      fc.property(fc.integer({ min: 0, max }), (ms) => {
        const iso = new Date(ms).toISOString();
        expect(parseDateTimeInput(iso.slice(0, -1))).toBe(iso);
      }),
    );
  });
});

describe("a date and time typed in a time zone", () => {
  test.each([
    ["2026-03-10T14:00[Europe/Berlin]", "2026-03-10T13:00:00.000Z"],
    // The offset is that of the typed time, not of today.
    ["2026-07-10T14:00[Europe/Berlin]", "2026-07-10T12:00:00.000Z"],
    ["2026-03-10 14:00:30[America/New_York]", "2026-03-10T18:00:30.000Z"],
    ["2026-03-10T14:00[Asia/Calcutta]", "2026-03-10T08:30:00.000Z"],
    ["2026-10-25T02:30+02:00[Europe/Berlin]", "2026-10-25T00:30:00.000Z"],
    ["2026-10-25T02:30+01:00[Europe/Berlin]", "2026-10-25T01:30:00.000Z"],
    // The offset of another time that was typed before.
    ["2026-12-25T02:30+02:00[Europe/Berlin]", "2026-12-25T01:30:00.000Z"],
  ])("“%s” is %s", (typed, iso) => {
    expect(parseDateTimeInput(typed)).toBe(iso);
  });

  test.each([
    ["2026-03-29T02:30[Europe/Berlin]", "is skipped by the clock in Europe/Berlin"],
    [
      "2026-10-25T02:30[Europe/Berlin]",
      "is shown twice by the clock in Europe/Berlin. Select which of the two is meant",
    ],
    [
      "2026-10-25T02:30+05:00[Europe/Berlin]",
      "is shown twice by the clock in Europe/Berlin. Select which of the two is meant",
    ],
    ["2026-10-25T02:30[Mars/Base]", "has a time zone that this server does not know"],
    ["soon[Europe/Berlin]", "must be a date and a time such as 2027-01-31 14:00"],
  ])("“%s” is rejected, since it %s", (typed, problem) => {
    expect(parseDateTimeInput(typed)).toBeUndefined();
    expect(dateTimeProblem(typed)).toBe(problem);
  });
});

const ZONE = "Europe/Berlin";

/** A dashboard whose editor has the time zone of Berlin. */
async function createBerlinDashboard() {
  const dashboard = await createMaintenanceDashboard();
  await dashboard.send("/admin/settings/account/time-zone", { time_zone: ZONE });
  return dashboard;
}

describe("the form of a user in another time zone than UTC", () => {
  test("names the zone beside each time, and reads what is typed in it", async () => {
    await using dashboard = await createBerlinDashboard();
    const form = readHtml((await dashboard.open(NEW_PLAN)).text);
    expect(form.texts('[for="field-scheduled_for"]')).toEqual([`Starts at (${ZONE})`]);
    expect(form.attributes('[name="scheduled_for_zone"]', "value")).toEqual([ZONE]);
    const times = { scheduled_for: "2026-07-10T02:00", scheduled_for_zone: ZONE };
    expect(await dashboard.made(await dashboard.plan(times))).toMatchObject({
      scheduled_for: "2026-07-10T00:00:00.000Z",
      scheduled_until: "2026-07-10T01:00:00.000Z",
    });
  });

  test("keeps the zone in which it was shown, whatever the user's is when it is sent", async () => {
    await using dashboard = await createBerlinDashboard();
    const times = { scheduled_for: "2026-07-10T02:00", scheduled_for_zone: ZONE };
    await dashboard.send("/admin/settings/account/time-zone", { time_zone: "Asia/Tokyo" });
    const shown = await dashboard.plan({ ...times, name: "" });
    expect(shown.status).toBe(422);
    expect(readHtml(shown.text).texts('[for="field-scheduled_for"]')).toEqual([
      `Starts at (${ZONE})`,
    ]);
    expect(await dashboard.made(await dashboard.plan(times))).toMatchObject({
      scheduled_for: "2026-07-10T00:00:00.000Z",
    });
  });

  test("a date-time field shows invalid text again, also 80,000 characters that a pattern could read for minutes", async () => {
    await using dashboard = await createBerlinDashboard();
    const times = { scheduled_for: "[".repeat(80_000), scheduled_for_zone: "a]" };
    const answer = await dashboard.plan(times);
    expect(answer.status).toBe(422);
    expect(typedIn(answer.text, "scheduled_for")).toEqual([times.scheduled_for]);
  }, 600_000);

  test("refuses a time that the clock skips, and asks for one of two that it shows alike", async () => {
    await using dashboard = await createBerlinDashboard();
    const plan = (scheduled_for: string, more = {}) =>
      dashboard.plan({ scheduled_for, scheduled_for_zone: ZONE, ...more });
    const skipped = await plan("2026-03-29T02:30");
    expect(fieldErrorsOn(skipped.text)["scheduled_for"]).toContain(
      "is skipped by the clock in Europe/Berlin",
    );
    const twice = await plan("2026-10-25T02:30");
    expect(fieldErrorsOn(twice.text)["scheduled_for"]).toContain("is shown twice");
    expect(typedIn(twice.text, "scheduled_for")).toEqual(["2026-10-25T02:30"]);
    const html = readHtml(twice.text);
    expect(html.texts('[name="scheduled_for_offset"] option')).toEqual([
      "Select one of the two",
      "First 02:30, CEST (00:30 UTC)",
      "Second 02:30, CET (01:30 UTC)",
    ]);
    const [, , second = ""] = html.attributes('[name="scheduled_for_offset"] option', "value");
    const made = await plan("2026-10-25T02:30", { scheduled_for_offset: second });
    expect(await dashboard.made(made)).toMatchObject({ scheduled_for: "2026-10-25T01:30:00.000Z" });
  });

  test("changes nothing without an edit, also not a time in the hour that the clock repeats", async () => {
    await using dashboard = await createBerlinDashboard();
    const times = {
      scheduled_for: "2026-10-25T01:30:20.500Z",
      scheduled_until: "2026-10-25T03:30:00Z",
    };
    const id = await dashboard.site.plan(times);
    const path = `${MAINTENANCE}/${id}/edit`;
    const { text } = await dashboard.open(path);
    const html = readHtml(text);
    expect(typedIn(text, "scheduled_for")).toEqual(["2026-10-25T02:30"]);
    const names = ["version", "name", "components", "auto_start", "auto_complete"];
    const zones = ["scheduled_for", "scheduled_until"].flatMap((name) => [name, `${name}_zone`]);
    const sent = Object.fromEntries(
      [...names, ...zones].map((name) => [name, typedIn(text, name)]),
    );
    const [offset = ""] = html.attributes('[name="scheduled_for_offset"] [selected]', "value");
    expect(offset).toBe("+01:00");
    const [remind_minutes_before = ""] = html.attributes(
      '[name="remind_minutes_before"] [selected]',
      "value",
    );
    const form = { ...sent, scheduled_for_offset: offset, remind_minutes_before };
    const before = await dashboard.site.get(id);
    expect((await dashboard.send(path, form)).status).toBe(303);
    expect(await dashboard.site.get(id)).toEqual(before);
    // The other pass is an hour earlier.
    await dashboard.send(path, { ...form, scheduled_for_offset: "+02:00" });
    expect(await dashboard.site.get(id)).toMatchObject({
      scheduled_for: "2026-10-25T00:30:00.000Z",
    });
  });

  test("repeats the time in the zone of the page and in UTC", async () => {
    await using dashboard = await createBerlinDashboard();
    await dashboard.site.app.page({ slug: "own", name: "Own", time_zone: "Asia/Kolkata" }, []);
    const id = await dashboard.site.plan({ page: "own", components: [] });
    const { text } = await dashboard.open(`${MAINTENANCE}/${id}/edit`);
    expect(typedIn(text, "scheduled_for")).toEqual(["2026-03-10T15:00"]);
    expect(readHtml(text).texts("#field-scheduled_for-zones")).toEqual([
      "Asia/Kolkata: Tue, 10 Mar 2026, 19:30 GMT+5:30 · UTC: Tue, 10 Mar 2026, 14:00 UTC",
    ]);
  });
});

describe("the note below a field for a date and time", () => {
  for (const { zone, says } of [
    { zone: "Europe/Berlin", says: "Europe/Berlin: Tue, 10 Mar 2026, 15:00 CET" },
    { zone: "Asia/Kolkata", says: "Asia/Kolkata: Tue, 10 Mar 2026, 19:30 GMT+5:30" },
    { zone: "Etc/UTC", says: "" },
  ]) {
    test(`the note below a stored time shows it in the time zone ${zone} of the page unless that is UTC`, async () => {
      await using dashboard = await createMaintenanceDashboard();
      const { site } = dashboard;
      await site.app.page({ slug: "own", name: "Own", time_zone: zone }, []);
      const id = await site.plan({ page: "own", components: [] });
      const { text } = await dashboard.open(`${MAINTENANCE}/${id}/edit`);
      const page = readHtml(text);
      expect(page.texts("#field-scheduled_for-zones")).toEqual([says]);
      expect(page.attributes("#field-scheduled_for", "aria-describedby")).toEqual([
        "field-scheduled_for-zones",
      ]);
    });
  }
});
