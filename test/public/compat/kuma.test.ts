import { describe, expect, test } from "bun:test";
import { keepNumber } from "../../../src/features/compat/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS, toIso } from "../../../src/base/time";
import { createCompatSite, type CompatSite } from "../../support/compat-site";
import { createTestApp } from "../../support/app";
import { visit } from "../../support/domains";
import { updateComponent } from "../../support/examined";

const HEARTBEATS = "/api/status-page/heartbeat/acme";
const NOT_FOUND = { status: "fail", msg: "Status Page Not Found" };

async function read(site: CompatSite, path: string) {
  const answer = await site.app.call(path);
  expect(`${path} ${answer.status}`).toBe(`${path} 200`);
  return answer.body;
}

/** Returns the number of each component, by name. */
async function numbers(site: CompatSite): Promise<Record<string, number>> {
  const { publicGroupList } = await read(site, "/api/status-page/acme");
  return Object.fromEntries(
    publicGroupList.flatMap((group: { monitorList: { id: number; name: string }[] }) =>
      group.monitorList.map(({ id, name }) => [name, id]),
    ),
  );
}

async function setStatus(site: CompatSite, name: string, status: string): Promise<void> {
  const key = await site.app.keyWith("write:components");
  const path = `/api/v1/components/${site.components[name]}`;
  const answer = await site.app.call(path, { method: "PATCH", key, json: { status } });
  expect(answer.status).toBe(200);
}

async function open(site: CompatSite, json: object): Promise<{ id: string }> {
  const key = await site.app.keyWith("write:incidents");
  const body = { page: "acme", name: "Errors", body: "Hm.", ...json };
  const options = { method: "POST", key, json: body };
  const answer = await site.app.call("/api/v1/incidents", options);
  expect(answer.status).toBe(201);
  return answer.body;
}

