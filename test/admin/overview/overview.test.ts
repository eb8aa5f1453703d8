import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../support/app";
import { type HtmlPage, readHtml } from "../../support/html";
import { createReportSite, type ReportSite, REPORT } from "../../support/report-dashboard";
import { at, PLAN } from "../../support/maintenance-site";

const MINUTE = 60_000;

test("the overview links to every page, also to a private one, which opens", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "shop" });
  await app.page({ slug: "inside", visibility: "private" });
  const session = await app.signedIn("viewer");
  const overview = readHtml((await app.call("/admin", { session })).text);
  const paths = overview.attributes("tbody a", "href");
  expect(paths.sort()).toEqual(["/status/inside", "/status/shop"]);
  for (const path of paths) expect((await app.call(path, { session })).status).toBe(200);
});

async function overviewOf(site: ReportSite, session = site.session): Promise<HtmlPage> {
  return readHtml((await site.app.call("/admin", { session })).text);
}

/** Plans a maintenance on the page and answers its id. */
async function plan(site: ReportSite, input: Record<string, unknown>): Promise<string> {
  const key = await site.app.keyWith("write:maintenance", "read:status");
  const json = { ...PLAN, components: [site.api], ...input };
  const answer = await site.app.call("/api/v1/maintenance", { method: "POST", key, json });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

describe("the overview", () => {
  test("the overview without open incidents shows the pages and one button to report an incident", async () => {
    await using site = await createReportSite();
    const page = await overviewOf(site);
    expect(page.texts("main h2")).toEqual(["Pages"]);
    expect(page.texts("main .state")).toEqual(["All systems operational"]);
    expect(page.attributes("main .button.primary", "href")).toEqual([REPORT]);
    expect(page.texts("main .button")).toEqual(["Report an incident"]);
  });

  test("the overview shows a viewer the same without buttons", async () => {
    await using site = await createReportSite();
    await site.open({ name: "Errors" });
    const page = await overviewOf(site, await site.app.signedIn("viewer"));
    expect(page.texts("main .button")).toEqual([]);
    expect(page.texts(".row-link")).toEqual(["Errors"]);
  });

  test("the overview lists open incidents of all pages, last started first, with the age of the last update", async () => {
    await using site = await createReportSite();
    await site.app.page({ slug: "shop", name: "The shop" });
    const { id } = await site.open({ name: "Errors", components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(5 * MINUTE);
    await site.open({ name: "Slow", page: "shop" });
    await site.open({ name: "Over", status: "resolved" });
    await site.update(id, { status: "identified" });
    await site.app.clock.advance(3 * MINUTE);
    const page = await overviewOf(site);
    expect(page.texts("main h2")).toEqual(["Open incidents", "Pages"]);
    expect(page.texts(".row-link")).toEqual(["Slow", "Errors"]);
    expect(page.texts("td:first-child .cell-note").slice(0, 2)).toEqual(["The shop", "Acme · API"]);
    expect(page.texts('td[data-label="Started"] time')).toEqual(["3 min ago", "8 min ago"]);
    expect(page.texts('td[data-label="Last update"] time')).toEqual(["3 min ago", "3 min ago"]);
    expect(page.texts("tbody .state")).toContain("Major system outage");
    await site.update(id, { status: "resolved" });
    expect((await overviewOf(site)).texts(".row-link")).toEqual(["Slow"]);
  });

  test("the overview lists ten open incidents and links to all of them", async () => {
    await using site = await createReportSite();
    for (let count = 0; count < 11; count++) await site.open({ name: `Errors ${count}` });
    const page = await overviewOf(site);
    expect(page.texts(".row-link")).toHaveLength(10);
    expect(page.texts('a[href="/admin/incidents?show=open"]')).toEqual(["All 11 open incidents"]);
  });

  test("the overview lists maintenance under way, then upcoming maintenance", async () => {
    await using site = await createReportSite();
    const begun = await plan(site, { name: "Begun" });
    await plan(site, {
      name: "Later",
      scheduled_for: at("20:00:00"),
      scheduled_until: at("21:00:00"),
    });
    await plan(site, { name: "Next" });
    const key = await site.app.keyWith("write:maintenance", "read:status");
    const json = { status: "in_progress", body: "We begin early." };
    const path = `/api/v1/maintenance/${begun}/updates`;
    expect((await site.app.call(path, { method: "POST", key, json })).status).toBe(201);
    const page = await overviewOf(site);
    expect(page.texts("main h2")).toEqual(["Maintenance", "Pages"]);
    expect(page.texts(".row-link")).toEqual(["Begun", "Next", "Later"]);
    expect(page.attributes(".row-link", "href")[0]).toBe(`/admin/maintenance/${begun}`);
    expect(page.texts('td[data-label="Time"]')).toEqual([
      "Planned to end in 3 h",
      "Starts in 2 h",
      "Starts in 8 h",
    ]);
  });

  test("the overview counts drafts separately from open incidents", async () => {
    await using site = await createReportSite();
    await site.report({ intent: "draft" });
    const page = await overviewOf(site);
    expect(page.texts(".row-link")).toEqual([]);
    expect(page.texts('a[href="/admin/incidents?show=drafts"]')).toEqual(["1 incident is a draft"]);
  });
});
