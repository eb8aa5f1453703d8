import { describe, expect, test } from "bun:test";
import { keepKey } from "../../../src/features/compat/store";
import { findMonitor } from "../../../src/features/monitors/store";
import { recordState } from "../../../src/features/monitors/engine/transitions";
import { createSnapshots } from "../../../src/features/status/snapshots";
import { endpointStatuses } from "../../../src/public/compat/gatus";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import { createCompatSite, type CompatSite } from "../../support/compat-site";
import { visit } from "../../support/domains";
import { expectProblem } from "../../support/app";
import { updateComponent } from "../../support/examined";

const BASE = "/compat/gatus/acme";
const ENDPOINTS = "/api/v1/endpoints";

async function read(site: CompatSite, path: string, base = BASE) {
  const answer = await site.app.call(base + path);
  expect(`${path} ${answer.status}`).toBe(`${path} 200`);
  return answer.body ?? answer.text;
}

async function setStatus(site: CompatSite, name: string, status: string): Promise<void> {
  const key = await site.app.keyWith("write:components");
  const path = `/api/v1/components/${site.components[name]}`;
  await site.app.call(path, { method: "PATCH", key, json: { status } });
}

/** Creates a page whose component API has a monitor with these results. */
async function withResults(latencies: readonly (number | null)[]) {
  const site = await createCompatSite();
  const { id } = await site.create({ component_ids: [site.components["API"]] });
  await site.app.clock.advance(HOUR_MS);
  await site.answered(id, latencies);
  await site.app.clock.advance(1_000);
  return { site, id };
}

const keysIn = (list: { key: string }[]) => list.map(({ key }) => key);

describe("endpoints in Gatus' form", () => {
  test("all components are listed by key with their newest results, oldest first", async () => {
    const { site } = await withResults([120, null, 80]);
    await using _ = site;
    const hidden = await read(site, `${ENDPOINTS}/statuses`);
    expect(hidden).toEqual([
      {
        name: "API",
        group: "Core",
        key: "core_api",
        results: [
          { duration: 0, success: true, timestamp: "2026-03-10T12:58:00.000Z" },
          { duration: 0, success: false, timestamp: "2026-03-10T12:59:00.000Z" },
          { duration: 0, success: true, timestamp: "2026-03-10T13:00:00.000Z" },
        ],
      },
      {
        name: "Website",
        group: "Core",
        key: "core_website",
        results: [{ duration: 0, success: true, timestamp: "2026-03-10T12:00:00.000Z" }],
      },
    ]);
    await site.showLatency("API");
    const [shown] = await read(site, `${ENDPOINTS}/statuses`);
    expect(shown.results.map(({ duration }: { duration: number }) => duration)).toEqual([
      120_000_000, 0, 80_000_000,
    ]);
  });

  test.each([
    ["major_outage", false],
    ["partial_outage", false],
    ["degraded_performance", true],
    ["under_maintenance", true],
  ])("the newest result of a component with %s has success %p", async (status, success) => {
    const { site } = await withResults([120]);
    await using _ = site;
    await setStatus(site, "API", status);
    const [api] = await read(site, `${ENDPOINTS}/statuses`);
    expect(api.results.at(-1).success).toBe(success);
  });

  test("page and pageSize choose results, and wrong numbers are the defaults", async () => {
    const { site } = await withResults(Array.from({ length: 120 }, (_, index) => index));
    await using _ = site;
    await site.showLatency("API");
    const shown = async (query: string) => {
      const { results } = await read(site, `${ENDPOINTS}/core_api/statuses${query}`);
      const ms = results.map(({ duration }: { duration: number }) => duration / 1e6);
      return [ms.length, ms[0], ms.at(-1)];
    };
    expect(await shown("")).toEqual([50, 70, 119]);
    expect(await shown("?page=2&pageSize=10")).toEqual([10, 100, 109]);
    expect(await shown("?page=13&pageSize=10")).toEqual([0, undefined, undefined]);
    expect(await shown("?pageSize=1000")).toEqual([100, 20, 119]);
    for (const wrong of ["?page=x", "?page=0&pageSize=0", "?pageSize=-1", "?pageSize=1.5"]) {
      expect(await shown(wrong)).toEqual([50, 70, 119]);
    }
  });

  test("results far back cost more, so that other requests are served between fewer of them", async () => {
    const { site } = await withResults([120]);
    await using _ = site;
    const { ctx, clock } = site.app;
    const snapshot = createSnapshots(ctx).read("acme", clock.now());
    if (!snapshot) throw new Error("there is no page");
    const costs = (page: number) => [
      ...endpointStatuses(ctx.db, snapshot, { page, pageSize: 100 }),
    ];
    expect(costs(1)).toEqual([1, 1]);
    expect(costs(100)).toEqual([10, 10]);
  });

  test("one endpoint has events by the states of its monitor", async () => {
    const { site, id } = await withResults([120]);
    await using _ = site;
    const { num = 0 } = findMonitor(site.app.ctx.db, { id }) ?? {};
    const states = ["up", "degraded", "down", "no_data", "down", "up"] as const;
    for (const state of states) {
      await site.app.clock.advance(60_000);
      const at = site.app.clock.now();
      await site.app.ctx.db.write((tx) => {
        recordState(tx, { monitorNum: num, state, at, message: null });
      });
    }
    await site.app.clock.advance(1_000);
    const { events, ...endpoint } = await read(site, `${ENDPOINTS}/core_api/statuses`);
    expect(endpoint).toMatchObject({ name: "API", group: "Core", key: "core_api" });
    expect(events).toEqual([
      { type: "START", timestamp: "2026-03-10T12:00:00.000Z" },
      { type: "HEALTHY", timestamp: "2026-03-10T13:01:01.000Z" },
      { type: "UNHEALTHY", timestamp: "2026-03-10T13:03:01.000Z" },
      { type: "HEALTHY", timestamp: "2026-03-10T13:06:01.000Z" },
    ]);
  });
});

