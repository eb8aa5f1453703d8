import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { getKey } from "../../../src/features/keys/records";
import { type Overlap, OVERLAPS } from "../../../src/features/keys/rules";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";

function rotate(app: TestApp, id: string, overlap: Overlap) {
  return app.ctx.db.write((tx) => rotateKey(app.ctx, tx, id, overlap, CLI_ACTOR));
}

describe("rotating a key", () => {
  test("rotating a key gives it a new value and keeps id, scopes, limit and expiry", async () => {
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

  test("rotating a key with an overlap keeps both values valid until its exact end", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await rotate(app, key.id, "1h");
    await app.clock.advance(3_600_000 - 1);
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
    await app.clock.advance(1);
    const rejected = await app.call("/api/v1/key", { key: value });
    expect(expectProblem(rejected, "expired_key").detail).toBe(
      "This value of the API key was replaced and ended at 2026-03-10T13:00:00.000Z. Use the newest value.",
    );
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
  });

  test("rotating a key without an overlap ends the old value at once", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await rotate(app, key.id, "now");
    expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
    expect((await app.call("/api/v1/key", { key: rotated.value })).status).toBe(200);
  });

  test("the overlaps of a rotation are now, 1 hour, 24 hours and 7 days", () => {
    expect(OVERLAPS).toEqual({ now: 0, "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 });
  });

  test("both values of a rotated key share one bucket", async () => {
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

  test("each value of a rotated key has its own last use", async () => {
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

  test("the newest value of a key is known if several are from one millisecond", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    for (let round = 0; round < 8; round++) {
      const rotated = await rotate(app, key.id, "24h");
      expect(rotated.key.start).toBe(rotated.value.slice(0, 13));
      expect(getKey(app.ctx.db, key.id).start).toBe(rotated.value.slice(0, 13));
    }
  });

  test("rotating a key again does not prolong an older value", async () => {
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

  test("both values of a rotated key end at the key's expiry", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ expires: "2026-03-10T12:30:00Z" });
    const rotated = await rotate(app, key.id, "7d");
    await app.clock.advance(30 * 60_000);
    for (const presented of [value, rotated.value]) {
      expectProblem(await app.call("/api/v1/key", { key: presented }), "expired_key");
    }
  });
});

describe("keys that cannot be rotated", () => {
  test("rotating a revoked key is a conflict and creates no value", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    const revoked = await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
    const rejection = await rejectionOf(rotate(app, key.id, "24h"));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toContain("revoked");
    expect(getKey(app.ctx.db, key.id)).toEqual(revoked);
    expect(app.audit()).toHaveLength(2);
  });

  test("rotating an expired key is a conflict and creates no value", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey({ expires: "2026-03-10T12:00:01Z" });
    await app.clock.advance(1_000);
    const rejection = await rejectionOf(rotate(app, key.id, "24h"));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toContain("expired");
    expect(getKey(app.ctx.db, key.id)).toEqual(key);
    expect(app.audit()).toHaveLength(1);
  });

  test("rotating an unknown key is not_found", async () => {
    await using app = await createTestApp();
    const rejection = await rejectionOf(rotate(app, "key_00000000000000000000000000", "now"));
    expect(rejection.code).toBe("not_found");
    expect(app.audit()).toEqual([]);
  });
});
