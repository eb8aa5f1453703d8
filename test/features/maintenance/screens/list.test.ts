import { describe, expect, test } from "bun:test";
import { deletePage } from "../../../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { readHtml } from "../../../support/html";
import { createTestApp } from "../../../support/app";
import {
  createMaintenanceDashboard,
  MAINTENANCE,
  NEW_PLAN,
} from "../../../support/maintenance-dashboard";
import { at } from "../../../support/maintenance-site";

/** The names in a list with the words of their statuses. */
function rowsOf(html: string): string[] {
  const page = readHtml(html);
  const words = page.texts("tbody .chip");
  return page.texts(".row-link").map((name, index) => `${name}: ${words[index]}`);
}

describe("the list of maintenance", () => {
  test("the list of maintenance shows what is under way, then upcoming by start, then past", async () => {
    await using dashboard = await createMaintenanceDashboard("viewer");
    const { site } = dashboard;
    const later = { scheduled_for: at("20:00:00"), scheduled_until: at("21:00:00") };
    await site.plan({ name: "Later", ...later });
    await site.plan({ name: "Sooner" });
    const started = await site.plan({ name: "Started" });
    await site.update(started, { status: "in_progress", body: "Now." });
    const done = await site.plan({ name: "Done" });
    await site.update(done, { status: "in_progress", body: "Now." });
    await site.update(done, { status: "completed", body: "Done." });
    await site.cancel(await site.plan({ name: "Dropped" }));
    const { text } = await dashboard.open(MAINTENANCE);
    expect(rowsOf(text)).toEqual([
      "Started: In progress",
      "Sooner: Scheduled",
      "Later: Scheduled",
      "Dropped: Cancelled",
      "Done: Completed",
    ]);
    expect(readHtml(text).texts(".tabs a")).toEqual([
      "All 5",
      "In progress 1",
      "Upcoming 2",
      "Past 2",
    ]);
    const names = async (query: string) =>
      readHtml((await dashboard.open(MAINTENANCE + query)).text).texts(".row-link");
    expect(await names("?show=in_progress")).toEqual(["Started"]);
    expect(await names("?show=upcoming")).toEqual(["Sooner", "Later"]);
    expect(await names("?show=past")).toEqual(["Dropped", "Done"]);
    expect(await names("?show=past&q=DONE")).toEqual(["Done"]);
    expect(await names("?q=mainframe")).toEqual([]);
    expect(await names("?show=nonsense")).toHaveLength(5);
    expect(readHtml(text).attributes(".row-link", "href")).toContain(`${MAINTENANCE}/${started}`);
  });

  test("the headings order the list of maintenance in each of its views", async () => {
    await using dashboard = await createMaintenanceDashboard("viewer");
    const { site } = dashboard;
    const later = { scheduled_for: at("20:00:00"), scheduled_until: at("20:10:00") };
    await site.plan({ name: "brief", ...later });
    await site.plan({ name: "Sooner" });
    await site.cancel(await site.plan({ name: "Dropped" }));
    const open = async (query: string) =>
      readHtml((await dashboard.open(MAINTENANCE + query)).text);
    const names = async (query: string) => (await open(query)).texts(".row-link");
    expect(await names("?sort=name")).toEqual(["brief", "Dropped", "Sooner"]);
    expect(await names("?sort=-name&show=upcoming")).toEqual(["Sooner", "brief"]);
    expect(await names("?sort=-planned")).toEqual(["brief", "Dropped", "Sooner"]);
    expect(await names("?sort=duration&show=upcoming")).toEqual(["brief", "Sooner"]);
    expect(await names("?sort=-status&q=o")).toEqual(["Dropped", "Sooner"]);
    expect(await names("?sort=name&show=past")).toEqual(["Dropped"]);
    const page = await open("?sort=-planned&show=upcoming");
    expect(page.attributes("th[aria-sort]", "aria-sort")).toEqual(["descending"]);
    expect(page.attributes("select[name=sort] option[selected]", "value")).toEqual(["-planned"]);
  });

  test("the list of maintenance shows times in UTC and in the time zone of the page", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { app } = dashboard.site;
    await app.page({ slug: "tokyo", name: "Tokyo", time_zone: "Asia/Tokyo" }, []);
    await dashboard.site.plan({ page: "tokyo", components: [] });
    const { text } = await dashboard.open(`${MAINTENANCE}?page=tokyo`);
    expect(text).toContain("Tue, 10 Mar 2026, 14:00–15:00 UTC");
    expect(text).toContain("Tue, 10 Mar 2026, 23:00 GMT+9 – Wed, 11 Mar 2026, 00:00 GMT+9");
  });

  test("the search finds maintenance by the name of a component", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    await site.plan({ name: "With", components: [site.ids["API"]] });
    await site.plan({ name: "Without", components: [] });
    const page = readHtml((await dashboard.open(`${MAINTENANCE}?q=api`)).text);
    expect(page.texts(".row-link")).toEqual(["With"]);
    expect(page.texts(".list-count")).toEqual(["1 maintenance"]);
  });

  test("the list of maintenance can be filtered by page", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    await site.app.page({ slug: "second", name: "Second" }, []);
    await site.plan({ name: "First's" });
    await site.plan({ name: "Second's", page: "second", components: [] });
    const rows = async (query: string) =>
      readHtml((await dashboard.open(MAINTENANCE + query)).text).texts(".row-link");
    expect(await rows("")).toEqual(["First's", "Second's"]);
    expect(await rows("?page=second")).toEqual(["Second's"]);
    expect(await rows("?page=none")).toEqual(["First's", "Second's"]);
  });

  test("the list of maintenance is paginated, each past one shown once", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    for (let number = 1; number <= 28; number++) {
      await site.cancel(await site.plan({ name: `Old ${number}` }));
    }
    await site.plan({ name: "Coming" });
    const first = readHtml((await dashboard.open(MAINTENANCE)).text);
    const [older = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await dashboard.open(older)).text);
    expect(first.texts(".row-link").slice(0, 2)).toEqual(["Coming", "Old 28"]);
    expect(first.texts(".row-link")).toHaveLength(25);
    expect(second.texts(".row-link")).toEqual(["Old 4", "Old 3", "Old 2", "Old 1"]);
    expect(second.attributes(".pagination a", "href")).toEqual([MAINTENANCE]);
  });

  test("a part after the last maintenance says that there is none older", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const only = await site.plan({ name: "Only" });
    await site.cancel(only);
    const page = readHtml((await dashboard.open(`${MAINTENANCE}?before=${only}`)).text);
    expect(page.texts(".empty h2")).toEqual(["No older maintenance"]);
    expect(page.attributes(".empty a", "href")).toEqual([MAINTENANCE]);
  });

  test("only views with upcoming maintenance say that more is planned than listed", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const started = await site.plan({ name: "Started" });
    await site.update(started, { status: "in_progress", body: "Now." });
    for (let number = 1; number <= 100; number++) await site.plan({ name: `Next ${number}` });
    const textOf = async (show: string) =>
      readHtml((await dashboard.open(`${MAINTENANCE}?show=${show}`)).text).texts("main p");
    const more = "Only the next 99 of 100 upcoming ones are listed.";
    expect(await textOf("all")).toContain(more);
    expect(await textOf("upcoming")).toContain(more);
    expect((await textOf("in_progress")).join()).not.toContain("are listed");
    expect((await textOf("past")).join()).not.toContain("are listed");
  });

  test("an empty list of maintenance offers editors to plan some", async () => {
    await using dashboard = await createMaintenanceDashboard("editor");
    const forEditors = readHtml((await dashboard.open(MAINTENANCE)).text);
    expect(forEditors.texts(".empty h2")).toEqual(["No maintenance yet"]);
    expect(forEditors.attributes(".empty a", "href")).toEqual([NEW_PLAN]);
    const session = await dashboard.site.app.signedIn("viewer");
    const { text } = await dashboard.site.app.call(MAINTENANCE, { session });
    expect(readHtml(text).texts(".empty h2")).toEqual(["No maintenance yet"]);
    expect(readHtml(text).attributes("main a", "href")).toEqual([
      `${MAINTENANCE}/schedules`,
      `${MAINTENANCE}/calendar`,
    ]);
  });

  test("the list of maintenance excludes deleted pages", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const id = await site.plan();
    await site.app.page({ slug: "second", name: "Second" }, []);
    await site.app.ctx.db.write((tx) => deletePage(site.app.ctx, tx, site.page.id, CLI_ACTOR));
    const list = await dashboard.open(MAINTENANCE);
    expect(readHtml(list.text).texts(".row-link")).toEqual([]);
    expect((await dashboard.open(`${MAINTENANCE}/${id}`)).status).toBe(404);
  });
});

