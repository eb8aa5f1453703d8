import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createLimiter, POLICIES } from "../../../src/features/limits/limiter";
import { systemRandom } from "../../../src/base/hash";
import {
  type Answer,
  createTestApp,
  expectProblem,
  type TestApp,
  testConfig,
} from "../../support/app";
import { createTestClock } from "../../support/clock";
import { updateKey } from "../../support/examined";

function setLimit(app: TestApp, id: string, limit: number) {
  return app.ctx.db.write((tx) => updateKey(app.ctx, tx, id, { rate_limit: limit }, CLI_ACTOR));
}

/** Calls until the limit is met, and answers how many were let through. */
async function drain(app: TestApp, key: string): Promise<number> {
  for (let admitted = 0; ; admitted++) {
    const { status } = await app.call("/api/v1/key", { key });
    if (status === 429) return admitted;
  }
}

describe("a key's limit", () => {
  test("a key with a limit of 5 is 429 at the sixth request", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 5 });
    for (let i = 0; i < 5; i++) {
      expect((await app.call("/api/v1/key", { key })).status).toBe(200);
    }
    expectProblem(await app.call("/api/v1/key", { key }), "rate_limited");
  });

  test("a key's limit is 1000 by default", async () => {
    await using app = await createTestApp();
    expect(await drain(app, await app.keyWith("read:status"))).toBe(1_000);
  });

  test("a key at its limit has the whole limit again after exactly Retry-After seconds", async () => {
    await using app = await createTestApp();
    for (const [rate_limit, laterMs] of [
      [1, 0],
      [5, 0],
      [5, 1],
      [60, 30_400],
      [61, 59_999],
    ] as const) {
      const { value: key } = await app.createKey({ rate_limit });
      await drain(app, key);
      await app.clock.advance(laterMs);
      const rejected = await app.call("/api/v1/key", { key });
      expectProblem(rejected, "rate_limited");
      const seconds = Number(rejected.headers.get("retry-after"));
      expect(seconds).toBe(Math.ceil((60_000 - laterMs) / 1_000));
      if (seconds > 1) await app.clock.advance((seconds - 1) * 1_000);
      expectProblem(await app.call("/api/v1/key", { key }), "rate_limited");
      await app.clock.advance(1_000);
      expect(await drain(app, key)).toBe(rate_limit);
    }
  });

  test("a key has its limit in each minute that begins with its first request", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 30 });
    let admitted = 0;
    for (let second = 0; second < 120; second++) {
      admitted += await drain(app, key);
      await app.clock.advance(1_000);
    }
    expect(admitted).toBe(60);
  });

  test("a raised limit takes effect at once for a key at its limit", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ rate_limit: 5 });
    await drain(app, value);
    await setLimit(app, key.id, 8);
    expect(await drain(app, value)).toBe(3);
  });

  test("a lowered limit takes effect at once, against what was taken", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ rate_limit: 100 });
    for (let i = 0; i < 50; i++) await app.call("/api/v1/key", { key: value });
    await setLimit(app, key.id, 6);
    const rejected = await app.call("/api/v1/key", { key: value });
    expectProblem(rejected, "rate_limited");
    expect(rejected.headers.get("retry-after")).toBe("60");
    await setLimit(app, key.id, 52);
    expect(await drain(app, value)).toBe(2);
    await app.clock.advance(60_000);
    expect(await drain(app, value)).toBe(52);
  });

  test("a key's limit does not affect another key of the same address", async () => {
    await using app = await createTestApp();
    const [drained, other] = [
      await app.createKey({ rate_limit: 2 }),
      await app.createKey({ rate_limit: 2 }),
    ];
    await drain(app, drained.value);
    expect(await drain(app, other.value)).toBe(2);
  });
});

/** Sends requests at a steady rate, and answers how many were let through. */
async function pace(
  app: TestApp,
  count: number,
  gapMs: number,
  send: () => Promise<Answer>,
): Promise<number> {
  let admitted = 0;
  for (let request = 0; request < count; request++) {
    if (request > 0 && gapMs > 0) await app.clock.advance(gapMs);
    if ((await send()).status !== 429) admitted += 1;
  }
  return admitted;
}

describe("a minute of a caller", () => {
  for (const seconds of [0, 23, 50, 59]) {
    test(`of 115 requests of an address over ${seconds} seconds, 100 are answered`, async () => {
      await using app = await createTestApp();
      const gapMs = (seconds * 1_000) / 114;
      expect(await pace(app, 115, gapMs, () => app.call("/api/v1/key"))).toBe(100);
    });
  }

  for (const seconds of [0, 59]) {
    test(`of 1,001 requests of a key over ${seconds} seconds, 1,000 are answered`, async () => {
      await using app = await createTestApp();
      const key = await app.keyWith("read:status");
      const gapMs = (seconds * 1_000) / 1_000;
      expect(await pace(app, 1_001, gapMs, () => app.call("/api/v1/key", { key }))).toBe(1_000);
    });
  }

  test("an address that is 5 % below its limit for ten minutes is never refused", async () => {
    await using app = await createTestApp();
    expect(await pace(app, 950, 60_000 / 95, () => app.call("/api/v1/key"))).toBe(950);
  });

  test("every policy refuses what is beyond its limit in a minute, however slowly it comes", async () => {
    const clock = createTestClock();
    const limiter = createLimiter({ clock, config: testConfig(), random: systemRandom });
    const address = { ip: "192.0.2.1", network: "192.0.2.1" };
    for (const [limit, charge] of [
      [1_000, () => limiter.chargeKey("key", 1_000)],
      [100, () => limiter.chargeAddress(address)],
      [600, () => limiter.chargeSession(1)],
      [120, () => limiter.chargeHeartbeat("token")],
      [1_200, () => limiter.chargeAlerts("token")],
      [600, () => limiter.chargeLocation("location")],
      [10, () => limiter.chargeLink("token")],
      [600, () => limiter.chargeReporter()],
      [1_200, () => limiter.chargeHealthCheck(address)],
      [600, () => limiter.chargeForward(address)],
    ] as const) {
      let admitted = 0;
      for (let request = 0; request <= limit; request++) {
        if (charge().decision.isAllowed) admitted += 1;
        await clock.advance(59_999 / (limit + 1));
      }
      expect(admitted).toBe(limit);
    }
    expect(Object.values(limiter.stats()).map(({ rejected }) => rejected)).toEqual(
      Object.keys(POLICIES).map(() => 1),
    );
  });
});
