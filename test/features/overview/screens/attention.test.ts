import { describe, expect, test } from "bun:test";
import { SERVER_OFFLINE } from "../../../../src/features/monitors/engine/stalls";
import { saveCertificate } from "../../../../src/features/monitors/store";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard, type MonitorDashboard } from "../../../support/monitor-dashboard";
import { openOverview } from "../../../support/overview";
import { createReportSite, REPORT } from "../../../support/report-dashboard";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const overviewOf = ({ app, session }: Pick<MonitorDashboard, "app" | "session">) =>
  openOverview(app, session);

describe("monitors that need attention", () => {
  test("a monitor that is down is named once with its components, the time and the report form", async () => {
    await using site = await createMonitorDashboard();
    const { API: api = "" } = site.site.components;
    const id = await site.make({ component_ids: [api] });
    const now = site.app.clock.now();
    await site.record(id, [now - 42 * MINUTE, null]);
    await site.applyTransition(id, "down", now - 42 * MINUTE);
    const { page, titles, notes, actions } = await overviewOf(site);
    expect(titles).toEqual(["Shop Down for 42 min"]);
    expect(notes).toEqual([
      "Monitor · shop.example.com: Refused. It marks API (partial outage). Acknowledge",
    ]);
    expect(page.attributes("#attention .row-title a", "href")).toEqual([`/admin/monitors/${id}`]);
    expect(page.attributes("#attention .row-note a", "href")).toEqual([
      `/admin/components/${api}`,
      `/admin/monitors/${id}/acknowledge`,
    ]);
    expect(actions).toEqual([`${REPORT}?page=${site.site.page.id}&component=${api}`]);
    expect(page.attributes("#attention .shape", "class")).toEqual(["shape t-major"]);
  });

  test("a monitor without components says that the public page does not show its outage", async () => {
    await using site = await createMonitorDashboard();
    const id = await site.make();
    await site.applyTransition(id, "down", site.app.clock.now() - 90_000);
    const { titles, notes } = await overviewOf(site);
    expect(titles).toEqual(["Shop Down for 1 min"]);
    expect(notes[0]).toContain("It marks no component: the public page does not show this.");
  });

  test("a slow monitor comes after one that is down, with its response time", async () => {
    await using site = await createMonitorDashboard();
    const now = site.app.clock.now();
    const slow = await site.make({ name: "Slow one", degraded_after_ms: 500 });
    await site.record(slow, [now - MINUTE, 1_800]);
    await site.applyTransition(slow, "degraded", now - MINUTE);
    const down = await site.make({ name: "Down one" });
    await site.applyTransition(down, "down", now - HOUR);
    const { titles, notes } = await overviewOf(site);
    expect(titles).toEqual(["Down one Down for 1 h", "Slow one Slow for 1 min"]);
    expect(notes[1]).toContain("shop.example.com responds in 1.8 s.");
  });

  test("monitors that are up, paused, in maintenance or without data need no attention", async () => {
    await using site = await createMonitorDashboard();
    const now = site.app.clock.now();
    for (const state of ["up", "maintenance", "no_data"] as const) {
      // oxlint-disable-next-line no-await-in-loop
      await site.applyTransition(await site.make(), state, now - MINUTE);
    }
    await site.make();
    const { titles, page } = await overviewOf(site);
    expect(titles).toEqual([]);
    expect(page.texts("#attention")).toHaveLength(1);
  });

  test("a certificate that expires within 14 days is named, a later one and that of a paused monitor are not", async () => {
    await using site = await createMonitorDashboard();
    const now = site.app.clock.now();
    const certificate = async (name: string, expiresAt: number) => {
      const id = await site.make({ name });
      const { num: monitorNum } = site.stored(id).row;
      await site.app.ctx.db.write((tx) =>
        saveCertificate(tx, { monitorNum, certificateExpiresAt: expiresAt }),
      );
      return id;
    };
    await certificate("Soon", now + 9 * DAY);
    await certificate("Later", now + 14 * DAY);
    await certificate("Over", now - 2 * DAY);
    const paused = await certificate("Paused", now + DAY);
    await site.applyTransition(paused, "paused", now);
    const down = await certificate("Down", now + DAY);
    await site.applyTransition(down, "down", now - MINUTE);
    const { titles } = await overviewOf(site);
    expect(titles).toEqual([
      "Down Down for 1 min",
      "Over Certificate expired 2 days ago",
      "Soon Certificate expires in 9 days",
    ]);
  });

  test("a time in which the server was offline is named for a day", async () => {
    await using site = await createMonitorDashboard();
    const id = await site.make();
    await site.app.clock.advance(4 * HOUR);
    const now = site.app.clock.now();
    await site.applyTransition(id, "no_data", now - 3 * HOUR, SERVER_OFFLINE);
    await site.applyTransition(id, "up", now - 90 * MINUTE);
    const before = await site.app.signedIn("admin");
    expect((await openOverview(site.app, before)).titles).toEqual([
      "Allclear Offline for 1 h 30 min",
    ]);
    await site.app.clock.advance(22 * HOUR);
    const later = await site.app.signedIn("admin");
    expect((await openOverview(site.app, later)).titles).toHaveLength(1);
    await site.app.clock.advance(HOUR);
    const session = await site.app.signedIn("admin");
    expect((await openOverview(site.app, session)).titles).toEqual([]);
  });

  test("a server that was offline for longer than a day says so after its return", async () => {
    await using site = await createMonitorDashboard();
    const id = await site.make();
    await site.app.clock.advance(4 * DAY);
    const now = site.app.clock.now();
    await site.applyTransition(id, "no_data", now - 3 * DAY, SERVER_OFFLINE);
    await site.applyTransition(id, "up", now - HOUR);
    const { titles } = await openOverview(site.app, await site.app.signedIn("admin"));
    expect(titles).toEqual(["Allclear Offline for 2 days 23 h"]);
  });
});

