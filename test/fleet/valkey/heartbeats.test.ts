import { expect, test } from "bun:test";
import { openValkey } from "../../../src/fleet/valkey/client";
import { applyHeartbeats, keepHeartbeats } from "../../../src/fleet/valkey/beats";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { settle } from "../../support/clock";
import { openEngineSite } from "../../support/engine-site";
import { describeWithPrograms } from "../../support/fleet/describe";
import { startRedis } from "../../support/fleet/redis";
import { valkeyConfig } from "../../support/fleet/shared-limits";
import { createTestLog } from "../../support/log";
import { until } from "../../support/until";

const OK = { outcome: "ok", latencyMs: null, message: null } as const;

/** Opens a push monitor of ten minutes, half a minute of grace, and a Valkey. */
async function openJob(url: string) {
  const site = await openEngineSite();
  const { clock } = site;
  const { id } = await site.monitor({
    name: "backup",
    type: "push",
    config: { grace_seconds: 30 },
    interval_seconds: 600,
    failure_threshold: 1,
  });
  await clock.advance(SECOND_MS);
  const { log } = createTestLog("info");
  const valkey = await openValkey({ config: valkeyConfig(url), clock, log });
  return {
    site,
    id,
    clock,
    valkey,
    replica: keepHeartbeats(valkey, clock),
    count: () => valkey.send("XLEN", ["hb"]),
    async [Symbol.asyncDispose]() {
      valkey.stop();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** Applies what is kept as the primary does after its start. */
async function applyAll({ site, valkey, clock, count }: Awaited<ReturnType<typeof openJob>>) {
  const applying = applyHeartbeats(valkey, clock, site.engine, () => true);
  while ((await count()) !== 0) await settle();
  await applying.stop();
}

await describeWithPrograms(
  "heartbeats that replicas keep while there is no primary",
  { debian: ["valkey-server|redis-server"] },
  () => {
    test("are applied by the next primary at the times of their arrival", async () => {
      await using redis = await startRedis();
      await using job = await openJob(redis.url);
      const { site, id, clock, replica } = job;
      const token = { kind: "native", hash: Buffer.from("ab".repeat(32), "hex") } as const;
      const arrivedAt = clock.now();
      await replica.heartbeat(id, { ...OK, message: "12 files", token });
      clock.setWallClock(arrivedAt + 2 * MINUTE_MS);
      await replica.heartbeat(id, { ...OK, outcome: "failed", exitCode: 3 });
      expect(await job.count()).toBe(2);
      clock.setWallClock(arrivedAt + 5 * MINUTE_MS);
      await applyAll(job);
      expect(site.checks(id)).toMatchObject([
        { at: arrivedAt, outcome: "ok", message: "12 files" },
        { at: arrivedAt + 2 * MINUTE_MS, outcome: "failed", message: "Exit code 3." },
      ]);
      expect(site.state(id)).toBe("down");
    });

    test("set the deadline from their arrival, and never before a later heartbeat", async () => {
      await using redis = await startRedis();
      await using job = await openJob(redis.url);
      const { site, id, clock, replica } = job;
      const arrivedAt = clock.now();
      await replica.heartbeat(id, OK);
      await clock.advance(9 * MINUTE_MS);
      await applyAll(job);
      expect(site.state(id)).toBe("up");
      await clock.advance(89 * SECOND_MS);
      expect(site.state(id)).toBe("up");
      await clock.advance(3 * SECOND_MS);
      expect(site.state(id)).toBe("down");
      await site.engine.heartbeat(id, OK);
      const last = clock.now();
      await site.engine.heartbeat(id, OK, arrivedAt);
      expect(site.checks(id).at(-1)).toMatchObject({ outcome: "ok" });
      expect(site.checks(id).at(-1)?.at).toBeGreaterThanOrEqual(last);
    });

    test("are refused without room, and without Valkey", async () => {
      await using redis = await startRedis();
      await using job = await openJob(redis.url);
      const { id, valkey, replica } = job;
      const fill = "for i = 1, 10000 do redis.call('XADD', 'hb', '*', 'beat', '{}') end";
      await valkey.send("EVAL", [fill, "0"], 5_000);
      await expect(replica.heartbeat(id, OK)).rejects.toMatchObject({ code: "unavailable" });
      await valkey.send("DEL", ["hb"]);
      await replica.heartbeat(id, OK);
      await redis.kill();
      await until(() => !valkey.isAvailable());
      await expect(replica.heartbeat(id, OK)).rejects.toMatchObject({ code: "unavailable" });
    });

    test("stay where they are on a node that is not the primary, or whose engine refuses them", async () => {
      await using redis = await startRedis();
      await using job = await openJob(redis.url);
      const { id, valkey, clock, site, replica } = job;
      await replica.heartbeat(id, OK);
      await applyHeartbeats(valkey, clock, site.engine, () => false).stop();
      expect(await job.count()).toBe(1);
      const heartbeat = () => Promise.reject(new Error("closing"));
      const refusing = applyHeartbeats(valkey, clock, { heartbeat }, () => true);
      await refusing.stop();
      expect(await job.count()).toBe(1);
      await applyAll(job);
      expect(site.state(id)).toBe("up");
    });
  },
);
