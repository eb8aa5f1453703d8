import { describe, expect, test } from "bun:test";
import { updateKey } from "../../../src/features/keys";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";

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

  test("a key at its limit is accepted once after exactly Retry-After seconds", async () => {
    await using app = await createTestApp();
    for (const rate_limit of [1, 5, 7, 59, 60, 61]) {
      const { value: key } = await app.createKey({ rate_limit });
      await drain(app, key);
      const rejected = await app.call("/api/v1/key", { key });
      const seconds = Number(rejected.headers.get("retry-after"));
      await app.clock.advance((seconds - 1) * 1_000);
      expectProblem(await app.call("/api/v1/key", { key }), "rate_limited");
      await app.clock.advance(1_000);
      expect((await app.call("/api/v1/key", { key })).status).toBe(200);
      if (rate_limit < 60) expectProblem(await app.call("/api/v1/key", { key }), "rate_limited");
    }
  });

  test("a key is accepted at its limit per minute over time", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 30 });
    await drain(app, key);
    let admitted = 0;
    for (let second = 0; second < 120; second++) {
      await app.clock.advance(1_000);
      admitted += await drain(app, key);
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

  test("a lowered limit takes effect at once and is the new refill rate", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ rate_limit: 100 });
    for (let i = 0; i < 50; i++) await app.call("/api/v1/key", { key: value });
    await setLimit(app, key.id, 6);
    const rejected = await app.call("/api/v1/key", { key: value });
    expectProblem(rejected, "rate_limited");
    expect(rejected.headers.get("retry-after")).toBe("10");
    await app.clock.advance(10_000);
    expect(await drain(app, value)).toBe(1);
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
