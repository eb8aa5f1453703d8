import { describe, expect, test } from "bun:test";
import { BucketMap } from "../../../src/features/limits/limiter";
import { systemRandom } from "../../../src/base/hash";
import { createTestApp, type TestApp } from "../../support/app";
import { createTestClock } from "../../support/clock";

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
  for (const [name, from] of [
    ["IPv4", "198.51.100.7"],
    ["IPv6", "2001:db8:7::1"],
  ] as const) {
    test(`an excess ${name} address has the public limit, and its requests are counted`, async () => {
      await using app = await createTestApp({ env: SMALL });
      await fill(app);
      expect(app.app.limiter.stats().public.overflowed).toBe(0);
      const statuses: number[] = [];
      for (let request = 0; request < 4; request++) statuses.push(await knock(app, from));
      expect(statuses).toEqual([200, 200, 200, 429]);
      expect(app.app.limiter.stats().public).toMatchObject({ buckets: 16, overflowed: 4 });
    });
  }

  test("excess addresses of one network do not share a limit", async () => {
    await using app = await createTestApp({ env: SMALL });
    await fill(app);
    let served = 0;
    for (let i = 0; i < 200; i++) {
      if ((await knock(app, `198.51.100.${i}`)) === 200) served += 1;
    }
    // Four of 200 would have to share one of the 65,536 counters: one run in 4 million.
    expect(served).toBe(200);
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

  test("an excess key keeps a limit that is below the public one", async () => {
    await using app = await createTestApp({
      env: { ALLCLEAR_BUCKET_CAPACITY: "16", ALLCLEAR_PUBLIC_RATE_LIMIT: "100" },
    });
    for (let i = 0; i < 16; i++) {
      await app.call("/api/v1/key", { key: await app.keyWith("read:status") });
    }
    const { value: key } = await app.createKey({ rate_limit: 5 });
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push(await app.call("/api/v1/key", { key }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
      "4",
      "3",
      "2",
      "1",
      "0",
      "0",
    ]);
    expect(app.app.limiter.stats().key.overflowed).toBe(6);
  });

  test("excess addresses get their own buckets when the minutes of others are over", async () => {
    await using app = await createTestApp({ env: SMALL });
    await fill(app);
    await app.clock.advance(60_000);
    for (let i = 0; i < 16; i++) expect(await knock(app, `198.51.100.${i}`)).toBe(200);
    expect(app.app.limiter.stats().public).toMatchObject({ buckets: 16, overflowed: 0 });
  });
});

test("of 300,000 addresses in a minute, a known one keeps its count, and newcomers are served", async () => {
  const clock = createTestClock();
  const map = new BucketMap({ clock, random: systemRandom, capacity: 100_000, overflowLimit: 100 });
  for (let request = 0; request < 100; request++) map.take("192.0.2.1", 100);
  for (let request = 0; request < 40; request++) map.take("192.0.2.2", 100);
  let refused = 0;
  for (let i = 0; i < 300_000; i++) {
    const address = `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
    if (!map.take(address, 100).isAllowed) refused += 1;
    if (i % 10_000 === 0) await clock.advance(1_900);
  }
  expect(refused).toBe(0);
  expect(map.overflowed).toBe(300_000 - 100_000 + 2);
  expect(map.take("192.0.2.1", 100).isAllowed).toBe(false);
  expect(map.remaining("192.0.2.2", 100)).toBe(60);
  expect(map.take("192.0.2.3", 100).isAllowed).toBe(true);
});
