import { expect, test } from "bun:test";
import { createApp } from "../../../src/app";
import { findVersion } from "../../../src/events/changes";
import { endOldValues, revokeKey, rotateKey } from "../../../src/features/keys/keys";
import { startBeats } from "../../../src/fleet/valkey/beats";
import { openValkey } from "../../../src/fleet/valkey/client";
import {
  openPrimaryMemory,
  openReplicaMemory,
  sendKeyChanges,
} from "../../../src/fleet/valkey/nodes";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createContext } from "../../../src/installation";
import { sha256Hex, systemRandom } from "../../../src/base/hash";
import { HOUR_MS } from "../../../src/base/time";
import { createTestApp, readAnswer, requestOf, type TestApp } from "../../support/app";
import { settle } from "../../support/clock";
import { describeWithPrograms } from "../../support/fleet/describe";
import { type RedisServer, startRedis } from "../../support/fleet/redis";
import { valkeyConfig } from "../../support/fleet/shared-limits";
import { createTestLog } from "../../support/log";
import { until } from "../../support/until";
import { updateKey } from "../../support/examined";

/** A primary and a replica that has read the keys of its database, and applies nothing further. */
async function startPair(app: TestApp, server: RedisServer) {
  const { clock, db } = app.ctx;
  const { log } = createTestLog("info");
  const config = valkeyConfig(server.url);
  const upload = { txid: 7, count: 0 };
  const alarms: string[] = [];
  const primary = await openPrimaryMemory({
    ctx: { ...app.ctx, config, log },
    node: "n1",
    term: () => 3,
    txid: () => upload.txid,
    alarms: {
      raise: (kind, detail) => void alarms.push(`${kind}: ${detail}`),
      clear: () => void alarms.splice(0),
    },
    upload: async () => {
      upload.count += 1;
      return upload.txid;
    },
  });
  const hints: number[] = [];
  const hint = (txid: number) => void hints.push(txid);
  const deps = { config, clock, log, node: "n2", txid: () => 1, hint };
  const memory = await openReplicaMemory(deps);
  const ctx = createContext({ config, db, clock, log, random: systemRandom });
  ctx.newerKeys = memory.newerKeys.states;
  const replica = createApp(ctx);
  return {
    primary,
    memory,
    hints,
    upload,
    alarms,
    /** Sends both nodes' beats, the primary's first. */
    async beat() {
      await primary.keys.settled();
      await primary.beats.beatNow();
      await memory.beats.beatNow();
    },
    /** Lets the replica read the keys of the database again. */
    readKeys: () => ctx.signals.keysChanged.emit(),
    call: async (key: string) =>
      readAnswer(await replica.handle(requestOf(ctx, "/api/v1/key", { key }), () => "203.0.113.7")),
    async [Symbol.asyncDispose]() {
      replica.usage.stop();
      await memory.stop();
      await primary.stop();
    },
  };
}

