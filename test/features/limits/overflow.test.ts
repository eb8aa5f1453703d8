import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../support/app";

/** Room for sixteen addresses, each with three requests a minute. */
const SMALL = { ALLCLEAR_BUCKET_CAPACITY: "16", ALLCLEAR_PUBLIC_RATE_LIMIT: "3" };

async function knock(app: TestApp, from: string): Promise<number> {
  return (await app.call("/", { from })).status;
}

async function fill(app: TestApp): Promise<void> {
  for (let i = 0; i < 16; i++) {
    for (let times = 0; times < 3; times++) await knock(app, `203.0.113.${i}`);
  }
}

describe("more addresses than buckets", () => {
  test("excess addresses share the bucket of their /16 with the public limit and are counted", async () => {
    await using app = await createTestApp({ env: SMALL });
    await fill(app);
    expect(app.app.limiter.stats().public.overflowed).toBe(0);
    const newcomers = ["198.51.0.1", "198.51.100.2", "198.51.200.3", "198.51.255.4"];
    const statuses = await Promise.all(newcomers.map((from) => knock(app, from)));
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(app.app.limiter.stats().public.overflowed).toBe(4);
  });

  test("excess IPv6 addresses share the bucket of their /32", async () => {
    await using app = await createTestApp({ env: SMALL });
    await fill(app);
    const newcomers = ["2001:db8::1", "2001:db8:1::1", "2001:db8:ffff:1::1", "2001:db8:2:3::1"];
    const statuses = await Promise.all(newcomers.map((from) => knock(app, from)));
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  test("excess addresses do not reset an address at its limit", async () => {
    await using app = await createTestApp({ env: SMALL });
    await fill(app);
    for (let i = 0; i < 500; i++) await knock(app, `100.64.${i % 250}.${i % 199}`);
    for (let i = 0; i < 16; i++) expect(await knock(app, `203.0.113.${i}`)).toBe(429);
  });

  test("excess addresses do not affect keys or health checks", async () => {
    await using app = await createTestApp({ env: SMALL });
    const key = await app.keyWith("read:status");
    await fill(app);
    for (let i = 0; i < 100; i++) await knock(app, `100.64.0.${i}`);
    const answer = await app.call("/api/v1/key", { key, from: "100.64.0.1" });
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("999");
    expect((await app.call("/healthz", { from: "100.64.0.1" })).status).toBe(200);
  });

  test("excess addresses get their own buckets when others are full again", async () => {
    await using app = await createTestApp({ env: SMALL });
    await fill(app);
    await app.clock.advance(60_001);
    for (let i = 0; i < 16; i++) expect(await knock(app, `198.51.100.${i}`)).toBe(200);
    expect(app.app.limiter.stats().public).toMatchObject({ buckets: 16, overflowed: 0 });
  });
});
