import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDateTimeInput } from "../../../src/ui/forms/fields";
import { readHtml } from "../../support/html";
import { createMaintenanceDashboard, MAINTENANCE } from "../../support/maintenance-dashboard";

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
