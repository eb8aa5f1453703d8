import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem } from "../support/app";
import { createComponentSite } from "../support/component-site";
import { visit } from "../support/domains";
import { importJob } from "../support/imported-jobs";
import { createMonitorApi } from "../support/monitor-api";
import { createSubscribingSite } from "../support/subscribing";
import { updatePage } from "../support/examined";

const UUID = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";

describe("a path", () => {
  test.each([
    "//admin",
    "//api/v1/key",
    "/api//v1/key",
    "/api/v1/key//",
    "/api/v1/nothing/",
    "/healthz/",
    "/API/v1/key",
    "/api/v1/%6bey",
    "/api/v1/key%2F",
    "/api/v1/key;a=b",
    "/api",
    "/zz/api/v1/key",
    "/.env",
    "/admin/../../etc/passwd",
    "/api/v1/key%00",
  ])("the path %s is not_found with and without a key", async (path) => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    for (const given of [undefined, key]) {
      expectProblem(await app.call(path, { key: given }), "not_found");
    }
    expect((await app.call("/api/v1/key", { key })).status).toBe(200);
  });

  test.each(["%zz", "%E0%A4%A", "%", "a%2Fb", "%00", "..%2f..", "constructor", "__proto__", "~"])(
    "a path with the id %p is not_found",
    async (id) => {
      await using site = await createComponentSite();
      const { app, key } = site;
      expectProblem(await app.call(`/api/v1/components/${id}`, { key }), "not_found");
      expectProblem(await app.call(`/api/v1/components/${id}/history`, { key }), "not_found");
      expectProblem(await app.call(`/api/v1/status/${id}`, { key }), "not_found");
      expectProblem(await app.call(`/status/${id}`), "not_found");
      const json = { status: "operational" };
      const patch = { key, method: "PATCH", json };
      expectProblem(await app.call(`/api/v1/components/${id}`, patch), "not_found");
      expect(app.events()).toEqual([]);
    },
  );
});

/** Spellings of paths, and the paths to which they redirect. */
const SPELLINGS: readonly [sent: string, right: string][] = [
  ["/status/acme/", "/status/acme"],
  ["/api/v1/", "/api/v1"],
  ["/status/ACME", "/status/acme"],
  ["/status/Acme/", "/status/acme"],
  ["/status/acme/history/", "/status/acme/history"],
  ["/status/aCME/history/?month=2026-01&x=%2F", "/status/acme/history?month=2026-01&x=%2F"],
  ["/status/ACME/feed.atom", "/status/acme/feed.atom"],
  ["/status/ACME/api/v2/summary.json/", "/status/acme/api/v2/summary.json"],
  ["/status/old-acme/", "/status/acme"],
  ["/status/OLD-acme/history/?month=2026-01", "/status/acme/history?month=2026-01"],
  ["/status", "/status/acme"],
  ["/status/", "/status/acme"],
  ["/status?from=mail", "/status/acme?from=mail"],
  ["/api/v2/summary.json/", "/api/v2/summary.json"],
  ["/api/v1/status/ACME", "/api/v1/status/acme"],
  ["/api/v1/status/acme/", "/api/v1/status/acme"],
  ["/api/v1/status/", "/api/v1/status"],
  ["/api/v1/components/?page=acme", "/api/v1/components?page=acme"],
  ["/docs/", "/docs"],
  ["/admin/sign-in/", "/admin/sign-in"],
];

/** Paths that are no spelling of an answered path. */
const NO_SPELLINGS = [
  "/status/nothing/",
  "/status/NOTHING",
  "/status/acme//",
  "/STATUS/acme",
  "/Api/v2/summary.json",
  "//status/acme/",
  "//evil.example/",
  "//evil.example/%2e%2e/",
  "/\\evil.example/",
  "/status/hidden/",
  "/status/HIDDEN",
  "/status/hidden/feed.atom/",
  "/status/hidden/api/v2/summary.json/",
  "/status/acme/incidents/inc_00000000000000000000000000/",
  "/healthz/",
  "/admin/nothing/",
  "/api/v1/status/nothing/",
];

async function spelledSite() {
  const app = await createTestApp({ dashboard: true });
  const { page } = await app.page({ slug: "old-acme", name: "Acme" });
  const { ctx } = app;
  await ctx.db.write((tx) => updatePage(ctx, tx, page.id, { slug: "acme" }, CLI_ACTOR));
  await app.page({ slug: "hidden", name: "Hidden", visibility: "private" });
  return app;
}

