import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";
import { createComponentSite } from "../support/component-site";

describe("a path", () => {
  test.each([
    "//admin",
    "//api/v1/key",
    "/api//v1/key",
    "/api/v1/key/",
    "/api/v1/components/",
    "/healthz/",
    "/API/v1/key",
    "/api/v1/%6bey",
    "/api/v1/key%2F",
    "/api/v1/key;a=b",
    "/api/v1",
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
