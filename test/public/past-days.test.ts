import { describe, expect, test } from "bun:test";
import { createPageTimes } from "../../src/public/page-times";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";

/** Days that readers of a time zone see: their first moment in UTC, and the last one of the day before. */
const DAYS: readonly [zone: string, day: string, start: string][] = [
  ["UTC", "2026-03-10", "2026-03-10T00:00:00.000Z"],
  ["Europe/Berlin", "2026-03-10", "2026-03-09T23:00:00.000Z"],
  ["Europe/Berlin", "2026-07-10", "2026-07-09T22:00:00.000Z"],
  ["America/Los_Angeles", "2026-03-10", "2026-03-10T07:00:00.000Z"],
  ["Asia/Kathmandu", "2026-03-10", "2026-03-09T18:15:00.000Z"],
  ["Pacific/Kiritimati", "2026-03-10", "2026-03-09T10:00:00.000Z"],
  ["Etc/GMT+12", "2026-03-10", "2026-03-10T12:00:00.000Z"],
  // The clock skips the hour after midnight there.
  ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z"],
];

describe("the days of a page's time zone", () => {
  test.each(DAYS)("in %s the day %s begins at %s", (zone, day, start) => {
    const { dayOf, startOf } = createPageTimes({ locale: "en", time_zone: zone });
    const named = Date.parse(`${day}T00:00:00Z`);
    expect(toIso(startOf(named))).toBe(start);
    expect(dayOf(Date.parse(start))).toBe(named);
    expect(dayOf(Date.parse(start) - 1)).toBe(named - DAY_MS);
  });

  // It is 10 March 2026, 12:00 UTC.
  test.each([
    ["UTC", ["TodayEarly", "9 MarLate", "8 MarFirst"]],
    ["Europe/Berlin", ["TodayEarly", "Late", "8 MarFirst"]],
    ["America/New_York", ["TodayNo incidents or maintenance", "9 MarEarly", "Late", "7 MarFirst"]],
    [
      "Pacific/Kiritimati",
      ["TodayNo incidents or maintenance", "10 MarEarly", "Late", "8 MarFirst"],
    ],
  ])("the status page in %s lists the past by the days of the zone", async (zone, expected) => {
    await using site = await createPublicSite({ time_zone: zone });
    const past = (name: string, from: string, minutes: number) =>
      site.open({
        name,
        started_at: from,
        resolved_at: toIso(Date.parse(from) + minutes * 60_000),
      });
    await past("Late", "2026-03-09T23:30:00Z", 5);
    await past("Early", "2026-03-10T00:30:00Z", 5);
    await past("First", "2026-03-08T01:00:00Z", 5);
    const lines = readHtml((await site.app.call("/status/acme")).text)
      .texts("#past li")
      .map((line) => line.replace("No impact · Resolved5 min", ""));
    expect(lines.slice(0, expected.length)).toEqual(expected);
  });

  test.each([
    ["UTC", "2026-02-24T23:59:59Z", "2026-02-25T00:00:00Z"],
    ["Europe/Berlin", "2026-02-24T22:59:59Z", "2026-02-24T23:00:00Z"],
    ["America/New_York", "2026-02-25T04:59:59Z", "2026-02-25T05:00:00Z"],
  ])("the status page in %s shows what ended within 14 days there", async (zone, late, early) => {
    await using site = await createPublicSite({ time_zone: zone });
    const started_at = "2026-02-20T12:00:00Z";
    await site.open({ name: "Too old", started_at, resolved_at: late });
    await site.open({ name: "Old", started_at, resolved_at: early });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts("#past .entry a")).toEqual(["Old"]);
  });

  test("the history in a time zone has the entries of its month, and starts with the present one there", async () => {
    await using site = await createPublicSite({ time_zone: "Pacific/Kiritimati" });
    const { app } = site;
    const past = (name: string, from: string) =>
      site.open({ name, started_at: from, resolved_at: toIso(Date.parse(from) + HOUR_MS) });
    await past("Last of February", "2026-02-28T09:59:59Z");
    await past("First of March", "2026-02-28T10:00:00Z");
    const read = async (query: string) =>
      readHtml((await app.call(`/status/acme/history${query}`)).text);
    expect((await read("?month=2026-02")).texts(".past .entry a")).toEqual(["Last of February"]);
    expect((await read("?month=2026-03")).texts(".past .entry a")).toEqual(["First of March"]);
    expect((await app.call("/status/acme/history?month=2026-04")).status).toBe(404);
    await app.clock.advance(Date.parse("2026-03-31T10:00:00Z") - app.clock.now());
    expect((await read("")).texts("h1")).toEqual(["History, April 2026"]);
    expect((await read("?month=2026-03")).attributes("a[rel=next]", "href")).toEqual([
      "/status/acme/history?month=2026-04",
    ]);
  });

  test("a feed shows its times in the page's time zone too", async () => {
    await using site = await createPublicSite({ time_zone: "Europe/Berlin" });
    await site.open({ name: "Late", started_at: "2026-03-09T23:30:00Z" });
    const { text } = await site.app.call("/status/acme/feed.atom");
    expect(text).toContain("9 Mar 2026, 23:30 UTC · 10 Mar 2026, 00:30 CET");
  });

  test("the page says that uptime is counted in UTC days", async () => {
    await using site = await createPublicSite({ time_zone: "Europe/Berlin" });
    const { text } = await site.app.call("/status/acme");
    expect(text).toContain("Uptime is counted in UTC days.");
    expect(text).toContain("Days begin at midnight UTC.");
  });
});