describe("a page in Uptime Kuma's form", () => {
  test("the page has its settings, groups with components and monitor types", async () => {
    await using site = await createCompatSite();
    await site.create({ name: "Shop", component_ids: [site.components["API"]] });
    await site.change({ description: "All of it.", theme: "dark" });
    const page = await read(site, "/api/status-page/acme");
    expect(page.config).toEqual({
      slug: "acme",
      title: "Acme",
      description: "All of it.",
      icon: "/icon.svg",
      autoRefreshInterval: 300,
      theme: "dark",
      published: true,
      showTags: false,
      customCSS: "",
      footerText: null,
      showPoweredBy: false,
      analyticsId: null,
      analyticsScriptUrl: null,
      analyticsType: null,
      googleAnalyticsId: null,
      showCertificateExpiry: false,
      showOnlyLastHeartbeat: false,
      rssTitle: null,
    });
    expect(page).toMatchObject({ incident: null, incidents: [], maintenanceList: [] });
    const { API, Website } = await numbers(site);
    expect(page.publicGroupList).toEqual([
      {
        id: 1_000_000,
        name: "Core",
        weight: 1,
        monitorList: [
          { id: API, name: "API", sendUrl: 0, type: "http" },
          { id: Website, name: "Website", sendUrl: 0, type: "manual" },
        ],
      },
    ]);
  });

  test("components without a group are in the group Services, which comes first", async () => {
    await using site = await createCompatSite();
    await site.app.ctx.db.write((tx) => {
      const id = site.components["Website"] ?? "";
      updateComponent(site.app.ctx, tx, id, {}, CLI_ACTOR, { groupId: null });
    });
    const { publicGroupList } = await read(site, "/api/status-page/acme");
    expect(
      publicGroupList.map(({ id, name, weight }: Record<string, unknown>) => [id, name, weight]),
    ).toEqual([
      [0, "Services", 1],
      [1_000_000, "Core", 2],
    ]);
  });

  test("open incidents have a style by their impact and their newest update", async () => {
    await using site = await createCompatSite();
    await open(site, { name: "Slow", impact_override: "minor", body: "Slow." });
    await site.app.clock.advance(5_000);
    const { id } = await open(site, { name: "Down", impact_override: "critical" });
    const key = await site.app.keyWith("write:incidents");
    await site.app.clock.advance(60_000);
    const options = { method: "POST", key, json: { body: "Found.", status: "identified" } };
    await site.app.call(`/api/v1/incidents/${id}/updates`, options);
    const { incident, incidents } = await read(site, "/api/status-page/acme");
    expect(incident).toEqual(incidents[0]);
    expect(incident).toEqual({
      id: 1_000_001,
      style: "danger",
      title: "Down",
      content: "Found.",
      pin: true,
      active: true,
      createdDate: "2026-03-10 12:00:05",
      lastUpdatedDate: "2026-03-10 12:01:05",
      status_page_id: 1_000_000,
    });
    expect(incidents[1]).toMatchObject({ style: "warning", title: "Slow", lastUpdatedDate: null });
  });

  test("an incident whose only update is later than its start was changed then", async () => {
    await using site = await createCompatSite();
    const { id } = await open(site, { name: "Slow" });
    const key = await site.app.keyWith("write:incidents");
    const json = { started_at: toIso(site.app.clock.now() - HOUR_MS) };
    await site.app.call(`/api/v1/incidents/${id}`, { method: "PATCH", key, json });
    const { incident } = await read(site, "/api/status-page/acme");
    expect(incident).toMatchObject({
      createdDate: "2026-03-10 11:00:00",
      lastUpdatedDate: "2026-03-10 12:00:00",
    });
  });

  test("maintenance is listed in the page's time zone while it is in progress", async () => {
    await using site = await createCompatSite();
    await site.change({ time_zone: "Europe/Berlin" });
    const key = await site.app.keyWith("write:maintenance");
    const now = site.app.clock.now();
    for (const [name, from] of [
      ["Now", now],
      ["Later", now + 5 * HOUR_MS],
    ] as const) {
      const json = {
        page: "acme",
        name,
        body: "Planned.",
        components: [],
        scheduled_for: toIso(from),
        scheduled_until: toIso(from + HOUR_MS),
      };
      const planned = await site.app.call("/api/v1/maintenance", { method: "POST", key, json });
      if (name === "Later") continue;
      const begun = { method: "POST", key, json: { status: "in_progress", body: "Begun." } };
      await site.app.call(`/api/v1/maintenance/${planned.body.id}/updates`, begun);
    }
    const { maintenanceList } = await read(site, "/api/status-page/acme");
    expect(maintenanceList).toEqual([
      {
        id: 1_000_000,
        title: "Now",
        description: "Begun.",
        strategy: "single",
        intervalDay: 1,
        active: true,
        dateRange: ["2026-03-10 13:00:00", "2026-03-10 14:00:00"],
        timeRange: [],
        weekdays: [],
        daysOfMonth: [],
        timeslotList: [{ startDate: "2026-03-10 13:00:00", endDate: "2026-03-10 14:00:00" }],
        cron: null,
        duration: null,
        durationMinutes: null,
        timezone: "Europe/Berlin",
        timezoneOption: "Europe/Berlin",
        timezoneOffset: "+01:00",
        status: "under-maintenance",
      },
    ]);
  });
});

