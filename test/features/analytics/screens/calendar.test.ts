import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard } from "../../../support/monitor-dashboard";

const CALENDAR = "/admin/analytics/calendar";

/** A page whose component was down for six hours of 2 March 2026, the day after its creation. */
async function withOutage() {
  const dashboard = await createMonitorDashboard("viewer");
  const { app, site } = dashboard;
  const start = app.clock.now();
  const api = site.components["API"] ?? "";
  const key = await app.keyWith("write:incidents");
  await app.clock.advance(DAY_MS);
  const json = { page: "acme", name: "API is <down>", body: "x" };
  await app.call("/api/v1/incidents", {
    method: "POST",
    key,
    json: { ...json, components: { [api]: "major_outage" } },
  });
  await app.clock.advance(6 * HOUR_MS);
  return { dashboard, start, session: await app.signedIn("viewer") };
}

describe("the calendar", () => {
  test("the calendar shows the days of the current month with uptime, worst status and incidents", async () => {
    const { dashboard, session } = await withOutage();
    await using _ = dashboard;
    const today = new Date(dashboard.app.clock.now()).getUTCDate();
    const page = readHtml((await dashboard.app.call(CALENDAR, { session })).text);
    expect(page.texts("h2")[0]).toStartWith("March 2026");
    const shares = page.texts(".calendar-share");
    expect(shares).toHaveLength(today);
    expect(shares.at(-1)).toStartWith("Major outage, uptime");
    expect(shares.at(-2)).toMatch(/^Operational, uptime100 %$/);
    // Days before the creation of the components.
    if (today > 2) expect(shares[0]).toBe("No data");
    expect(page.texts(".calendar [aria-current=date] .calendar-number")).toEqual([`${today}`]);
    expect(page.texts(".calendar td li a")).toEqual(["API is <down>"]);
    expect(page.texts("#calendar-entries .detail-name")).toEqual(["API is <down>"]);
    expect(page.texts("#calendar-entries .chip")).toEqual(["Critical impact"]);
  });

  test("the calendar of a month is opened by its link, and of an unknown or future month is the current one", async () => {
    const { dashboard, session } = await withOutage();
    await using _ = dashboard;
    const { app } = dashboard;
    const titleOf = async (query: string) =>
      readHtml((await app.call(CALENDAR + query, { session })).text).texts("h2")[0];
    expect(await titleOf("?month=2026-02")).toStartWith("February 2026");
    for (const month of ["2026-04", "2026-13", "x", "1969-12"]) {
      expect(await titleOf(`?month=${month}`)).toStartWith("March 2026");
    }
    const early = readHtml((await app.call(`${CALENDAR}?month=2026-02`, { session })).text);
    expect(early.texts(".calendar-share").every((share) => share === "No data")).toBe(true);
    // Nothing is known before the creation of the page.
    expect(early.attributes(".calendar-months a", "rel")).toEqual(["next"]);
    expect(early.texts("#calendar-entries")).toEqual([]);
    expect(early.texts("p.muted")).toContain(
      "No incident or maintenance started in February 2026.",
    );
  });

  test("the calendar of the first moment of a month shows no day yet", async () => {
    const { dashboard } = await withOutage();
    await using _ = dashboard;
    const { app } = dashboard;
    await app.clock.advance(Date.UTC(2026, 3) - app.clock.now());
    const session = await app.signedIn("viewer");
    await app.clock.advance(Date.UTC(2026, 3) - app.clock.now());
    const page = readHtml((await app.call(CALENDAR, { session })).text);
    expect(page.texts("h2")[0]).toStartWith("April 2026");
    expect(page.texts(".calendar-number")).toHaveLength(30);
  });

  test("the calendar shows one page, which the filter changes together with the month", async () => {
    const { dashboard, session } = await withOutage();
    await using _ = dashboard;
    const { app } = dashboard;
    await app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const { text } = await app.call(`${CALENDAR}?page=second&month=2026-02`, { session });
    const page = readHtml(text);
    expect(page.texts("main select option")).toEqual(["Acme", "Second"]);
    expect(page.attributes("main form input[name=month]", "value")).toEqual(["2026-02"]);
    expect(page.attributes(".calendar-months a", "href")).toEqual([
      `${CALENDAR}?page=second&month=2026-03`,
    ]);
    expect(page.texts(".calendar li")).toEqual([]);
  });
});

test("the calendar has the days of the user's time zone, with the uptime of their hours", async () => {
  const { dashboard, session } = await withOutage();
  await using _ = dashboard;
  const { app } = dashboard;
  // Six hours from noon in UTC on are the night of the next day in Auckland.
  const sharesIn = async (time_zone: string) => {
    await app.call("/admin/settings/account/time-zone", { session, form: { time_zone } });
    const html = readHtml((await app.call(CALENDAR, { session })).text);
    return html
      .texts(".calendar-share")
      .map((share, index) => ({ day: index + 1, share }))
      .filter(({ share }) => share.startsWith("Major outage"))
      .map(({ day }) => day);
  };
  const utcDay = new Date(app.clock.now()).getUTCDate();
  expect(await sharesIn("UTC")).toEqual([utcDay]);
  expect(await sharesIn("Pacific/Auckland")).toEqual([utcDay + 1]);
  const html = readHtml((await app.call(CALENDAR, { session })).text);
  expect(html.texts(".calendar [aria-current=date] .calendar-number")).toEqual([`${utcDay + 1}`]);
});