describe("incidents of monitors", () => {
  test("a monitor's row leads to its open incident, and the incident has no row of its own", async () => {
    await using site = await createMonitorDashboard();
    const now = site.app.clock.now();
    const { API: api = "" } = site.site.components;
    const id = await site.make({ component_ids: [api], open_incident: "automatic" });
    await site.applyTransition(id, "down", now - 5 * MINUTE, "Refused.");
    const { titles, notes, actions } = await overviewOf(site);
    expect(titles).toEqual(["Shop Down for 5 min"]);
    expect(notes[0]).toContain("Reported in API is partly unavailable, last update");
    expect(actions[0]).toStartWith("/admin/incidents/inc_");
  });

  test("an open incident whose monitor is up again leads to the form that resolves it", async () => {
    await using site = await createMonitorDashboard();
    const now = site.app.clock.now();
    const { API: api = "" } = site.site.components;
    const id = await site.make({ component_ids: [api], open_incident: "automatic" });
    await site.applyTransition(id, "down", now - 5 * MINUTE, "Refused.");
    // An incident that a person has updated is not resolved by its monitor.
    const key = await site.app.keyWith("write:incidents", "read:status");
    const { actions: before } = await overviewOf(site);
    const incident = before[0]?.split("/").at(-1) ?? "";
    const path = `/api/v1/incidents/${incident}/updates`;
    const json = { body: "We look.", status: "identified", components: { [api]: "operational" } };
    expect((await site.app.call(path, { method: "POST", key, json })).status).toBe(201);
    await site.applyTransition(id, "up", now - 28_000);
    const { titles, notes, actions } = await overviewOf(site);
    expect(titles).toEqual(["API is partly unavailable Identified for 5 min"]);
    expect(notes[0]).toContain("Shop has been up for 28 s");
    expect(actions).toEqual([`/admin/incidents/${incident}?status=resolved`]);
    const form = await site.open(actions[0]);
    expect(form.text).toMatch(/value="resolved"[^>]*(checked|selected)/);
  });

  test("the draft of a monitor that is down is reviewed from the monitor's row", async () => {
    await using site = await createMonitorDashboard();
    const { API: api = "" } = site.site.components;
    const id = await site.make({ component_ids: [api], open_incident: "draft" });
    await site.applyTransition(id, "down", site.app.clock.now() - MINUTE);
    const { titles, notes, page } = await overviewOf(site);
    expect(titles).toHaveLength(1);
    expect(notes[0]).toContain("Draft: API is partly unavailable.");
    expect(page.texts("#attention .row-side a")).toEqual(["Review draft: Shop"]);
  });
});

