import { describe, expect, test } from "bun:test";
import { getKey, OVERLAPS, type Overlap, revokeKey, rotateKey } from "../../../src/features/keys";
import { CLI_ACTOR } from "../../../src/kernel/actor";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/refusal";

function rotate(app: TestApp, id: string, overlap: Overlap) {
  return app.ctx.db.write((tx) => rotateKey(app.ctx, tx, id, overlap, CLI_ACTOR));
}

describe("rotating a key", () => {
  test("gives it a new value of the same id, scopes, limit and expiration", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({
      scopes: ["read:status", "write:components"],
      rate_limit: 7,
      expires: "2027-01-31",
    });
    const rotated = await rotate(app, key.id, "24h");
    expect(rotated.value).not.toBe(value);
    const { id, scopes, rate_limit, expires_at, name } = key;
    expect(rotated.key).toMatchObject({ id, scopes, rate_limit, expires_at, name, version: 2 });
    const own = await app.call("/api/v1/key", { key: rotated.value });
    expect(own.body).toMatchObject({ id, scopes, rate_limit, expires_at, name });
    expect(own.body.start).toBe(rotated.value.slice(0, 13));
    expect(app.audit().map((entry) => entry.action)).toEqual(["key.create", "key.rotate"]);
  });

  test("with an overlap lets both values work until it is over, to the millisecond", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await rotate(app, key.id, "1h");
    await app.clock.advance(3_600_000 - 1);
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
    await app.clock.advance(1);
    const refused = await app.call("/api/v1/key", { key: value });
    expect(expectProblem(refused, "expired_key").detail).toBe(
      "This value of the API key was replaced and ended at 2026-03-10T13:00:00.000Z. Use the newest value.",
    );
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
  });

  test("without an overlap ends the old value at its next request", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await rotate(app, key.id, "now");
    expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
  });

  test("offers now, 1 hour, 24 hours and 7 days", () => {
    expect(OVERLAPS).toEqual({ now: 0, "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 });
  });

  test("leaves the two values one bucket, so that rotation is no way around the limit", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ rate_limit: 4 });
    await app.call("/api/v1/key", { key: value });
    const rotated = await rotate(app, key.id, "1h");
    const remaining = [rotated.value, value, rotated.value].map(async (presented) => {
      const answer = await app.call("/api/v1/key", { key: presented });
      return answer.headers.get("x-ratelimit-remaining");
    });
    expect(await Promise.all(remaining)).toEqual(["2", "1", "0"]);
    for (const presented of [value, rotated.value]) {
      expectProblem(await app.call("/api/v1/key", { key: presented }), "rate_limited");
    }
  });

  test("keeps a last use for each value, so that it shows when the old one has fallen silent", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await rotate(app, key.id, "24h");
    await app.call("/api/v1/key", { key: value, from: "198.51.100.1" });
    await app.clock.advance(60_000);
    await app.call("/api/v1/key", { key: rotated.value, from: "198.51.100.2" });
    await app.clock.advance(5_000);
    const { last_used_at, last_used_ip, values } = getKey(app.ctx.db, key.id);
    expect(values).toMatchObject([
      { last_used_at: "2026-03-10T12:01:00.000Z", last_used_ip: "198.51.100.2", ends_at: null },
      { last_used_at: "2026-03-10T12:00:00.000Z", last_used_ip: "198.51.100.1" },
    ]);
    expect(values[1]?.ends_at).toBe("2026-03-11T12:00:00.000Z");
    // The key's own is its newest value's.
    expect({ last_used_at, last_used_ip }).toEqual({
      last_used_at: "2026-03-10T12:01:00.000Z",
      last_used_ip: "198.51.100.2",
    });
  });

  test("knows which value is the newest when all are of one millisecond", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    for (let round = 0; round < 8; round++) {
      const rotated = await rotate(app, key.id, "24h");
      expect(rotated.key.start).toBe(rotated.value.slice(0, 13));
      expect(getKey(app.ctx.db, key.id).start).toBe(rotated.value.slice(0, 13));
    }
  });

  test("again never gives an older value more time than it had", async () => {
    await using app = await createTestApp();
    const { key, value: first } = await app.createKey();
    const second = await rotate(app, key.id, "1h");
    const third = await rotate(app, key.id, "7d");
    expect((await app.call("/api/v1/key", { key: first })).status).toBe(200);
    await app.clock.advance(3_600_000);
    expectProblem(await app.call("/api/v1/key", { key: first }), "expired_key");
    expect((await app.call("/api/v1/key", { key: second.value })).status).toBe(200);
    await rotate(app, key.id, "now");
    for (const { value } of [second, third]) {
      expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
    }
  });

  test("outlasts neither value beyond the key's own expiration", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ expires: "2026-03-10T12:30:00Z" });
    const rotated = await rotate(app, key.id, "7d");
    await app.clock.advance(30 * 60_000);
    for (const presented of [value, rotated.value]) {
      expectProblem(await app.call("/api/v1/key", { key: presented }), "expired_key");
    }
  });
});

describe("a key that cannot be rotated", () => {
  test("is one that was revoked: a conflict, and no value is made", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    const revoked = await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
    const rejection = await rejectionOf(rotate(app, key.id, "24h"));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toContain("revoked");
    expect(getKey(app.ctx.db, key.id)).toEqual(revoked);
    expect(app.audit()).toHaveLength(2);
  });

  test("is one that has expired: a conflict, and no value is made", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey({ expires: "2026-03-10T12:00:01Z" });
    await app.clock.advance(1_000);
    const rejection = await rejectionOf(rotate(app, key.id, "24h"));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toContain("expired");
    expect(getKey(app.ctx.db, key.id)).toEqual(key);
    expect(app.audit()).toHaveLength(1);
  });

  test("is one that does not exist", async () => {
    await using app = await createTestApp();
    const rejection = await rejectionOf(rotate(app, "key_00000000000000000000000000", "now"));
    expect(rejection.code).toBe("not_found");
    expect(app.audit()).toEqual([]);
  });
});
