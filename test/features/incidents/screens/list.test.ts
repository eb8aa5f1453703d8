import { describe, expect, test } from "bun:test";
import { readHtml } from "../../../support/html";
import {
  createReportSite,
  INCIDENT_LIST,
  type ReportSite,
  REPORT,
} from "../../../support/report-dashboard";

const MINUTE = 60_000;

/** The list at an address below its own, read as a page. */
async function list(site: ReportSite, query = "", session = site.session) {
  const { status, text } = await site.app.call(`${INCIDENT_LIST}${query}`, { session });
  expect(status).toBe(200);
  return readHtml(text);
}

/** The names of the incidents in it, from the top. */
async function namesIn(site: ReportSite, query = "") {
  return (await list(site, query)).texts(".row-link");
}

/** One of each: open in three ways, a draft, and over. */
async function fillDemoData(site: ReportSite): Promise<void> {
  await site.open({ name: "Over", status: "resolved" });
  await site.open({
    name: "Found",
    status: "identified",
    components: { [site.api]: "major_outage" },
  });
  await site.open({ name: "Watched", status: "monitoring" });
  await site.report({ name: "Unpublished", intent: "draft" });
  await site.open({ name: "Over 100 %", status: "resolved" });
  await site.open({ name: "New" });
}

describe("the list of incidents", () => {
  test("the list of incidents shows open ones before past ones, each newest first, with drafts marked", async () => {
    await using site = await createReportSite();
    await fillDemoData(site);
    const page = await list(site);
    expect(page.texts(".row-link")).toEqual([
      "New",
      "Unpublished",
      "Watched",
      "Found",
      "Over 100 %",
      "Over",
    ]);
    expect(page.texts("tbody .chip")).toEqual([
      "No impact",
      "Draft",
      "No impact",
      "Critical impact",
      "No impact",
      "No impact",
    ]);
    expect(page.texts("tbody td:nth-child(3)")).toEqual([
      "Investigating just now",
      "Draft",
      "Monitoring just now",
      "Identified just now",
      "Resolved",
      "Resolved",
    ]);
  });

  test("the tabs of the list count the incidents that match the filters", async () => {
    await using site = await createReportSite();
    await fillDemoData(site);
    const tabsOf = async (query: string) => (await list(site, query)).texts(".tabs a");
    expect(await tabsOf("")).toEqual(["All 6", "Open 3", "Drafts 1", "Resolved 2"]);
    expect(await tabsOf("?impact=critical")).toEqual(["All 1", "Open 1", "Drafts 0", "Resolved 0"]);
    expect(await tabsOf("?q=over&show=monitoring")).toEqual([
      "All 2",
      "Open 0",
      "Drafts 0",
      "Monitoring",
      "Resolved 2",
    ]);
    const links = (await list(site, "?q=over&impact=none")).attributes(".tabs a", "href");
    expect(links[1]).toBe(`${INCIDENT_LIST}?q=over&impact=none&show=open`);
  });

  test("the list of incidents shows how long each lasted and when it started", async () => {
    await using site = await createReportSite();
    const { id } = await site.open({ name: "Over" });
    await site.app.clock.advance(45 * MINUTE);
    await site.update(id, { status: "resolved" });
    await site.open({ name: "Open" });
    await site.app.clock.advance(5 * MINUTE);
    const figures = (await list(site)).texts("td.numeric");
    expect(figures).toEqual(["5 min, open", "Today, 12:45", "45 min", "Today, 12:00"]);
    await site.app.clock.advance(13 * 60 * MINUTE);
    expect((await list(site)).texts("td.numeric").at(-1)).toBe("10 Mar, 12:00");
  });

  test("the list of incidents links to each one, and for editors to the report form", async () => {
    await using site = await createReportSite();
    const { id } = await site.open();
    const page = await list(site);
    expect(page.attributes(".row-link", "href")).toEqual([`${INCIDENT_LIST}/${id}`]);
    expect(page.attributes(".screen-head .button", "href")).toEqual([
      `${INCIDENT_LIST}/templates`,
      REPORT,
    ]);
    const viewer = await list(site, "", await site.app.signedIn("viewer"));
    expect(viewer.attributes(".row-link", "href")).toEqual([`${INCIDENT_LIST}/${id}`]);
    expect(viewer.attributes(".screen-head .button", "href")).toEqual([]);
  });

  test("the list of incidents can be filtered by impact, by component and by its name", async () => {
    await using site = await createReportSite();
    await site.open({ name: "First", components: { [site.api]: "major_outage" } });
    await site.open({ name: "Second", components: { [site.web]: "degraded_performance" } });
    await site.open({ name: "Third api" });
    expect(await namesIn(site, "?impact=critical")).toEqual(["First"]);
    expect(await namesIn(site, "?impact=none")).toEqual(["Third api"]);
    expect(await namesIn(site, "?impact=huge")).toHaveLength(3);
    expect(await namesIn(site, `?component=${site.web}`)).toEqual(["Second"]);
    expect(await namesIn(site, "?component=cmp_none")).toHaveLength(3);
    expect(await namesIn(site, "?q=API")).toEqual(["Third api", "First"]);
    const page = await list(site, `?component=${site.web}&impact=minor`);
    expect(page.texts("select[name=component] option")).toEqual(["Every component", "API", "Web"]);
    expect(page.attributes("option[selected]", "value")).toEqual(["minor", site.web, ""]);
    expect(page.texts(".list-count")).toEqual(["1 incident"]);
    expect(page.attributes(".list-clear", "href")).toEqual([INCIDENT_LIST]);
  });

  test("the list of incidents can be filtered by status, drafts and part of the name", async () => {
    await using site = await createReportSite();
    await fillDemoData(site);
    expect(await namesIn(site, "?show=open")).toEqual(["New", "Watched", "Found"]);
    expect(await namesIn(site, "?show=identified")).toEqual(["Found"]);
    expect(await namesIn(site, "?show=resolved")).toEqual(["Over 100 %", "Over"]);
    expect(await namesIn(site, "?show=drafts")).toEqual(["Unpublished"]);
    expect(await namesIn(site, "?q=%20OVER%20")).toEqual(["Over 100 %", "Over"]);
    expect(await namesIn(site, "?q=100%20%25")).toEqual(["Over 100 %"]);
    expect(await namesIn(site, "?q=o&show=monitoring")).toEqual([]);
    expect(await namesIn(site, "?show=nonsense&page=nowhere")).toHaveLength(6);
    expect((await list(site, "?q=mainframe")).texts(".empty h2")).toEqual([
      "No incidents match these filters",
    ]);
  });

  test("the headings order the list of incidents, also in the next part and with filters", async () => {
    await using site = await createReportSite();
    await fillDemoData(site);
    const page = await list(site, "?q=o&show=open");
    expect(page.attributes("th a", "href")).toEqual([
      `${INCIDENT_LIST}?q=o&show=open&sort=name`,
      `${INCIDENT_LIST}?q=o&show=open&sort=-impact`,
      `${INCIDENT_LIST}?q=o&show=open&sort=status`,
      `${INCIDENT_LIST}?q=o&show=open&sort=-duration`,
      `${INCIDENT_LIST}?q=o&show=open&sort=-started`,
    ]);
    expect(await namesIn(site, "?sort=name")).toEqual([
      "Found",
      "New",
      "Over",
      "Over 100 %",
      "Unpublished",
      "Watched",
    ]);
    expect(await namesIn(site, "?sort=-impact&show=open")).toEqual(["Found", "New", "Watched"]);
    expect(await namesIn(site, "?sort=-name&show=resolved")).toEqual(["Over 100 %", "Over"]);
    expect(await namesIn(site, "?sort=status&show=drafts")).toEqual(["Unpublished"]);
    expect(await namesIn(site, "?sort=name&show=identified")).toEqual(["Found"]);
    const ordered = await list(site, "?sort=-status");
    expect(ordered.texts(".row-link").slice(0, 3)).toEqual(["Over 100 %", "Over", "Watched"]);
    expect(ordered.attributes("th[aria-sort]", "aria-sort")).toEqual(["descending"]);
    expect(ordered.attributes(".tabs a", "href")[1]).toBe(
      `${INCIDENT_LIST}?show=open&sort=-status`,
    );
  });

  test("incidents by duration count that of an open one up to now, and each is listed once", async () => {
    await using site = await createReportSite();
    const long = await site.open({ name: "Long" });
    await site.app.clock.advance(30 * MINUTE);
    await site.update(long.id, { status: "resolved" });
    await site.open({ name: "Open" });
    for (let count = 10; count < 35; count++) {
      await site.open({ name: `Short ${count}`, status: "resolved" });
    }
    await site.app.clock.advance(10 * MINUTE);
    const first = await list(site, "?sort=-duration");
    expect(first.texts(".row-link").slice(0, 3)).toEqual(["Long", "Open", "Short 34"]);
    const [older = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await site.app.call(older, { session: site.session })).text);
    expect(second.texts(".row-link")).toEqual(["Short 11", "Short 10"]);
    expect(second.attributes(".pagination a", "href")).toEqual([`${INCIDENT_LIST}?sort=-duration`]);
  });

  test("with several pages, the list of incidents names the page of each and can be filtered by it", async () => {
    await using site = await createReportSite();
    await site.open({ name: "Here" });
    expect((await list(site)).texts("select[name=page]")).toEqual([]);
    await site.app.page({ slug: "shop", name: "The shop" });
    await site.open({ name: "There", page: "shop" });
    const all = await list(site);
    expect(all.texts(".row-link")).toEqual(["There", "Here"]);
    expect(all.texts("td:first-child .note")).toEqual([
      "The shop · No components",
      "Acme · No components",
    ]);
    expect(all.texts("select[name=component]")).toEqual([]);
    const one = await list(site, "?page=shop");
    expect(one.texts(".row-link")).toEqual(["There"]);
    expect(one.attributes("select[name=page] option[selected]", "value")).toEqual(["shop"]);
  });

  test("the pages of the list contain each incident once, even if one is reported in between", async () => {
    await using site = await createReportSite();
    for (let count = 0; count < 28; count++) {
      await site.open({ name: `Past ${count}`, status: "resolved" });
    }
    await site.open({ name: "Open" });
    const first = await list(site);
    expect(first.texts(".row-link").slice(0, 2)).toEqual(["Open", "Past 27"]);
    expect(first.texts(".row-link")).toHaveLength(25);
    const [older = ""] = first.attributes(".pagination a", "href");
    await site.open({ name: "Newer", status: "resolved" });
    const second = await list(site, older.replace(INCIDENT_LIST, ""));
    expect(second.texts(".row-link")).toEqual(["Past 3", "Past 2", "Past 1", "Past 0"]);
    expect(second.attributes(".pagination a", "href")).toEqual([INCIDENT_LIST]);
  });

  test("the list of incidents highlights an open incident without an update for an hour", async () => {
    await using site = await createReportSite();
    const { id } = await site.open({ name: "Silent" });
    await site.open({ name: "Over", status: "resolved" });
    const pointedAt = async () => (await list(site)).texts("td time.t-degraded");
    await site.app.clock.advance(59 * MINUTE);
    expect(await pointedAt()).toEqual([]);
    await site.app.clock.advance(MINUTE);
    expect(await pointedAt()).toEqual(["1 h ago"]);
    await site.update(id, {});
    expect(await pointedAt()).toEqual([]);
  });

  test("an empty list of incidents shows “No incidents yet” and has no search form", async () => {
    await using site = await createReportSite();
    const page = await list(site);
    expect(page.texts(".empty h2")).toEqual(["No incidents yet"]);
    expect(page.texts("form[role=search]")).toEqual([]);
  });

  test("the list of incidents requires a session", async () => {
    await using site = await createReportSite();
    expect((await site.app.call(INCIDENT_LIST)).status).toBe(401);
  });
});
