import { describe, expect, test } from "bun:test";
import { type Answer, createTestApp, expectProblem } from "../../support/app";

const NOON_SECONDS = Date.parse("2026-03-10T12:00:00.000Z") / 1_000;

/** Returns the rate limit headers of an answer. */
function limitHeaders({ headers }: Answer) {
  return {
    policy: headers.get("ratelimit-policy"),
    state: headers.get("ratelimit"),
    limit: headers.get("x-ratelimit-limit"),
    remaining: headers.get("x-ratelimit-remaining"),
    reset: headers.get("x-ratelimit-reset"),
    retryAfter: headers.get("retry-after"),
  };
}

describe("the headers of a limit", () => {
  test("rate limit headers contain policy, limit, remaining requests and time until the refill", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 20 });
    await app.call("/api/v1/key", { key });
    await app.call("/api/v1/key", { key });
    expect(limitHeaders(await app.call("/api/v1/key", { key }))).toEqual({
      policy: '"key";q=20;w=60',
      state: '"key";r=17;t=60',
      limit: "20",
      remaining: "17",
      reset: String(NOON_SECONDS + 60),
      retryAfter: null,
    });
  });

  test("rate limit headers round the time until the refill up", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 20 });
    await app.call("/api/v1/key", { key });
    await app.clock.advance(1_400);
    // 58.6 seconds are left, and the wall clock is at 1.4.
    expect(limitHeaders(await app.call("/api/v1/key", { key }))).toMatchObject({
      state: '"key";r=18;t=59',
      remaining: "18",
      reset: String(NOON_SECONDS + 2 + 59),
    });
    await app.clock.advance(58_600);
    expect(limitHeaders(await app.call("/api/v1/key", { key }))).toMatchObject({
      state: '"key";r=19;t=60',
      remaining: "19",
      reset: String(NOON_SECONDS + 60 + 60),
    });
  });

  test("rate limit headers of a request without a key describe the public limit", async () => {
    await using app = await createTestApp();
    expect(limitHeaders(await app.call("/openapi.json"))).toEqual({
      policy: '"public";q=100;w=60',
      state: '"public";r=99;t=60',
      limit: "100",
      remaining: "99",
      reset: String(NOON_SECONDS + 60),
      retryAfter: null,
    });
  });

  test("rate limit headers of a health check describe its own limit", async () => {
    await using app = await createTestApp();
    expect(limitHeaders(await app.call("/healthz"))).toMatchObject({
      policy: '"health";q=1200;w=60',
      state: '"health";r=1199;t=60',
    });
  });

  test("a rate_limited answer has Retry-After, and its detail names the limit", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 2 });
    await app.call("/api/v1/key", { key });
    await app.call("/api/v1/key", { key });
    await app.clock.advance(29_500);
    const rejected = await app.call("/api/v1/key", { key });
    expect(expectProblem(rejected, "rate_limited").detail).toBe(
      "The limit of 2 requests a minute for the API key is used up. Try again in 31 seconds.",
    );
    expect(limitHeaders(rejected)).toEqual({
      policy: '"key";q=2;w=60',
      state: '"key";r=0;t=31',
      limit: "2",
      remaining: "0",
      reset: String(NOON_SECONDS + 30 + 31),
      retryAfter: "31",
    });
  });

  test("a rate_limited answer to an address names the address's limit", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "60" } });
    for (let i = 0; i < 60; i++) await app.call("/");
    await app.clock.advance(59_001);
    const rejected = await app.call("/");
    expect(expectProblem(rejected, "rate_limited").detail).toBe(
      "The limit of 60 requests a minute for this address for requests without a valid API key is used up. Try again in 1 second.",
    );
    expect(rejected.headers.get("retry-after")).toBe("1");
  });

  test("rate limit headers are exposed to other origins on public JSON", async () => {
    await using app = await createTestApp();
    const exposed = (answer: Answer) => answer.headers.get("access-control-expose-headers");
    const names = exposed(await app.call("/openapi.json"))
      ?.toLowerCase()
      .split(", ");
    for (const name of [
      "ratelimit",
      "ratelimit-policy",
      "retry-after",
      "x-ratelimit-limit",
      "x-ratelimit-remaining",
      "x-ratelimit-reset",
      "x-request-id",
      "etag",
    ]) {
      expect(names).toContain(name);
    }
    const key = await app.keyWith("read:status");
    expect(exposed(await app.call("/api/v1/key", { key }))).toBeNull();
  });

  test("a 429 on public JSON exposes its headers to other origins", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.call("/openapi.json");
    const rejected = await app.call("/openapi.json");
    expectProblem(rejected, "rate_limited");
    expect(rejected.headers.get("access-control-allow-origin")).toBe("*");
    expect(rejected.headers.get("access-control-expose-headers")).toContain("Retry-After");
  });
});
