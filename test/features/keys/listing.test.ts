import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { getKey, getKeyListing, listKeyPage } from "../../../src/features/keys/records";
import { createTestApp, type TestApp } from "../../support/app";
import { atOnce } from "../../support/turns";

const HOUR = 3_600_000;

function list(app: TestApp) {
  const { pendingLastUse } = app.app.usage;
  const query = { filter: "all", limit: 50, now: app.clock.now() } as const;
  return atOnce(listKeyPage(app.ctx.db, query, pendingLastUse)).keys;
}

function rotate(app: TestApp, id: string, overlap: "now" | "1h" | "24h") {
  return app.ctx.db.write((tx) => rotateKey(app.ctx, tx, id, overlap, CLI_ACTOR));
}

test("a listed key contains the key's resource and its usage", async () => {
  await using app = await createTestApp();
  const { key } = await app.createKey({ name: "CI", expires: "2027-01-31" });
  expect(list(app)).toEqual([
    {
      ...key,
      state: "live",
      requests_24h: Array(24).fill(0),
      is_limited: false,
      old_value: null,
    },
  ]);
  expect(list(app)).toEqual([getKeyListing(app.ctx.db, key.id, app.clock.now())]);
});

test("a key that does not exist has no listing", async () => {
  await using app = await createTestApp();
  const read = () => getKeyListing(app.ctx.db, "key_00000000000000000000000000", app.clock.now());
  expect(read).toThrow("key_00000000000000000000000000");
});

test("a key is listed as live, expired or revoked, and revoked comes first", async () => {
  await using app = await createTestApp();
  const { key: ending } = await app.createKey({ expires: "2026-03-10T12:00:01Z" });
  const { key: revoked } = await app.createKey({ expires: "2026-03-10T12:00:01Z" });
  await app.createKey();
  const states = () => list(app).map((key) => key.state);
  expect(states()).toEqual(["live", "live", "live"]);
  await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, revoked.id, CLI_ACTOR));
  await app.clock.advance(999);
  expect(states()).toEqual(["live", "revoked", "live"]);
  await app.clock.advance(1);
  expect(states()).toEqual(["live", "revoked", "expired"]);
  expect(list(app)[2]?.id).toBe(ending.id);
});

test("a use of a key is listed before it is written", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey();
  await app.call("/api/v1/key", { key: value, from: "198.51.100.9" });
  expect(getKey(app.ctx.db, key.id).last_used_at).toBeNull();
  expect(list(app)).toMatchObject([
    { last_used_at: "2026-03-10T12:00:00.000Z", last_used_ip: "198.51.100.9" },
  ]);
});

describe("requests of the last 24 hours", () => {
  test("the requests of 24 hours are listed per key in whole hours, the current one last", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey({ name: "busy", rate_limit: 2 });
    await app.createKey({ name: "idle" });
    // Two are answered and one is refused: all three are requests.
    for (let i = 0; i < 3; i++) await app.call("/api/v1/key", { key: value });
    await app.clock.advance(HOUR);
    await app.call("/api/v1/status/none", { key: value });
    await app.clock.advance(5_000);
    const [idle, busy] = list(app);
    expect(busy?.requests_24h).toEqual([...Array(22).fill(0), 3, 1]);
    expect(idle?.requests_24h).toEqual(Array(24).fill(0));
    await app.clock.advance(22 * HOUR);
    expect(list(app)[1]?.requests_24h).toEqual([3, 1, ...Array(22).fill(0)]);
    await app.clock.advance(HOUR);
    expect(list(app)[1]?.requests_24h).toEqual([1, ...Array(23).fill(0)]);
  });
});

test("a live key is limited for 7 days after a rate_limited answer", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey({ rate_limit: 1 });
  await app.createKey({ name: "never refused" });
  await app.call("/api/v1/key", { key: value });
  await app.clock.advance(5_000);
  const limited = () => list(app).map((listed) => listed.is_limited);
  expect(limited()).toEqual([false, false]);
  await app.call("/api/v1/key", { key: value });
  await app.clock.advance(5_000);
  expect(limited()).toEqual([false, true]);
  const hourEnds = Math.ceil(app.clock.now() / HOUR) * HOUR;
  app.clock.setWallClock(hourEnds + 7 * 24 * HOUR - 1);
  expect(limited()).toEqual([false, true]);
  app.clock.setWallClock(hourEnds + 7 * 24 * HOUR);
  expect(limited()).toEqual([false, false]);
  app.clock.setWallClock(hourEnds);
  await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
  expect(limited()).toEqual([false, false]);
});

describe("the old value of a rotated key", () => {
  test("the old value of a key is listed with its last use until the millisecond of its end", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await rotate(app, key.id, "1h");
    await app.call("/api/v1/key", { key: value });
    const old = {
      start: value.slice(0, 13),
      ends_at: "2026-03-10T13:00:00.000Z",
      last_used_at: "2026-03-10T12:00:00.000Z",
    };
    expect(list(app)).toMatchObject([
      { start: rotated.value.slice(0, 13), last_used_at: null, old_value: old },
    ]);
    await app.clock.advance(HOUR - 1);
    expect(list(app)[0]?.old_value).toEqual(old);
    await app.clock.advance(1);
    expect(list(app)[0]?.old_value).toBeNull();
  });

  test("the old value of a key is not listed if it ended at once or the key is revoked or expired", async () => {
    await using app = await createTestApp();
    const { key: ended } = await app.createKey();
    await rotate(app, ended.id, "now");
    expect(list(app)[0]?.old_value).toBeNull();
    const { key: expiring } = await app.createKey({ expires: "2026-03-10T12:30:00Z" });
    const { key: revoked } = await app.createKey();
    for (const { id } of [expiring, revoked]) await rotate(app, id, "24h");
    expect(list(app).filter((key) => key.old_value)).toHaveLength(2);
    await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, revoked.id, CLI_ACTOR));
    await app.clock.advance(HOUR / 2);
    expect(list(app).filter((key) => key.old_value)).toEqual([]);
  });

  test("the listed old value of a key is the newest of several", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    await app.clock.advance(1);
    const second = await rotate(app, key.id, "24h");
    await app.clock.advance(1);
    await rotate(app, key.id, "24h");
    expect(list(app)[0]?.old_value?.start).toBe(second.value.slice(0, 13));
  });
});

test("no listing of keys contains a value or its hash", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey();
  const rotated = await rotate(app, key.id, "24h");
  for (const presented of [value, rotated.value]) await app.call("/api/v1/key", { key: presented });
  const { db } = app.ctx;
  const now = app.clock.now();
  for (const search of ["", value, rotated.value]) {
    const page = atOnce(listKeyPage(db, { search, filter: "all", limit: 5, now }));
    const answer = JSON.stringify(page);
    expect(answer).toContain(key.id);
    for (const secret of [value, rotated.value]) {
      expect(answer).not.toContain(secret.slice(0, 14));
      const digest = new Bun.CryptoHasher("sha256").update(secret).digest();
      for (const form of ["hex", "base64", "base64url"] as const) {
        expect(answer).not.toContain(digest.toString(form).slice(0, 20));
      }
      expect(answer).not.toContain(JSON.stringify(digest).slice(20, 60));
    }
  }
});
