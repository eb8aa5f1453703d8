import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";
import { type HtmlPage, readHtml } from "../../../support/html";
import { openOverview } from "../../../support/overview";
import { createReportSite, type ReportSite, REPORT } from "../../../support/report-dashboard";
import { at, PLAN } from "../../../support/maintenance-site";

const MINUTE = 60_000;

test("the overview links to every page, also to a private one, which opens", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "shop" });
  await app.page({ slug: "inside", visibility: "private" });
  const session = await app.signedIn("viewer");
  const overview = readHtml((await app.call("/admin", { session })).text);
  const paths = overview.attributes("#pages .row-side a", "href");
  expect(paths.sort()).toEqual(["/status/inside", "/status/shop"]);
  for (const path of overview.attributes("#pages a", "href")) {
    expect((await app.call(path, { session })).status).toBe(200);
  }
});

async function overviewOf(site: ReportSite, session = site.session): Promise<HtmlPage> {
  return (await openOverview(site.app, session)).page;
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
  test("the overview without trouble has one line in place of the list, and one primary button", async () => {
    await using site = await createReportSite();
    const page = await overviewOf(site);
    expect(page.texts("#attention")).toEqual([
      "Nothing needs attention. What goes down, fails or expires soon appears here first.",
    ]);
    expect(page.texts("#pages .state")).toEqual(["All systems operational"]);
    expect(page.attributes("main .screen-head .button.primary", "href")).toEqual([REPORT]);
    expect(page.texts("main .screen-head .button")).toEqual([
      "Plan maintenance",
      "Report incident",
    ]);
  });

  test("the overview does not say that all is well while changes cannot be stored", async () => {
    await using site = await createReportSite();
    site.app.ctx.db.storage = () => ({ fault: "disk_full", isDamaged: false });
    const page = await overviewOf(site);
    expect(page.texts("#attention")).toEqual([]);
    expect(page.texts(".notice")).toHaveLength(1);
    expect(page.texts("#health h2")).not.toContain("All clear");
  });

  test("each block has an id by which it is replaced", async () => {
    await using site = await createReportSite();
    await site.open({ components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(MINUTE);
    const page = await overviewOf(site, await site.app.signedIn("admin"));
    expect(page.attributes("main [data-live]", "id").toSorted()).toEqual([
      "agents",
      "alarms",
      "busy",
      "changes",
      "incidents",
      "last-day",
      "now",
      "pages",
    ]);
  });

  test.each([
    ["viewer", 0],
    ["editor", 2],
  ] as const)("the overview of a %s has %i buttons and no changes", async (role, buttons) => {
    await using site = await createReportSite();
    await site.open({ name: "Errors" });
    const page = await overviewOf(site, await site.app.signedIn(role));
    expect(page.texts("#incidents .row-title")).toEqual(["Errors"]);
    expect(page.texts("#changes")).toEqual([]);
    expect(page.texts("main .screen-head .button")).toHaveLength(buttons);
  });

  test("the overview lists open incidents of all pages, last started first, with status and impact", async () => {
    await using site = await createReportSite();
    await site.app.page({ slug: "shop", name: "The shop" });
    const { id } = await site.open({ name: "Errors", components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(5 * MINUTE);
    await site.open({ name: "Slow", page: "shop" });
    await site.open({ name: "Over", status: "resolved" });
    await site.update(id, { status: "identified" });
    await site.app.clock.advance(3 * MINUTE);
    const page = await overviewOf(site);
    expect(page.texts("#incidents .row-title")).toEqual(["Slow", "Errors"]);
    expect(page.texts("#incidents .row-note")).toEqual([
      "Investigating · 3 min · The shop",
      "Identified · 8 min · API · Acme",
    ]);
    expect(page.texts("#incidents .chip")).toEqual(["No impact", "Critical impact"]);
    await site.update(id, { status: "resolved" });
    expect((await overviewOf(site)).texts("#incidents .row-title")).toEqual(["Slow"]);
  });

  test("the overview lists ten open incidents and links to all of them", async () => {
    await using site = await createReportSite();
    for (let count = 0; count < 11; count++) await site.open({ name: `Errors ${count}` });
    const page = await overviewOf(site);
    expect(page.texts("#incidents .row-title")).toHaveLength(10);
    expect(page.texts('#incidents a[href="/admin/incidents?show=open"]')).toEqual([
      "All 11 open incidents",
    ]);
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
    expect(page.texts("#attention .row-title")).toEqual([]);
    expect(page.texts("#incidents .row-title")).toEqual(["Begun", "Next", "Later"]);
    expect(page.attributes("#incidents .row-title a", "href")[0]).toBe(
      `/admin/maintenance/${begun}`,
    );
    expect(page.texts("#incidents .chip")).toEqual(["In progress", "In 2 h", "In 8 h"]);
    expect(page.texts("#incidents .row-note")[0]).toBe("Planned to end in 3 h · API");
  });

  test("the overview shows admins the latest changes with links to their objects", async () => {
    await using site = await createReportSite();
    const { id } = await site.open({ name: "Errors" });
    const page = await overviewOf(site, await site.app.signedIn("admin"));
    expect(page.texts("#changes .row-title")).toContain("Opened the incident “Errors”");
    expect(page.attributes("#changes .row-title a", "href")).toContain(`/admin/incidents/${id}`);
    expect(page.attributes("#changes .card-head a", "href")).toEqual(["/admin/settings/activity"]);
  });
});