describe("keys", () => {
  test("keys follow names, with hyphens for separators and numbers for equal ones", async () => {
    await using site = await createCompatSite();
    await site.app.ctx.db.write((tx) => {
      const { API = "", Website = "" } = site.components;
      const { ctx } = site.app;
      updateComponent(ctx, tx, API, { name: " A/b_c.d,e f#g+h&I " }, CLI_ACTOR);
      updateComponent(ctx, tx, Website, { name: "a-b-c-d-e-f-g-h-i" }, CLI_ACTOR, {
        groupId: null,
      });
    });
    expect(keysIn(await read(site, `${ENDPOINTS}/statuses`))).toEqual([
      "_a-b-c-d-e-f-g-h-i",
      "core_a-b-c-d-e-f-g-h-i",
    ]);
    await site.app.ctx.db.write((tx) => {
      const { Website = "" } = site.components;
      updateComponent(site.app.ctx, tx, Website, { name: "x" }, CLI_ACTOR);
      updateComponent(site.app.ctx, tx, site.components["API"] ?? "", { name: "X" }, CLI_ACTOR, {
        groupId: null,
      });
    });
    expect(keysIn(await read(site, `${ENDPOINTS}/statuses`))).toEqual(["_x", "_x-2"]);
  });

  test("a key that an import kept stays after a rename", async () => {
    await using site = await createCompatSite();
    const componentId = site.components["API"] ?? "";
    await site.app.ctx.db.write((tx) => {
      keepKey(tx, { componentId, key: "old_key" });
      updateComponent(site.app.ctx, tx, componentId, { name: "Gateway" }, CLI_ACTOR);
    });
    expect(keysIn(await read(site, `${ENDPOINTS}/statuses`))).toEqual(["core_website", "old_key"]);
  });
});

describe("figures in Gatus' form", () => {
  test("uptimes are texts with six decimals, response times whole milliseconds", async () => {
    const { site } = await withResults([100, 51]);
    await using _ = site;
    await setStatus(site, "API", "major_outage");
    await site.app.clock.advance(HOUR_MS + 1_000);
    for (const duration of ["30d", "7d", "24h"]) {
      expect(await read(site, `${ENDPOINTS}/core_api/uptimes/${duration}`)).toBe("0.500000");
      expect(await read(site, `${ENDPOINTS}/core_api/response-times/${duration}`)).toBe("0");
    }
    await site.showLatency("API");
    expect(await read(site, `${ENDPOINTS}/core_api/response-times/1h`)).toBe("75");
    expect(await read(site, `${ENDPOINTS}/core_website/response-times/24h`)).toBe("0");
  });

  test("the history has an hour for each value, and 0 without one", async () => {
    const { site } = await withResults([100, 50]);
    await using _ = site;
    const path = `${ENDPOINTS}/core_api/response-times/24h/history`;
    expect(await read(site, path)).toEqual({ timestamps: [], values: [] });
    const chart = `${BASE}${ENDPOINTS}/core_api/response-times/24h/chart.svg`;
    expect((await site.app.call(chart)).status).toBe(204);
    await site.showLatency("API");
    const { timestamps, values } = await read(site, path);
    expect(timestamps).toHaveLength(25);
    expect(timestamps.at(-1)).toBe(Date.parse("2026-03-10T13:00:00Z"));
    expect(values.slice(-3)).toEqual([0, 100, 50]);
    const { text, headers } = await site.app.call(chart);
    expect(text).toContain("Average response time per hour, at most 100 ms");
    expect(headers.get("content-type")).toStartWith("image/svg+xml");
  });

  test("badges have Gatus' words and colours", async () => {
    const { site } = await withResults([250]);
    await using _ = site;
    await site.showLatency("API");
    const badge = async (path: string) => {
      const { text } = await site.app.call(`${BASE}${ENDPOINTS}/core_api/${path}`);
      const fills = [...text.matchAll(/<rect[^>]* fill="([^"]+)"/g)].map(([, fill]) => fill);
      return [/<title>(.*?)<\/title>/.exec(text)?.[1], fills[1]];
    };
    expect(await badge("health/badge.svg")).toEqual(["health: up", "#40cc11"]);
    expect(await badge("uptimes/7d/badge.svg")).toEqual(["uptime 7d: 100%", "#40cc11"]);
    expect(await badge("response-times/24h/badge.svg")).toEqual([
      "response time 24h: 250ms",
      "#ccd311",
    ]);
    expect(await read(site, `${ENDPOINTS}/core_api/health/badge.shields`)).toEqual({
      schemaVersion: 1,
      label: "gatus",
      message: "up",
      color: "brightgreen",
    });
    await setStatus(site, "API", "major_outage");
    await site.app.clock.advance(HOUR_MS * 2);
    expect(await badge("health/badge.svg")).toEqual(["health: down", "#c7130a"]);
    expect(await badge("uptimes/7d/badge.svg")).toEqual(["uptime 7d: 33.34%", "#c7130a"]);
  });
});

