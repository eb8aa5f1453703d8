import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { countKeys } from "../../../src/features/keys/records";
import { KEY_FILTERS, type KeyFilter } from "../../../src/features/keys/rules";
import { createTestApp, type TestApp } from "../../support/app";
import { atOnce } from "../../support/turns";
import { TEST_START } from "../../support/clock";
import { listEveryKey } from "../../support/key-pages";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Returns true if the only key matches a filter at a time. Asserts that list and count agree. */
function passes(app: TestApp, filter: KeyFilter, now: number): boolean {
  const shown = listEveryKey(app.ctx.db, { filter, limit: 50, now }).length;
  expect(atOnce(countKeys(app.ctx.db, now))[filter]).toBe(shown);
  return shown === 1;
}

function revoke(app: TestApp, id: string) {
  return app.ctx.db.write((tx) => revokeKey(app.ctx, tx, id, CLI_ACTOR));
}

describe("live keys", () => {
  test("a key is live until the millisecond of its expiry", async () => {
    await using app = await createTestApp();
    await app.createKey({ expires: "2026-03-10T12:00:01.000Z" });
    expect(passes(app, "live", TEST_START + 999)).toBe(true);
    expect(passes(app, "live", TEST_START + 1_000)).toBe(false);
    expect(passes(app, "all", TEST_START + 1_000)).toBe(true);
  });

  test("a key is live until it is revoked, and then matches only the filter all", async () => {
    await using app = await createTestApp();
    const { key } = await app.createKey();
    expect(passes(app, "live", TEST_START)).toBe(true);
    await revoke(app, key.id);
    const old = TEST_START + 100 * DAY;
    expect(KEY_FILTERS.filter((filter) => passes(app, filter, old))).toEqual(["all"]);
  });
});

test("a key is expiring from exactly 14 days before its expiry until then", async () => {
  await using app = await createTestApp();
  await app.createKey({ expires: "2026-04-30T12:00:00Z" });
  const end = Date.parse("2026-04-30T12:00:00Z");
  expect(passes(app, "expiring", end - 14 * DAY - 1)).toBe(false);
  expect(passes(app, "expiring", end - 14 * DAY)).toBe(true);
  expect(passes(app, "expiring", end - 1)).toBe(true);
  expect(passes(app, "expiring", end)).toBe(false);
  expect(passes(app, "never_expires", TEST_START)).toBe(false);
});

test("a key without an expiry matches never_expires and not expiring", async () => {
  await using app = await createTestApp();
  await app.createKey();
  expect(passes(app, "never_expires", TEST_START)).toBe(true);
  expect(passes(app, "expiring", TEST_START)).toBe(false);
});

describe("unused keys", () => {
  test("a key that was never used is unused after 90 days", async () => {
    await using app = await createTestApp();
    await app.createKey();
    expect(passes(app, "unused", TEST_START + DAY)).toBe(false);
    expect(passes(app, "unused", TEST_START + 90 * DAY)).toBe(false);
    expect(passes(app, "unused", TEST_START + 90 * DAY + 1)).toBe(true);
    expect(passes(app, "unused", TEST_START + 91 * DAY)).toBe(true);
  });

  test("a key is unused 90 days after its last use", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey();
    app.clock.setWallClock(TEST_START + 100 * DAY);
    expect(passes(app, "unused", app.clock.now())).toBe(true);
    const used = app.clock.now();
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    await app.clock.advance(5_000);
    expect(passes(app, "unused", used + 90 * DAY)).toBe(false);
    expect(passes(app, "unused", used + 90 * DAY + 1)).toBe(true);
  });

  test("a key is unused only if none of its values was used", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    app.clock.setWallClock(TEST_START + 100 * DAY);
    await app.ctx.db.write((tx) => rotateKey(app.ctx, tx, key.id, "7d", CLI_ACTOR));
    expect(passes(app, "unused", app.clock.now())).toBe(true);
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    await app.clock.advance(5_000);
    expect(passes(app, "unused", app.clock.now())).toBe(false);
  });

  test("a key is unused only until its expiry", async () => {
    await using app = await createTestApp();
    await app.createKey({ expires: "2026-08-01T00:00:00Z" });
    const end = Date.parse("2026-08-01T00:00:00Z");
    expect(passes(app, "unused", end - 1)).toBe(true);
    expect(passes(app, "unused", end)).toBe(false);
  });
});

describe("limited keys", () => {
  test("a key is limited while the hour of a rate_limited answer is within the last 7 days", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey({ rate_limit: 1 });
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    await app.clock.advance(5_000);
    expect(passes(app, "limited", app.clock.now())).toBe(false);
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(429);
    await app.clock.advance(5_000);
    expect(passes(app, "limited", app.clock.now())).toBe(true);
    const hourEnds = TEST_START + HOUR;
    expect(passes(app, "limited", hourEnds + 7 * DAY - 1)).toBe(true);
    expect(passes(app, "limited", hourEnds + 7 * DAY)).toBe(false);
  });

  test("a key is limited only until it is revoked", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ rate_limit: 1 });
    for (let i = 0; i < 2; i++) await app.call("/api/v1/key", { key: value });
    await app.clock.advance(5_000);
    expect(passes(app, "limited", app.clock.now())).toBe(true);
    await revoke(app, key.id);
    expect(passes(app, "limited", app.clock.now())).toBe(false);
  });
});