describe("heartbeats in Uptime Kuma's form", () => {
  test("a component without monitor has one beat with its status", async () => {
    await using site = await createCompatSite();
    const { API = 0, Website = 0 } = await numbers(site);
    const beat = { time: "2026-03-10 12:00:00.000", msg: "", ping: null };
    expect((await read(site, HEARTBEATS)).heartbeatList).toEqual({
      [API]: [{ status: 1, ...beat }],
      [Website]: [{ status: 1, ...beat }],
    });
    for (const [status, expected] of [
      ["major_outage", 0],
      ["partial_outage", 0],
      ["under_maintenance", 3],
      ["degraded_performance", 1],
    ] as const) {
      await setStatus(site, "API", status);
      const { heartbeatList } = await read(site, HEARTBEATS);
      expect(heartbeatList[API].at(-1).status).toBe(expected);
      expect(heartbeatList[Website].at(-1).status).toBe(1);
    }
  });

  test("beats are the last 100 results, oldest first, with response times only where they are shown", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create({ component_ids: [site.components["API"]] });
    await site.answered(
      id,
      Array.from({ length: 120 }, (_, index) => index),
    );
    const { API = 0 } = await numbers(site);
    const hidden = (await read(site, HEARTBEATS)).heartbeatList[API];
    expect(hidden).toHaveLength(100);
    expect(hidden[0].time).toBe("2026-03-10 10:21:00.000");
    expect(new Set(hidden.map(({ ping }: { ping: unknown }) => ping))).toEqual(new Set([null]));
    await site.showLatency("API");
    const shown = (await read(site, HEARTBEATS)).heartbeatList[API];
    expect(shown.map(({ ping }: { ping: number }) => ping).slice(-2)).toEqual([118, 119]);
  });

  test("failures below the threshold are pending, and so is the newest while it is not confirmed", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create({
      component_ids: [site.components["API"]],
      failure_threshold: 3,
    });
    await site.answered(id, [5, null, null, null, null, 5, null, 5, null]);
    const { API = 0 } = await numbers(site);
    const { heartbeatList } = await read(site, HEARTBEATS);
    expect(heartbeatList[API].map(({ status }: { status: number }) => status)).toEqual([
      1, 2, 2, 0, 0, 1, 2, 1, 2,
    ]);
  });

  test("the beats are read again after 15 seconds, without a change of the page", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create({ component_ids: [site.components["API"]] });
    const { API = 0 } = await numbers(site);
    expect((await read(site, HEARTBEATS)).heartbeatList[API]).toHaveLength(1);
    await site.answered(id, [1, 2]);
    expect((await read(site, HEARTBEATS)).heartbeatList[API]).toHaveLength(1);
    await site.app.clock.advance(15_000);
    expect((await read(site, HEARTBEATS)).heartbeatList[API]).toHaveLength(2);
  });

  test("the uptime is that of 24 hours, and left out where it is not known", async () => {
    await using site = await createCompatSite();
    const { API = 0, Website = 0 } = await numbers(site);
    expect((await read(site, HEARTBEATS)).uptimeList).toEqual({});
    await site.app.clock.advance(HOUR_MS);
    await setStatus(site, "API", "major_outage");
    await site.app.clock.advance(HOUR_MS);
    expect((await read(site, HEARTBEATS)).uptimeList).toEqual({
      [`${API}_24`]: 0.5,
      [`${Website}_24`]: 1,
    });
  });
});

describe("numbers", () => {
  test("a component has the number of its monitor if both belong to each other alone", async () => {
    await using site = await createCompatSite();
    const before = await numbers(site);
    const api = await site.create({ name: "A", component_ids: [site.components["API"]] });
    const { API } = await numbers(site);
    expect(API).not.toBe(before["API"]);
    expect((await numbers(site))["Website"]).toBe(before["Website"]);
    // A second monitor, and a second component, take the number away.
    const other = await site.create({ name: "B", component_ids: [site.components["API"]] });
    expect(await numbers(site)).toEqual(before);
    await site.call(`/${other.id}`, { method: "DELETE" });
    expect((await numbers(site))["API"]).toBe(API);
    await site.patch(api.id, { component_ids: Object.values(site.components) });
    expect(await numbers(site)).toEqual(before);
  });

  test("numbers stay after renames, moves and changes of the slug, and are never used again", async () => {
    await using site = await createCompatSite();
    const before = await numbers(site);
    const id = site.components["API"] ?? "";
    await site.app.ctx.db.write((tx) => {
      updateComponent(site.app.ctx, tx, id, { name: "Gateway" }, CLI_ACTOR, { position: 1 });
    });
    await site.change({ slug: "neu", compat: [] });
    await site.change({ compat: ["uptime-kuma"] });
    expect(await numbers(site)).toEqual({
      Gateway: before["API"] ?? 0,
      Website: before["Website"] ?? 0,
    });
    const monitor = await site.create({ component_ids: [id] });
    const { Gateway: first = 0 } = await numbers(site);
    await site.call(`/${monitor.id}`, { method: "DELETE" });
    await site.create({ name: "Other", component_ids: [id] });
    expect((await numbers(site))["Gateway"]).toBe(first + 1);
  });

  test("a kept number of an import replaces the given one, unless another object has it", async () => {
    await using site = await createCompatSite();
    const { id } = await site.create({ component_ids: [site.components["API"]] });
    const keep = (of: string) =>
      site.app.ctx.db.write((tx) => keepNumber(tx, { id: of, number: 7 }));
    await keep(id);
    await site.change({});
    expect((await numbers(site))["API"]).toBe(7);
    await expect(keep(site.components["Website"] ?? "")).rejects.toThrow("UNIQUE");
  });
});