describe("the maintenance calendar", () => {
  test("the calendar opens on the month of the next maintenance, of the chosen page, and else on the present month", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site } = dashboard;
    const monthOf = async (query = "") =>
      readHtml((await dashboard.open(`${MAINTENANCE}/calendar${query}`)).text).texts("h2")[0];
    expect(await monthOf()).toStartWith("March 2026");
    await site.plan({
      scheduled_for: "2026-05-20T10:00:00Z",
      scheduled_until: "2026-05-20T12:00:00Z",
    });
    expect(await monthOf()).toStartWith("May 2026");
    expect(await monthOf("?month=2026-04")).toStartWith("April 2026");
    await site.app.page({ slug: "second", name: "Second" }, []);
    expect(await monthOf("?page=second")).toStartWith("March 2026");
    await site.plan({
      scheduled_for: "2026-03-28T10:00:00Z",
      scheduled_until: "2026-03-28T12:00:00Z",
    });
    expect(await monthOf()).toStartWith("March 2026");
  });
});

describe("maintenance without a status page", () => {
  for (const role of ["admin", "editor"] as const) {
    test(`without a status page, list and form of maintenance tell an ${role} what to do first`, async () => {
      await using app = await createTestApp();
      const session = await app.signedIn(role);
      for (const path of [MAINTENANCE, NEW_PLAN]) {
        const { status, text } = await app.call(path, { session });
        const page = readHtml(text);
        expect(status).toBe(200);
        expect(page.texts(".empty h2")).toEqual(["No status page yet"]);
        expect(page.attributes(".empty a", "href")).toEqual(
          role === "admin" ? ["/admin/pages/new"] : [],
        );
      }
      const sent = await app.call(NEW_PLAN, { session, form: { name: "Too early" } });
      expect(readHtml(sent.text).texts(".empty h2")).toEqual(["No status page yet"]);
      expect(app.events()).toEqual([]);
    });
  }
});

