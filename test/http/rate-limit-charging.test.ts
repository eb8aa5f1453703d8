import { describe, expect, test } from "bun:test";
import { revokeKey, rotateKey } from "../../src/features/keys/keys";
import { CLI_ACTOR } from "../../src/base/actor";
import { chargeOf, createTestApp, expectProblem, type TestApp } from "../support/app";

const PUBLIC_LIMIT = 100;

async function drainAddress(app: TestApp): Promise<void> {
  for (let i = 0; i < PUBLIC_LIMIT; i++) expect((await app.call("/")).status).toBe(200);
  expectProblem(await app.call("/"), "rate_limited");
}

describe("charging of requests", () => {
  test("a request to a protected route is charged to the key and not to the address", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 10 });
    expect(chargeOf(await app.call("/api/v1/key", { key }))).toBe("key 9");
    expect(chargeOf(await app.call("/"))).toBe("public 99");
  });

  test("a request to a public route, an unknown path or with a wrong method is charged to the address", async () => {
    await using app = await createTestApp();
    expect(chargeOf(await app.call("/"))).toBe("public 99");
    expect(chargeOf(await app.call("/docs"))).toBe("public 98");
    expect(chargeOf(await app.call("/status/nobody"))).toBe("public 97");
    expect(chargeOf(await app.call("/nothing"))).toBe("public 96");
    expect(chargeOf(await app.call("/api/v1/nothing"))).toBe("public 95");
    expect(chargeOf(await app.call("/api/v1/key", { method: "DELETE" }))).toBe("public 94");
    expect(chargeOf(await app.call("/openapi.json", { method: "OPTIONS" }))).toBe("public 93");
  });

  test("a public request with a valid key is charged to the address", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 10 });
    for (const [path, method] of [
      ["/", "GET"],
      ["/api/v1/nothing", "GET"],
      ["/api/v1/key", "DELETE"],
    ]) {
      expect(chargeOf(await app.call(path ?? "", { key, method: method ?? "" }))).toStartWith(
        "public",
      );
    }
    expect(chargeOf(await app.call("/api/v1/key", { key }))).toBe("key 9");
  });

  test("a request with a missing, invalid, expired or revoked key is charged to the address", async () => {
    await using app = await createTestApp();
    await using elsewhere = await createTestApp();
    const expired = await app.createKey({ expires: "2026-03-10T12:00:00.001Z" });
    const revoked = await app.createKey();
    const ended = await app.createKey();
    await app.ctx.db.write((tx) => {
      revokeKey(app.ctx, tx, revoked.key.id, CLI_ACTOR);
      rotateKey(app.ctx, tx, ended.key.id, "now", CLI_ACTOR);
    });
    await app.clock.advance(1);
    const presented: [string | undefined, string][] = [
      [undefined, "missing_key"],
      ["nonsense", "invalid_key"],
      [await elsewhere.keyWith("read:status"), "invalid_key"],
      [expired.value, "expired_key"],
      [ended.value, "expired_key"],
      [revoked.value, "revoked_key"],
    ];
    let left = PUBLIC_LIMIT;
    for (const [key, code] of presented) {
      const answer = await app.call("/api/v1/key", { key });
      expect(answer.body.code).toBe(code);
      expect(chargeOf(answer)).toBe(`public ${--left}`);
    }
  });

  test("a request with a key in the query is charged to the address", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    expect(chargeOf(await app.call(`/api/v1/key?key=${key}`, { key }))).toBe("public 99");
    expect(chargeOf(await app.call("/api/v1/key?access_token=x", { key }))).toBe("public 98");
  });

  test("health checks are charged to their own bucket", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    expect(chargeOf(await app.call("/healthz"))).toBe("health 1199");
    expect(chargeOf(await app.call("/readyz", { key }))).toBe("health 1198");
    expect(chargeOf(await app.call("/healthz", { from: "198.51.100.1" }))).toBe("health 1199");
    expect(chargeOf(await app.call("/healthz", { method: "POST" }))).toBe("public 99");
  });
});

