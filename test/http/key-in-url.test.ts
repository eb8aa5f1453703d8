import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem, type TestApp } from "../support/app";

/** Queries with KEY for a value of a key's shape. */
const QUERIES = [
  "key=KEY",
  "KEY",
  "KEY=1",
  "a=1&b=2&c=KEY",
  "page=xKEYx",
  "q=Bearer%20KEY",
  "q=%61ENCODED",
  "access_token=KEY",
  "access_token=x",
  "access_token=",
  "access_token",
  "access%5Ftoken=x",
];

function withKey(query: string, value: string): string {
  return query.replace("KEY", value).replace("ENCODED", value.slice(1));
}

describe("a key in the query", () => {
  test.each(QUERIES)(
    "a key in the query ?%s is rejected first and redacted in the log",
    async (query) => {
      await using app = await createTestApp({ logLevel: "debug" });
      const value = await app.keyWith("read:status");
      const answer = await app.call(`/api/v1/key?${withKey(query, value)}`, { key: value });
      expectProblem(answer, "invalid_request");
      expect(answer.text).not.toContain(value.slice(13));
      expect(answer.headers.get("ratelimit-policy")).toStartWith('"public"');
      const line = app.logged.find((logged) => logged.msg === "request");
      expect(line).toMatchObject({ status: 400, method: "GET" });
      expect(JSON.stringify(app.logged)).not.toContain(value.slice(13));
    },
  );

  test("a key in the query is rejected on every path and method, valid or not", async () => {
    await using app = await createTestApp();
    await using elsewhere = await createTestApp();
    for (const value of [
      await app.keyWith("read:status"),
      await elsewhere.keyWith("read:status"),
    ]) {
      for (const path of [
        "/",
        "/nothing",
        "/healthz",
        "/docs",
        "/assets/x.css",
        "/api/v1/status",
      ]) {
        for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
          const answer = await app.call(`${path}?key=${value}`, { method });
          expectProblem(answer, "invalid_request");
        }
      }
      // The address has paid for all of these.
      await app.clock.advance(60_000);
    }
  });

  test("a key in the query never authenticates, under any parameter name", async () => {
    await using app = await createTestApp();
    const value = await app.keyWith("read:status");
    for (const name of ["access_token", "token", "key", "api_key", "authorization"]) {
      expectProblem(await app.call(`/api/v1/key?${name}=${value}`), "invalid_request");
    }
  });

  test("a query without a key is accepted", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    for (const query of [
      "",
      "?",
      "?a=allclear_",
      "?access_tokens=1",
      `?start=${key.slice(0, 13)}`,
    ]) {
      expect((await app.call(`/api/v1/key${query}`, { key })).status).toBe(200);
    }
  });
});

describe("the request log", () => {
  const urlOf = (app: TestApp) => app.logged.find((line) => line.msg === "request")?.["url"];

  test("the request log contains a URL without a key unchanged", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    await app.call("/api/v1/components?page=a%20b&limit=5");
    expect(urlOf(app)).toEndWith("/api/v1/components?page=a%20b&limit=5");
  });

  test("the request log redacts a key in the path", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const value = await app.keyWith("read:status");
    await app.call(`/status/${value}`);
    expect(urlOf(app)).toEndWith("/status/[redacted]");
  });

  test("the request log does not contain the address that subscribers are searched for", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const list = "/admin/subscribers?page=acme&q=ann%2540%26b%40example.com";
    await app.call(list);
    await app.call(`/admin/sign-in?next=${encodeURIComponent(list)}`);
    const requests = app.logged.filter((line) => line.msg === "request");
    expect(requests.map((line) => String(line["url"]).replace(/^https?:\/\/[^/]+/, ""))).toEqual([
      "/admin/subscribers?[redacted]",
      "/admin/sign-in?next=/admin/subscribers?[redacted]",
    ]);
  });

  test("the request log contains the id of the key, if any", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const { key, value } = await app.createKey();
    await app.call("/api/v1/key", { key: value });
    await app.call("/api/v1/key");
    const requests = app.logged.filter((line) => line.msg === "request");
    expect(requests.map((line) => line["key"])).toEqual([key.id, undefined]);
    expect(JSON.stringify(app.logged)).not.toContain(value.slice(13));
  });

  test("the request log is written at the level debug only", async () => {
    await using app = await createTestApp({ logLevel: "info" });
    await app.call("/");
    expect(app.logged).toEqual([]);
  });
});
