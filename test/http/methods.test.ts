import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";
import { createComponentSite } from "../support/component-site";

describe("HEAD", () => {
  test("HEAD has the same status and headers as GET", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    for (const target of ["/", "/docs", "/openapi.json", "/healthz", "/api/v1/status/acme", path]) {
      const get = await app.call(target, { key });
      const head = await app.call(target, { key, method: "HEAD" });
      expect([target, head.status]).toEqual([target, 200]);
      for (const name of ["etag", "content-type", "cache-control", "vary", "ratelimit-policy"]) {
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      }
    }
  });

  test("HEAD needs the same key and scope as GET and supports If-None-Match", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const head = { method: "HEAD" };
    expectProblem(await app.call(path, head), "missing_key");
    const writer = await app.keyWith("write:components");
    expectProblem(await app.call(path, { ...head, key: writer }), "insufficient_scope");
    const etag = (await app.call(path, { key })).headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await app.call(path, { ...head, key, headers })).status).toBe(304);
  });

  test("HEAD is not_found on an unknown path", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/nothing", { method: "HEAD" }), "not_found");
  });
});

describe("OPTIONS", () => {
  test("OPTIONS is 204 on public JSON with CORS headers", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/openapi.json", {
      method: "OPTIONS",
      headers: { origin: "https://example.com", "access-control-request-method": "GET" },
    });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
    expect(answer.headers.get("ratelimit-policy")).toBe('"public";q=100;w=60');
  });

  test("OPTIONS is 405 on other paths, without CORS headers", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    for (const target of [path, "/api/v1/status", "/api/v1/key", "/", "/docs", "/healthz"]) {
      const answer = await app.call(target, { key, method: "OPTIONS" });
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.get("allow")).not.toContain("OPTIONS");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
    expectProblem(await app.call("/nothing", { method: "OPTIONS" }), "not_found");
  });
});

describe("other origins", () => {
  test("other origins can read public JSON and nothing that needs a key", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const headers = { origin: "https://example.com" };
    const allowed = async (target: string) =>
      (await app.call(target, { key, headers })).headers.get("access-control-allow-origin");
    expect(await allowed("/openapi.json")).toBe("*");
    for (const target of [path, "/api/v1/status/acme", "/api/v1/key", "/api/v1/none"]) {
      expect([target, await allowed(target)]).toEqual([target, null]);
    }
  });
});

describe("a method that a path does not have", () => {
  test("an unsupported method is 405 with the supported methods, with and without a key", async () => {
    await using site = await createComponentSite();
    const { app, key, path } = site;
    const cases: [method: string, path: string, allow: string][] = [
      ["DELETE", path, "GET, HEAD, PATCH"],
      ["POST", path, "GET, HEAD, PATCH"],
      ["PUT", "/api/v1/components", "GET, HEAD, PATCH"],
      ["POST", "/api/v1/key", "GET, HEAD"],
      ["PATCH", "/", "GET, HEAD"],
      ["POST", "/openapi.json", "GET, HEAD, OPTIONS"],
      ["PROPFIND", "/api/v1/key", "GET, HEAD"],
      ["PROPFIND", "/", "GET, HEAD"],
    ];
    for (const [method, target, allow] of cases) {
      for (const given of [key, undefined]) {
        const answer = await app.call(target, { key: given, method });
        const { detail } = expectProblem(answer, "method_not_allowed");
        expect([method, target, answer.headers.get("allow")]).toEqual([method, target, allow]);
        expect(detail).toBe(`${method} is not a method of this path. Its methods are ${allow}.`);
      }
    }
    expect(app.events()).toEqual([]);
  });

  test("every method is 404 on an unknown path", async () => {
    await using app = await createTestApp();
    for (const method of ["GET", "POST", "PATCH", "PROPFIND"]) {
      expectProblem(await app.call("/api/v1/nothing", { method }), "not_found");
    }
  });
});