describe("the tokens per request", () => {
  test("a request takes one token of its key with any answer: 200, 304, 400, 403, 404, 412, 413, 415, 422", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({ slug: "acme" }, ["API"]);
    const { value: key } = await app.createKey({ scopes: ["write:components", "read:status"] });
    const { value: reader } = await app.createKey({ scopes: ["read:status"] });
    const component = `/api/v1/components/${components["API"]}`;
    const patch = { key, method: "PATCH" };
    const json = { "content-type": "application/json" };
    const etag = (await app.call(component, { key })).headers.get("etag") ?? "";
    const answers = [
      await app.call(component, { key }),
      await app.call(component, { key, headers: { "if-none-match": etag } }),
      await app.call("/api/v1/components?limit=0", { key }),
      await app.call("/api/v1/components/none", { key }),
      await app.call(component, { ...patch, raw: "{", headers: json }),
      await app.call(component, {
        ...patch,
        json: { status: "operational" },
        headers: { "if-match": '"9"' },
      }),
      await app.call(component, { ...patch, raw: " ".repeat(300 * 1024), headers: json }),
      await app.call(component, { ...patch, raw: "x", headers: { "content-type": "text/plain" } }),
      await app.call(component, { ...patch, json: {} }),
      await app.call(component, { ...patch, json: { status: "major_outage" } }),
      await app.call(component, { key, method: "HEAD" }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([
      200, 304, 400, 404, 400, 412, 413, 415, 422, 200, 200,
    ]);
    expect(answers.map(chargeOf)).toEqual(answers.map((_, index) => `key ${998 - index}`));
    const rejected = await app.call(component, { ...patch, key: reader, json: {} });
    expectProblem(rejected, "insufficient_scope");
    expect(chargeOf(rejected)).toBe("key 999");
    expect(chargeOf(await app.call("/"))).toBe("public 99");
  });

  test("a request takes one token of its address with any answer", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const etag = (await app.call("/status/acme")).headers.get("etag") ?? "";
    const answers = [
      await app.call("/status/acme", { headers: { "if-none-match": etag } }),
      await app.call("/status/acme", { method: "HEAD" }),
      await app.call("/status/acme", { method: "PROPFIND" }),
      await app.call("/nothing"),
      await app.call("/api/v1/status/acme"),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([304, 200, 405, 404, 401]);
    expect(answers.map(chargeOf)).toEqual([98, 97, 96, 95, 94].map((left) => `public ${left}`));
  });

  test("a rate_limited request takes no token, so Retry-After stays correct", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 1 });
    await app.call("/api/v1/key", { key });
    for (let i = 0; i < 50; i++)
      expectProblem(await app.call("/api/v1/key", { key }), "rate_limited");
    await app.clock.advance(60_000);
    expect((await app.call("/api/v1/key", { key })).status).toBe(200);
  });
});

describe("an address with an empty bucket", () => {
  test("an address with an empty bucket does not block a valid key", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 10 });
    await drainAddress(app);
    expect(chargeOf(await app.call("/api/v1/key", { key }))).toBe("key 9");
  });

  test("an address with an empty bucket blocks requests without a valid key before the key is checked", async () => {
    await using app = await createTestApp();
    await drainAddress(app);
    expectProblem(await app.call("/api/v1/key"), "rate_limited");
    expectProblem(await app.call("/api/v1/key", { key: "nonsense" }), "rate_limited");
  });

  test("an address with an empty bucket can send health checks, which have their own limit", async () => {
    await using app = await createTestApp();
    await drainAddress(app);
    for (let i = 0; i < 1_200; i++) {
      expect((await app.call(i % 2 === 0 ? "/healthz" : "/readyz")).status).toBe(200);
    }
    expectProblem(await app.call("/healthz"), "rate_limited");
    expect((await app.call("/", { from: "198.51.100.1" })).status).toBe(200);
  });

  test("an empty bucket of one address does not affect another", async () => {
    await using app = await createTestApp();
    await drainAddress(app);
    expect(chargeOf(await app.call("/", { from: "198.51.100.1" }))).toBe("public 99");
  });
});

test("a key's bucket is not charged for a forged value", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey({ rate_limit: 10 });
  const forged = value.slice(0, -1) + (value.endsWith("0") ? "1" : "0");
  for (const guess of [key.id, key.start, forged, value.toLowerCase(), `${value}=`]) {
    const answer = await app.call("/api/v1/key", { key: guess });
    expectProblem(answer, "invalid_key");
    expect(chargeOf(answer)).toStartWith("public");
  }
  expect(chargeOf(await app.call("/api/v1/key", { key: value }))).toBe("key 9");
});

describe("a file under its hashed name", () => {
  /** The paths that a page refers to. */
  async function assetsOf(app: TestApp): Promise<string[]> {
    const { text } = await app.call("/docs/try");
    return [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  }

  test("a file with a hashed name is not charged and is sent with an empty bucket", async () => {
    await using app = await createTestApp();
    const assets = await assetsOf(app);
    expect(assets.length).toBeGreaterThan(1);
    for (const path of assets) {
      const answer = await app.call(path);
      expect(answer.status).toBe(200);
      expect(chargeOf(answer)).toBe("none");
      expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    }
    expect(chargeOf(await app.call("/"))).toBe("public 98");
    for (let left = 98; left > 0; left--) await app.call("/");
    expectProblem(await app.call("/"), "rate_limited");
    expect((await app.call(assets[0] ?? "")).status).toBe(200);
  });

  test("an unknown file is charged to the address", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/assets/nothing.0123456789abcdef.css");
    expectProblem(answer, "not_found");
    expect(chargeOf(answer)).toBe("public 99");
    expect(chargeOf(await app.call("/assets/docs.css"))).toBe("public 98");
    expect(chargeOf(await app.call("/assets/docs.css", { method: "POST" }))).toBe("public 97");
    for (let left = 97; left > 0; left--) await app.call("/assets/nothing.css");
    expectProblem(await app.call("/assets/nothing.css"), "rate_limited");
  });
});