describe("components, incidents and drafts that need attention", () => {
  test("a component names its incident and the last update, and leads to the next one", async () => {
    await using site = await createReportSite();
    const { id } = await site.open({ name: "Errors", components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(8 * MINUTE);
    const { titles, notes, actions } = await openOverview(site.app, site.session);
    expect(titles).toEqual(["API Major outage for 8 min"]);
    expect(notes).toEqual(["Component · Reported in Errors, last update 8 min ago."]);
    expect(actions).toEqual([`/admin/incidents/${id}`]);
    await site.update(id, { status: "resolved" });
    expect((await openOverview(site.app, site.session)).titles).toEqual([]);
  });

  test("components of one incident share a row", async () => {
    await using site = await createReportSite();
    const components = { [site.api]: "major_outage", [site.web]: "degraded_performance" };
    await site.open({ name: "Errors", components });
    const { titles, notes, page } = await openOverview(site.app, site.session);
    expect(titles).toEqual(["Errors 2 components for 1 s"]);
    expect(notes[0]).toContain("API (major outage) and Web (degraded performance)");
    expect(page.attributes("#attention .shape", "class")).toEqual(["shape t-major"]);
  });

  test("a status that was set by the API or by hand says so, and maintenance needs no attention", async () => {
    await using site = await createReportSite();
    const key = await site.app.keyWith("write:components", "read:status");
    const patch = (id: string, status: string) =>
      site.app.call(`/api/v1/components/${id}`, { method: "PATCH", key, json: { status } });
    expect((await patch(site.api, "partial_outage")).status).toBe(200);
    expect((await patch(site.web, "under_maintenance")).status).toBe(200);
    const { titles, notes, actions } = await openOverview(site.app, site.session);
    expect(titles).toEqual(["API Partial outage for 1 s"]);
    expect(notes).toEqual(["Component · Set by the API. No open incident reports this."]);
    expect(actions).toEqual([`/admin/components/${site.api}`]);
  });

  test("an open incident without affected components and a draft have rows", async () => {
    await using site = await createReportSite();
    await site.report({ intent: "draft" });
    await site.open({ name: "Rumours" });
    const { titles, page } = await openOverview(site.app, site.session);
    expect(titles).toHaveLength(2);
    expect(titles).toContain("Rumours Investigating for 1 s");
    expect(page.texts("#attention .row-side a").toSorted()).toEqual([
      "Post update: Rumours",
      expect.stringContaining("Review draft: "),
    ]);
  });

  test("a viewer sees the rows without actions", async () => {
    await using site = await createReportSite();
    await site.open({ name: "Errors", components: { [site.api]: "major_outage" } });
    await site.report({ intent: "draft" });
    const { titles, actions } = await openOverview(site.app, await site.app.signedIn("viewer"));
    expect(titles).toHaveLength(2);
    expect(actions).toEqual([]);
  });

  test("25 rows are shown, and the others are counted with links to their lists", async () => {
    await using site = await createReportSite();
    for (let count = 0; count < 28; count++) {
      // oxlint-disable-next-line no-await-in-loop
      await site.open({ name: `Errors ${count}` });
    }
    const { titles, page } = await openOverview(site.app, site.session);
    expect(titles).toHaveLength(25);
    expect(page.texts("#attention .count")).toEqual(["28"]);
    expect(page.texts("#attention .row-more")).toEqual(["and 3 more: 3 incidents"]);
    expect(page.attributes("#attention .row-more a", "href")).toEqual([
      "/admin/incidents?show=open",
    ]);
  });
});

describe("API keys that expire", () => {
  test.each([
    ["owner", 1],
    ["admin", 1],
    ["editor", 0],
    ["viewer", 0],
  ] as const)(
    "the overview of a %s has %i keys that expire within 14 days",
    async (role, count) => {
      await using site = await createReportSite();
      const expiresAt = (days: number) => new Date(site.app.clock.now() + days * DAY).toISOString();
      await site.app.createKey({ name: "Terraform", expires: expiresAt(9) });
      await site.app.createKey({ name: "Later", expires: expiresAt(15) });
      const { titles, actions } = await openOverview(site.app, await site.app.signedIn(role));
      expect(titles).toEqual(count === 1 ? ["Terraform Expires in 9 days"] : []);
      for (const path of actions) expect(path).toStartWith("/admin/settings/keys/key_");
      expect(actions).toHaveLength(count);
    },
  );

  test("the overview and the list of keys name the same last day of a key", async () => {
    await using site = await createReportSite();
    await site.app.createKey({ name: "Terraform", expires: "2026-03-18" });
    const session = await site.app.signedIn("owner");
    const list = await site.app.call("/admin/settings/keys", { session });
    expect(readHtml(list.text).texts("tbody time")).toContain("18 Mar 2026");
    const overview = await site.app.call("/admin", { session });
    expect(readHtml(overview.text).texts("#attention time")).toContain("18 Mar 2026");
  });
});