describe("another spelling of a path", () => {
  test.each(SPELLINGS)("%s redirects GET and HEAD to %s", async (sent, right) => {
    await using app = await spelledSite();
    const key = /^\/api\/v1\/./.test(sent) ? await app.keyWith("read:status") : undefined;
    for (const method of ["GET", "HEAD"]) {
      const answer = await visit(app, "status.test", sent, {
        method,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      });
      expect(answer.status).toBe(308);
      expect(answer.headers.get("location")).toBe(right);
      expect(answer.text).toBe("");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      // Scripts of other sites follow the redirect.
      const origin = /^\/api\/v1\/$|\/api\/v2\/|feed/.test(sent) ? "*" : null;
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      expect(answer.headers.get("ratelimit-policy")).toStartWith(key ? '"key"' : '"public"');
      expect(answer.headers.get("cache-control")).toMatch(
        key || sent.startsWith("/admin") ? /^no-store$/ : /^public/,
      );
    }
    const posted = await visit(app, "status.test", sent, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
    });
    // Those without a slash at the end and with another slug are paths of a route.
    expect(posted.status).toBe(sent.split("?")[0]?.endsWith("/") ? 404 : 405);
    expect(posted.headers.get("location")).toBeNull();
  });

  test.each(NO_SPELLINGS)("%s is not redirected", async (path) => {
    await using app = await spelledSite();
    const key = path.startsWith("/api/v1") ? await app.keyWith("read:status") : undefined;
    const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
    const answer = await visit(app, "status.test", path, { headers });
    expect(answer.status).toBe(404);
    expect(answer.headers.get("location")).toBeNull();
  });

  test("the spelling of a private page answers as a page that does not exist, except to signed-in users", async () => {
    await using app = await spelledSite();
    const [missing, hidden] = [
      await visit(app, "status.test", "/status/NOTHING/"),
      await visit(app, "status.test", "/status/HIDDEN/"),
    ];
    expect(hidden.status).toBe(404);
    expect(hidden.text.replaceAll(/req_\w+/g, "")).toBe(missing.text.replaceAll(/req_\w+/g, ""));
    const cookie = `__Host-allclear=${await app.signedIn("viewer")}`;
    const seen = await visit(app, "status.test", "/status/HIDDEN/", { headers: { cookie } });
    expect([seen.status, seen.headers.get("location")]).toEqual([308, "/status/hidden"]);
    expect(seen.headers.get("cache-control")).toBe("no-store");
  });

  test("the spelling of a path of the API needs the key and the scope of the path", async () => {
    await using app = await spelledSite();
    expectProblem(await app.call("/api/v1/status/ACME/"), "missing_key");
    const key = await app.keyWith("write:incidents");
    expectProblem(await app.call("/api/v1/status/ACME/", { key }), "insufficient_scope");
  });

  test("a custom domain redirects to the paths of its own page only", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "main", name: "Main" });
    await app.page({ slug: "acme", name: "Acme", custom_domains: ["status.acme.example"] });
    for (const host of ["status.acme.example", "status.acme.example.", "Status.ACME.example.:80"]) {
      const at = async (path: string) => {
        const { status, headers } = await visit(app, host, path);
        return [status, headers.get("location")];
      };
      expect(await at("/status")).toEqual([308, "/status/acme"]);
      expect(await at("/status/ACME/")).toEqual([308, "/status/acme"]);
      expect(await at("/status/MAIN/")).toEqual([404, null]);
      expect(await at("/api/v1/status/")).toEqual([404, null]);
      expect(await at("/docs/")).toEqual([404, null]);
    }
  });

  test("/status is not found without a public default page", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/status"), "not_found");
    await app.page({ slug: "hidden", name: "Hidden", visibility: "private" });
    expectProblem(await app.call("/status"), "not_found");
  });
});

describe("a slash at the end of a path with a token", () => {
  test.each([
    ["a heartbeat", "/api/v1/heartbeats/TOKEN"],
    ["a signal", "/api/v1/heartbeats/TOKEN/start"],
    ["a push of Uptime Kuma", "/api/push/push-Token"],
    ["a ping", `/ping/${UUID}`],
    ["a ping in capitals", `/ping/${UUID.toUpperCase()}`],
    ["a signal of a ping", `/ping/${UUID}/fail`],
    ["a ping by slug", "/ping/project-Key/Backup"],
    ["a signal of a ping by slug", "/ping/project-Key/Backup/1"],
  ])("%s is recorded in the same way with the slash", async (_, path) => {
    await using api = await createMonitorApi();
    const { token } = await api.create({ type: "push", config: {} });
    await importJob(api, [
      { kind: "kuma", value: "push-Token" },
      { kind: "healthchecks", value: UUID },
      { kind: "healthchecks", value: "project-Key/Backup" },
    ]);
    for (const method of ["GET", "HEAD", "POST"]) {
      const bare = await api.app.call(path.replace("TOKEN", token), { method });
      const slashed = await api.app.call(`${path.replace("TOKEN", token)}/`, {
        method,
      });
      expect([bare.status, slashed.status, slashed.text]).toEqual([200, 200, bare.text]);
      const [one, other] = api.heartbeats.splice(0);
      expect(one).toBeDefined();
      expect(other).toEqual(one as never);
    }
  });

  test("a result of Gatus is recorded in the same way with the slash", async () => {
    await using api = await createMonitorApi();
    await importJob(api, [{ kind: "gatus", value: "core_backup\0secret" }]);
    const headers = { authorization: "Bearer secret" };
    const path = "/api/v1/endpoints/core_backup/external/?success=true";
    expect((await api.app.call(path, { method: "POST", headers })).status).toBe(200);
    expect(api.heartbeats).toMatchObject([{ outcome: "ok" }]);
  });

  test("an unknown token is not found with the slash, and two slashes are another path", async () => {
    await using api = await createMonitorApi();
    expectProblem(await api.app.call("/api/v1/heartbeats/unknown/"), "not_found");
    const { token } = await api.create({ type: "push", config: {} });
    expectProblem(await api.app.call(`/api/v1/heartbeats/${token}//`), "not_found");
    expect(api.heartbeats).toEqual([]);
  });

  test("a link of a mail confirms with the slash", async () => {
    await using site = await createSubscribingSite();
    const link = await site.requested("ann@example.com");
    expect((await site.app.call(`${link}/`)).status).toBe(200);
    expect(site.subscribers()).toEqual([]);
    const { status } = await site.app.call(`${link}/`, { method: "POST", form: {} });
    expect(status).toBe(303);
    expect(site.subscribers()).toHaveLength(1);
  });
});