describe("the incident history in Uptime Kuma's form", () => {
  test("incidents are listed ten at a time, newest first, with the creation of the last as cursor", async () => {
    await using site = await createCompatSite();
    const now = site.app.clock.now();
    for (let n = 1; n <= 12; n++) {
      const started_at = toIso(now - n * HOUR_MS);
      await open(site, { name: `${n}`, started_at, resolved_at: toIso(now) });
    }
    await open(site, { name: "Draft", draft: true });
    const path = "/api/status-page/acme/incident-history";
    const first = await read(site, path);
    expect(first).toMatchObject({ ok: true, total: 12, hasMore: true });
    expect(first.incidents.map(({ title }: { title: string }) => title)).toEqual(
      Array.from({ length: 10 }, (_, index) => `${index + 1}`),
    );
    expect(first.incidents[0]).toMatchObject({ active: false, pin: false, style: "info" });
    expect(first.nextCursor).toBe("2026-03-10 02:00:00");
    const rest = await read(site, `${path}?cursor=${encodeURIComponent(first.nextCursor)}`);
    expect(rest).toMatchObject({ total: 12, hasMore: false, nextCursor: null });
    expect(rest.incidents.map(({ title }: { title: string }) => title)).toEqual(["11", "12"]);
    expect((await read(site, `${path}?cursor=nonsense`)).incidents).toEqual([]);
  });
});