await describeWithPrograms(
  "changes of keys in a fleet with Valkey",
  { debian: ["valkey-server|redis-server"] },
  () => {
    test("a message about a revoked key lets a replica refuse it, until it has applied the transaction", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key, value } = await app.createKey();
      await using pair = await startPair(app, server);
      await pair.beat();
      expect((await pair.call(value)).status).toBe(200);
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      await pair.beat();
      expect((await pair.call(value)).body.code).toBe("revoked_key");
      const version = findVersion(app.ctx.db, { scope: "keys" })?.version ?? 0;
      pair.memory.newerKeys.applied(version - 1);
      expect(pair.memory.newerKeys.states.size).toBe(1);
      pair.memory.newerKeys.applied(version);
      expect(pair.memory.newerKeys.states.size).toBe(0);
    });

    test("the message alone brings a change to a replica, without its next beat", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      await using pair = await startPair(app, server);
      await pair.beat();
      await until(() => pair.memory.isListening());
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      await until(() => pair.memory.newerKeys.states.size === 1);
    });

    test("a changed limit and the early end of a value apply at once, and a new name is not sent", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key, value } = await app.createKey();
      await using pair = await startPair(app, server);
      await pair.beat();
      expect((await pair.call(value)).headers.get("x-ratelimit-limit")).toBe("1000");
      const { db } = app.ctx;
      await db.write((tx) => updateKey(app.ctx, tx, key.id, { name: "other" }, CLI_ACTOR));
      await pair.beat();
      expect(pair.memory.newerKeys.states.size).toBe(0);
      await db.write((tx) => updateKey(app.ctx, tx, key.id, { rate_limit: 5 }, CLI_ACTOR));
      await pair.beat();
      expect((await pair.call(value)).headers.get("x-ratelimit-limit")).toBe("5");
      await db.write((tx) => rotateKey(app.ctx, tx, key.id, "24h", CLI_ACTOR));
      await db.write((tx) => endOldValues(app.ctx, tx, key.id, CLI_ACTOR));
      await app.clock.advance(1);
      await pair.beat();
      expect((await pair.call(value)).body.code).toBe("expired_key");
    });

    test("a server that was started again gets all changes of the last hour before a beat counts", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      await using pair = await startPair(app, server);
      await pair.beat();
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      await pair.beat();
      await server.kill();
      await until(() => !pair.primary.valkey.isAvailable() && !pair.memory.valkey.isAvailable());
      await server.restart();
      await app.clock.advance(1_000);
      await until(() => pair.primary.valkey.isAvailable() && pair.memory.valkey.isAvailable());
      await pair.beat();
      await pair.beat();
      const found = await pair.primary.valkey.send("HLEN", ["revoked"]);
      expect(found).toBe(1);
      const beats = await pair.primary.valkey.send("HGET", ["beat", "number"]);
      expect(Number(beats)).toBeGreaterThan(0);
    });

    test("a change that cannot be sent keeps the beats of the primary from counting until it is sent again", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      const { clock } = app;
      const { log } = createTestLog("info");
      const valkey = await openValkey({ config: valkeyConfig(server.url), clock, log });
      let isRefused = true;
      const changes = sendKeyChanges(app.ctx, {
        send: valkey.send,
        run: (...call) => (isRefused ? Promise.reject(new Error("refused")) : valkey.run(...call)),
      });
      const { leastRevision } = changes;
      const beat = () => ({ node: "n1", term: 3, txid: 1 });
      const beats = startBeats({ valkey, clock, beat, leastRevision });
      const counted = () => valkey.send("HGET", ["beat", "number"]);
      await beats.beatNow();
      expect(await counted()).toBe("1");
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      await changes.settled();
      await beats.beatNow();
      expect(await counted()).toBe("1");
      isRefused = false;
      changes.seen(0);
      await changes.settled();
      await beats.beatNow();
      expect(await counted()).toBe("2");
      expect(await valkey.send("HLEN", ["revoked"])).toBe(1);
      changes.stop();
      await beats.stop();
      valkey.stop();
    });

    test("a primary of an earlier term has no beat, and changes of more than an hour ago are removed", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      await using pair = await startPair(app, server);
      await pair.beat();
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      await pair.beat();
      app.clock.setWallClock(app.clock.now() + 2 * HOUR_MS);
      await pair.primary.valkey.send("HSET", ["beat", "term", "4"]);
      const before = await pair.primary.valkey.send("HGET", ["beat", "number"]);
      await pair.beat();
      expect(await pair.primary.valkey.send("HGET", ["beat", "number"])).toBe(before);
      expect(await pair.primary.valkey.send("HLEN", ["revoked"])).toBe(0);
    });

    test("beats show when the primary of a term was alive, and nodes that have not read a change", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      await using pair = await startPair(app, server);
      const { clock } = app;
      await pair.beat();
      const readAt = clock.monotonic();
      await clock.advance(10);
      await pair.beat();
      // The reading before the beat, since the beat may have come right after it.
      expect(pair.memory.beats.knownAt(3)).toBe(readAt);
      expect(pair.memory.beats.knownAt(2)).toBeUndefined();
      expect(pair.memory.hasHints(2)).toBe(false);
      await pair.memory.beats.beatNow();
      expect(pair.memory.beats.knownAt(3)).toBe(readAt);

      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      await pair.primary.keys.settled();
      await pair.primary.beats.beatNow();
      await until(() => pair.memory.newerKeys.states.size === 1);
      const revision = pair.primary.keys.leastRevision();
      expect(pair.primary.beats.behind(revision + 1)).toContain("n2");
      await pair.beat();
      await pair.beat();
      expect(pair.primary.beats.behind(revision)).toEqual([]);
    });

    test("the primary waits until all nodes have read a change, and names those that have not within two seconds", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      await using pair = await startPair(app, server);
      await pair.beat();
      const { valkey } = pair.primary;
      await valkey.send("HSET", ["seen", "n9", "0"]);
      await valkey.send("ZADD", ["nodes", String(Date.now() + HOUR_MS), "n9"]);
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      let behind: string[] | undefined;
      void pair.primary.findNodesBehind().then((found) => (behind = found));
      const startedAt = app.clock.monotonic();
      while (behind === undefined) {
        // Both connections have answered before the clock goes on to a deadline.
        await valkey.send("PING", []);
        await pair.memory.beats.beatNow();
        await app.clock.advance(10);
      }
      expect(behind).toEqual(["n9"]);
      expect(app.clock.monotonic() - startedAt).toBeGreaterThanOrEqual(2_000);
      await valkey.send("ZREM", ["nodes", "n9"]);
      await valkey.send("HDEL", ["seen", "n9"]);
      await pair.beat();
      expect(await pair.primary.findNodesBehind()).toEqual([]);
      await server.kill();
      await until(() => !valkey.isAvailable());
      expect(await pair.primary.findNodesBehind()).toEqual([]);
      const other = await app.createKey();
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, other.key.id, CLI_ACTOR));
      expect(await pair.primary.findNodesBehind()).toEqual(["n2"]);
    });

    test("a primary that could tell no node of a revoked key, and knows none, says so", async () => {
      const server = await startRedis();
      await server[Symbol.asyncDispose]();
      await using app = await createTestApp();
      const { key } = await app.createKey();
      await using pair = await startPair(app, server);
      await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      expect(await pair.primary.findNodesBehind()).toEqual(["all replicas"]);
    });

    test("a revoked key stays refused if an earlier primary told another change of it", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { key, value } = await app.createKey();
      await using pair = await startPair(app, server);
      const lost = { version: 99, expiresAt: null, revokedAt: null, endsAt: null, rateLimit: 5 };
      pair.memory.newerKeys.add(new Map([[sha256Hex(value), JSON.stringify(lost)]]));
      expect((await pair.call(value)).headers.get("x-ratelimit-limit")).toBe("5");
      const { db } = app.ctx;
      await db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
      pair.readKeys();
      expect((await pair.call(value)).body.code).toBe("revoked_key");
    });

    test("the primary raises an alarm after ten seconds of silence, until Valkey answers", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      await using pair = await startPair(app, server);
      await server.kill();
      await until(() => !pair.primary.valkey.isAvailable());
      await app.clock.advance(9_999);
      expect(pair.alarms).toEqual([]);
      await app.clock.advance(1);
      const name = `127.0.0.1:${server.port}`;
      expect(pair.alarms).toEqual([
        `valkey_unavailable: Valkey at ${name} has not answered for 10 seconds.`,
      ]);
      await server.restart();
      while (!pair.primary.valkey.isAvailable()) {
        await app.clock.advance(500);
        // An attempt under way ends before the clock goes on.
        for (let turn = 0; turn < 100; turn++) await settle();
      }
      expect(pair.alarms).toEqual([]);
    });

    test("an upload is told at once, and again with the beats", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      await using pair = await startPair(app, server);
      await pair.beat();
      await until(() => pair.memory.isListening());
      pair.upload.txid = 12;
      pair.primary.hint();
      await until(() => pair.hints.includes(12));
      pair.upload.txid = 13;
      await pair.beat();
      expect(pair.hints.at(-1)).toBe(13);
      await app.clock.advance(500);
      expect(pair.upload.count).toBeGreaterThan(0);
    });
  },
);