describe("a heartbeat with parameters that are not declared", () => {
  test.each(["/TOKEN?utm_source=cron&status=down", "/TOKEN/fail?utm_source=cron&status=up"])(
    "%s is recorded without them",
    async (path) => {
      await using api = await createMonitorApi();
      const { token } = await api.create({ type: "push", config: {} });
      for (const method of ["GET", "POST"]) {
        const sent = `/api/v1/heartbeats${path.replace("TOKEN", token)}`;
        expect((await api.app.call(sent, { method })).status).toBe(200);
      }
      expect(api.heartbeats).toMatchObject([{ outcome: "failed" }, { outcome: "failed" }]);
    },
  );

  test("a declared parameter with a wrong value is still rejected", async () => {
    await using api = await createMonitorApi();
    const { token } = await api.create({ type: "push", config: {} });
    expectProblem(await api.app.call(`/api/v1/heartbeats/${token}?status=bad`), "invalid_request");
    expect(api.heartbeats).toEqual([]);
  });
});

describe("a short host", () => {
  test.each(["x", "web", "nas:80", "nas:8080", "[::1]:8080", "127.0.0.1"])(
    "a request to the short host %s is routed by its path only",
    async (host) => {
      await using site = await createComponentSite();
      const { app, key, path } = site;
      expect((await app.call(path, { key, host })).status).toBe(200);
      expect((await app.call("/docs", { host })).status).toBe(200);
      expectProblem(await app.call(path, { host }), "missing_key");
      // A router that counts characters from a longer host finds a route in each of these.
      for (let shift = 1; shift <= 12; shift++) {
        const prefix = `/${"z".repeat(shift)}`;
        expectProblem(await app.call(`${prefix}${path}`, { key, host }), "not_found");
        expectProblem(await app.call(`${prefix}/docs`, { host }), "not_found");
      }
    },
  );

  test("links are not built from the request's host", async () => {
    await using site = await createComponentSite();
    const { app, key } = site;
    const { text, headers } = await app.call("/api/v1/status/acme", { key, host: "evil.test" });
    expect(text).not.toContain("evil.test");
    expect(JSON.stringify([...headers])).not.toContain("evil.test");
    const list = await app.call("/api/v1/status", { key, host: "evil.test" });
    expect(list.body.data[0].page.url).toBe("https://status.test/status/acme");
  });
});

/**
 * Creates the request that Bun passes on if the Host header is empty or invalid: its URL is only a
 * path.
 */
function withoutHost(path: string, init: RequestInit = {}): Request {
  const request = new Request(`http://status.test${path}`, init);
  Object.defineProperty(request, "url", { value: path });
  return request;
}

describe("an empty or unreadable host", () => {
  test("an empty or unreadable host is rejected on every path and charged to the client address", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const key = await app.keyWith("read:status");
    for (const path of ["/", "/api/v1/key", "/healthz", "/nothing", "//", "/docs"]) {
      for (const headers of [{}, { authorization: `Bearer ${key}` }] as Record<string, string>[]) {
        const answer = await app.app.handle(withoutHost(path, { headers }), () => "203.0.113.7");
        expect(answer.status).toBe(400);
        expect(answer.headers.get("content-type")).toBe("application/problem+json");
        expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
        expect(answer.headers.get("ratelimit-policy")).toStartWith('"public"');
        expect(await answer.json()).toMatchObject({ code: "invalid_request" });
      }
    }
    expect((await app.call("/api/v1/key", { key })).status).toBe(200);
  });

  test("a key in the query is not logged with an empty or unreadable host", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const key = await app.keyWith("read:status");
    const answer = await app.app.handle(withoutHost(`/?key=${key}`), () => "203.0.113.7");
    expect(answer.status).toBe(400);
    expect(app.logged).toHaveLength(1);
    expect(JSON.stringify(app.logged)).not.toContain(key.slice(13));
  });
});