describe("the calendar of maintenance", () => {
  test("has the days and times of the user's time zone, and one of UTC by default", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const { site, open, send } = dashboard;
    await site.plan({
      name: "At midnight",
      scheduled_for: "2026-03-31T22:30:00Z",
      scheduled_until: "2026-03-31T23:30:00Z",
    });
    const linksOf = async (month: string) =>
      readHtml((await open(`${MAINTENANCE}/calendar?month=${month}`)).text).texts(
        ".calendar td li a",
      );
    expect(await linksOf("2026-03")).toEqual(["22:30 At midnight"]);
    expect(await linksOf("2026-04")).toEqual([]);
    await send("/admin/settings/account/time-zone", { time_zone: "Europe/Berlin" });
    expect(await linksOf("2026-03")).toEqual([]);
    expect(await linksOf("2026-04")).toEqual(["00:30 At midnight"]);
    const { text } = await open(`${MAINTENANCE}/calendar?month=2026-04`);
    expect(text).toContain("Planned times in Europe/Berlin.");
    expect(readHtml(text).texts("td.t-maint .calendar-number")).toEqual(["1"]);
    expect(readHtml(text).texts("#plan-calendar-entries li").join()).toContain(
      "1 Apr 2026, 00:30 · 1 h",
    );
  });
});