describe("other documents in Gatus' form", () => {
  test("open incidents are announcements, there are no suites, and the server is up", async () => {
    await using site = await createCompatSite();
    const key = await site.app.keyWith("write:incidents");
    const json = { page: "acme", name: "Errors", body: "Hm.", impact_override: "minor" };
    await site.app.call("/api/v1/incidents", { method: "POST", key, json });
    expect(await read(site, "/api/v1/config")).toEqual({
      oidc: false,
      authenticated: true,
      announcements: [
        { timestamp: "2026-03-10T12:00:00.000Z", type: "warning", message: "Errors: Hm." },
      ],
    });
    expect(await read(site, "/api/v1/suites/statuses")).toEqual([]);
    expect(await read(site, "/health")).toEqual({ status: "UP" });
  });
});

describe("serving Gatus' clients", () => {
  const PATHS = [`${ENDPOINTS}/statuses`, "/api/v1/config", "/health", "/api/v1/suites/statuses"];

  test("the default page is also below /compat/gatus, and no page at the root of the server", async () => {
    await using site = await createCompatSite();
    for (const path of PATHS) {
      expect(await read(site, path, "/compat/gatus")).toEqual(await read(site, path));
      expectProblem(await site.app.call(path), "not_found");
    }
  });

  test("a custom domain serves its own page at the root, and no other", async () => {
    await using site = await createCompatSite();
    const host = "status.acme.example";
    await site.change({ custom_domains: [host] });
    await site.app.page({ slug: "other", name: "Other", compat: ["gatus"] });
    for (const path of PATHS) {
      expect((await visit(site.app, host, path)).body).toEqual(await read(site, path));
    }
    const other = await visit(site.app, host, `/compat/gatus/other${ENDPOINTS}/statuses`);
    expect([other.status, other.text]).toEqual([404, "page not found"]);
    expect((await visit(site.app, host, "/api/v1/status/acme")).status).toBe(404);
  });

  test.each([
    ["unmarked", { compat: [] }],
    ["marked for Uptime Kuma only", { compat: ["uptime-kuma"] }],
    ["private", { compat: ["gatus"], visibility: "private" }],
  ] as const)("a page that is %s answers as one that does not exist", async (_, input) => {
    await using site = await createCompatSite({ ...input, compat: [...input.compat] });
    for (const base of ["/compat/gatus", BASE, "/compat/gatus/nobody"]) {
      for (const path of [...PATHS, `${ENDPOINTS}/core_api/statuses`]) {
        const answer = await site.app.call(base + path);
        expect([answer.status, answer.text]).toEqual([404, "page not found"]);
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
    }
  });

  test("unknown keys and durations have Gatus' texts", async () => {
    await using site = await createCompatSite();
    const errors: [string, number, string][] = [
      [`${ENDPOINTS}/x_y/statuses`, 404, "endpoint not found"],
      [`${ENDPOINTS}/x_y/health/badge.svg`, 404, "endpoint not found"],
      [`${ENDPOINTS}/core_api/uptimes/2h`, 400, "Durations supported: 30d, 7d, 24h, 1h"],
      [`${ENDPOINTS}/x_y/uptimes/2h/badge.svg`, 400, "Durations supported: 30d, 7d, 24h, 1h"],
      [`${ENDPOINTS}/core_api/response-times/1h/history`, 400, "Durations supported: 30d, 7d, 24h"],
      [
        `${ENDPOINTS}/core_api/response-times/1h/chart.svg`,
        400,
        "Durations supported: 30d, 7d, 24h",
      ],
    ];
    for (const [path, status, text] of errors) {
      const answer = await site.app.call(BASE + path);
      expect([path, answer.status, answer.text]).toEqual([path, status, text]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    }
  });

  test("answers can be cached, are tagged and may be read by other origins", async () => {
    await using site = await createCompatSite();
    for (const path of [...PATHS, `${ENDPOINTS}/core_api/uptimes/1h`]) {
      const { headers } = await site.app.call(BASE + path);
      const isHealth = path.endsWith("/health");
      expect(headers.get("cache-control")).toStartWith(
        isHealth ? "no-store" : "public, max-age=15",
      );
      expect(headers.get("access-control-allow-origin")).toBe("*");
      const again = { headers: { "if-none-match": headers.get("etag") ?? "" } };
      expect((await site.app.call(BASE + path, again)).status).toBe(304);
      expect((await site.app.call(BASE + path, { method: "HEAD" })).status).toBe(200);
    }
  });
});
