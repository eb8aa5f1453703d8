import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CLI_ACTOR } from "../../../src/base/actor";
import { rotateKey } from "../../../src/features/keys/keys";
import { getKey } from "../../../src/features/keys/records";
import { listKeyHoursSince } from "../../../src/features/keys/store";
import { createTestApp, type TestApp } from "../../support/app";
import { anotherProcess } from "../../support/second-connection";
import { temporaryFolder } from "../../support/temporary-folder";

const NOON = Date.parse("2026-03-10T12:00:00.000Z");

function hoursOf(app: TestApp, keyId: string) {
  const rows = listKeyHoursSince(app.ctx.db, { keyId, since: 0 });
  return rows.map(({ hour, ok, clientError, limited }) => ({ hour, ok, clientError, limited }));
}

describe("the use of a key", () => {
  test("the use of a key is written after five seconds with time, address and counts", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ rate_limit: 3 });
    await app.call("/api/v1/key", { key: value, from: "198.51.100.1" });
    await app.clock.advance(1_000);
    await app.call("/api/v1/components/none", { key: value, from: "198.51.100.2" });
    await app.call("/api/v1/key", { key: value, from: "198.51.100.2" });
    // The third request within this second: its time counts, its client address is not read.
    await app.call("/api/v1/key", { key: value, from: "198.51.100.3" });
    await app.clock.advance(3_999);
    expect(getKey(app.ctx.db, key.id).last_used_at).toBeNull();
    expect(hoursOf(app, key.id)).toEqual([]);
    await app.clock.advance(1);
    expect(getKey(app.ctx.db, key.id)).toMatchObject({
      last_used_at: "2026-03-10T12:00:01.000Z",
      last_used_ip: "198.51.100.2",
    });
    expect(hoursOf(app, key.id)).toEqual([{ hour: NOON, ok: 2, clientError: 1, limited: 1 }]);
  });

  test("the use of keys is written at most once every five seconds, never by a request", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    await using listener = anotherProcess(app, databasePath);
    const keys = [await app.keyWith("read:status"), await app.keyWith("read:status")];
    const writes = () => listener.ctx.db.foreignVersion();
    const before = writes();
    for (let i = 0; i < 40; i++) await app.call("/api/v1/key", { key: keys[i % 2] });
    expect(writes()).toBe(before);

    const seen = new Set<number>();
    for (let second = 0; second < 12; second++) {
      for (const key of keys) await app.call("/api/v1/key", { key });
      await app.clock.advance(1_000);
      seen.add(writes());
    }
    // Before the first batch, after it, and after the second: one commit each for both keys.
    expect(seen.size).toBe(3);
  });

  test("the use of keys needs no write without requests", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    await using listener = anotherProcess(app, databasePath);
    await app.keyWith("read:status");
    await app.call("/api/v1/key");
    const before = listener.ctx.db.foreignVersion();
    await app.clock.advance(60_000);
    expect(listener.ctx.db.foreignVersion()).toBe(before);
  });

  test("the use of a key is counted by hour, for all its values together", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    const rotated = await app.ctx.db.write((tx) =>
      rotateKey(app.ctx, tx, key.id, "24h", CLI_ACTOR),
    );
    app.clock.setWallClock(NOON + 3_600_000 - 1);
    await app.call("/api/v1/key", { key: value });
    await app.call("/api/v1/key", { key: rotated.value });
    app.clock.setWallClock(NOON + 3_600_000);
    await app.call("/api/v1/key", { key: value });
    await app.clock.advance(5_000);
    await app.call("/api/v1/key", { key: rotated.value });
    await app.clock.advance(5_000);
    expect(hoursOf(app, key.id)).toEqual([
      { hour: NOON, ok: 2, clientError: 0, limited: 0 },
      { hour: NOON + 3_600_000, ok: 2, clientError: 0, limited: 0 },
    ]);
  });

  test("requests with a missing scope and 304 answers count for their key", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const { key, value } = await app.createKey({ scopes: ["read:status"] });
    await app.call("/api/v1/components", { method: "PATCH", key: value, json: {} });
    const { headers } = await app.call("/api/v1/status/acme", { key: value });
    const again = { key: value, headers: { "if-none-match": headers.get("etag") ?? "" } };
    expect((await app.call("/api/v1/status/acme", again)).status).toBe(304);
    await app.clock.advance(5_000);
    expect(hoursOf(app, key.id)).toEqual([{ hour: NOON, ok: 2, clientError: 1, limited: 0 }]);
  });

  test("the last use of a key does not move back with the wall clock", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    await app.call("/api/v1/key", { key: value });
    await app.clock.advance(5_000);
    app.clock.setWallClock(NOON - 600_000);
    await app.call("/api/v1/key", { key: value });
    await app.clock.advance(5_000);
    expect(getKey(app.ctx.db, key.id).last_used_at).toBe("2026-03-10T12:00:00.000Z");
  });

  test("the use of keys is written when the server stops", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey();
    await app.call("/api/v1/key", { key: value });
    app.app.usage.stop();
    await app.app.usage.flush();
    expect(hoursOf(app, key.id)).toEqual([{ hour: NOON, ok: 1, clientError: 0, limited: 0 }]);
  });

  test("requests with an expired key do not count for it", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ expires: "2026-03-10T12:00:00.001Z" });
    await app.clock.advance(1);
    await app.call("/api/v1/key", { key: value });
    await app.clock.advance(5_000);
    expect(getKey(app.ctx.db, key.id).last_used_at).toBeNull();
    expect(hoursOf(app, key.id)).toEqual([]);
  });
});