describe("pages that Uptime Kuma's clients may not read", () => {
  const ABSENT = [
    ["/api/status-page/acme", NOT_FOUND],
    ["/api/status-page/acme/incident-history", NOT_FOUND],
    ["/api/status-page/acme/manifest.json", { status: "fail", msg: "Not Found" }],
    ["/status/acme/rss", NOT_FOUND],
  ] as const;

  test.each([
    ["unmarked", { compat: [] }],
    ["marked for Gatus only", { compat: ["gatus"] }],
    ["private", { compat: ["uptime-kuma"], visibility: "private" }],
  ] as const)("a page that is %s answers as one that does not exist", async (_, input) => {
    await using site = await createCompatSite({ ...input, compat: [...input.compat] });
    for (const prefix of ["", "/compat/kuma"]) {
      for (const [path, body] of ABSENT) {
        const answer = await site.app.call(prefix + path);
        expect([answer.status, answer.body]).toEqual([404, body]);
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
      expect(await read(site, prefix + HEARTBEATS)).toEqual({ heartbeatList: {}, uptimeList: {} });
      const badge = await site.app.call(`${prefix}/api/status-page/acme/badge`);
      expect(badge.text).toContain("N/A");
      expect(await read(site, `${prefix}/api/entry-page`)).toEqual({
        type: "entryPage",
        entryPage: "dashboard",
      });
    }
  });

  test("a page that becomes private while its beats are read is not sent", async () => {
    await using site = await createCompatSite();
    const answer = site.app.call(HEARTBEATS);
    await site.change({ visibility: "private" });
    expect((await answer).body).toEqual({ heartbeatList: {}, uptimeList: {} });
  });
});

describe("serving Uptime Kuma's clients", () => {
  test("the same answers are below /compat/kuma and for slugs in any case", async () => {
    await using site = await createCompatSite();
    for (const path of ["", "/heartbeat"]) {
      const expected = await read(site, `/api/status-page${path}/acme`);
      expect(await read(site, `/compat/kuma/api/status-page${path}/ACME`)).toEqual(expected);
    }
    expect(await read(site, "/api/entry-page")).toEqual({
      type: "entryPage",
      entryPage: "statusPage-acme",
    });
    expect(await read(site, "/api/status-page/acme/manifest.json")).toEqual({
      name: "Acme",
      start_url: "/status/acme",
      display: "standalone",
      icons: [{ src: "/icon.svg", sizes: "128x128", type: "image/png" }],
    });
    const icon = await site.app.call("/icon.svg");
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    const feed = await site.app.call("/status/acme/rss");
    expect([feed.status, feed.headers.get("location")]).toEqual([308, "/status/acme/feed.rss"]);
  });

  test("answers can be cached, are tagged and may be read by other origins", async () => {
    await using site = await createCompatSite();
    const { API } = await numbers(site);
    for (const path of [
      "/api/status-page/acme",
      HEARTBEATS,
      "/api/status-page/acme/incident-history",
      "/api/status-page/acme/badge",
      `/api/badge/${API}/status`,
      "/api/entry-page",
    ]) {
      const { headers, text } = await site.app.call(path);
      expect(headers.get("cache-control")).toStartWith("public, max-age=15, ");
      expect(headers.get("access-control-allow-origin")).toBe("*");
      const etag = headers.get("etag") ?? "";
      const again = await site.app.call(path, { headers: { "if-none-match": etag } });
      expect([again.status, again.text]).toEqual([304, ""]);
      const head = await site.app.call(path, { method: "HEAD" });
      expect([head.status, head.headers.get("etag")]).toEqual([200, etag]);
      expect(text).not.toBe("");
      expect((await site.app.call(path, { method: "OPTIONS" })).status).toBe(204);
      expect((await site.app.call(path, { method: "POST" })).status).toBe(405);
    }
  });

  test("requests are charged to the client address, and 429 is a problem document", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.page({ compat: ["uptime-kuma"] });
    expect((await app.call("/api/status-page/nobody")).status).toBe(404);
    const rejected = await app.call(HEARTBEATS);
    expect([rejected.status, rejected.body.code]).toEqual([429, "rate_limited"]);
    expect(rejected.headers.get("retry-after")).not.toBeNull();
  });

  test("a custom domain serves its own page and no other", async () => {
    await using site = await createCompatSite();
    const host = "status.acme.example";
    await site.change({ custom_domains: [host] });
    await site.app.page({ slug: "other", name: "Other", compat: ["uptime-kuma"] });
    const { API } = await numbers(site);
    expect((await visit(site.app, host, "/api/status-page/acme")).body.config.slug).toBe("acme");
    expect((await visit(site.app, host, `/api/badge/${API}/status`)).text).toContain("Up");
    expect((await visit(site.app, host, "/api/entry-page")).body).toEqual({
      type: "statusPageMatchedDomain",
      statusPageSlug: "acme",
    });
    expect((await visit(site.app, host, "/api/status-page/other")).body).toEqual(NOT_FOUND);
    const heartbeats = await visit(site.app, host, "/api/status-page/heartbeat/other");
    expect(heartbeats.body.heartbeatList).toEqual({});
    const { publicGroupList } = await read(site, "/api/status-page/other");
    const number = publicGroupList[0].monitorList[0].id;
    expect((await visit(site.app, host, `/api/badge/${number}/status`)).text).toContain("N/A");
    await site.change({ visibility: "private" });
    expect((await visit(site.app, host, "/api/status-page/acme")).status).toBe(404);
  });
});
