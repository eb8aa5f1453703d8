import { expect, test } from "bun:test";
import { createApp } from "../../../src/app";
import { openSharedMemory } from "../../../src/fleet/valkey/nodes";
import { createTestApp, readAnswer, requestOf, type TestApp } from "../../support/app";
import { describeWithPrograms } from "../../support/fleet/describe";
import { type RedisServer, startRedis } from "../../support/fleet/redis";
import { valkeyConfig } from "../../support/fleet/shared-limits";
import { createTestLog } from "../../support/log";
import { until } from "../../support/until";

/** Starts the gateway of another node on the database of an application. */
async function startNode({ ctx }: TestApp, server: RedisServer, node: string) {
  const { clock } = ctx;
  const config = { ...valkeyConfig(server.url), publicRateLimit: ctx.config.publicRateLimit };
  const beat = () => ({ node, term: undefined, txid: 0 });
  const { log } = createTestLog("info");
  const memory = await openSharedMemory({ config, clock, log, beat });
  const app = createApp(ctx, { shareLimits: memory.shareLimits });
  return {
    memory,
    call: async (path: string, key?: string) =>
      readAnswer(await app.handle(requestOf(ctx, path, { key }), () => "203.0.113.7")),
    async [Symbol.asyncDispose]() {
      app.usage.stop();
      await memory.stop();
    },
  };
}

await describeWithPrograms(
  "requests to nodes that share limits",
  { debian: ["valkey-server|redis-server"] },
  () => {
    test("are charged to the same bucket of a key, with its headers", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const { value: key } = await app.createKey({ rate_limit: 10 });
      await using first = await startNode(app, server, "n1");
      await using second = await startNode(app, server, "n2");
      const statuses: number[] = [];
      for (let turn = 0; turn < 24; turn++) {
        const node = turn % 2 === 0 ? first : second;
        const { status, headers } = await node.call("/api/v1/key", key);
        statuses.push(status);
        expect(headers.get("x-ratelimit-limit")).toBe("10");
        if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      }
      const admitted = statuses.filter((status) => status === 200).length;
      expect(admitted).toBeOneOf([9, 10]);
    });

    test("are charged to the same bucket of an address, also for unknown paths and wrong keys", async () => {
      await using server = await startRedis();
      await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "8" } });
      await using first = await startNode(app, server, "n1");
      await using second = await startNode(app, server, "n2");
      const statuses: number[] = [];
      for (let turn = 0; turn < 6; turn++) {
        statuses.push((await first.call("/none")).status);
        statuses.push((await second.call("/api/v1/key", "allclear_wrong")).status);
      }
      const refused = statuses.filter((status) => status === 429).length;
      expect(refused).toBeOneOf([4, 5]);
      expect((await first.call("/healthz")).status).toBe(200);
    });

    test("count decisions of a node alone", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      const key = await app.keyWith("read:status");
      await using node = await startNode(app, server, "n1");
      const [local] = node.memory.metrics;
      expect((await node.call("/api/v1/key", key)).status).toBe(200);
      expect(local?.read()).toEqual([{ value: 0 }]);
      await server.kill();
      await until(() => !node.memory.valkey.isAvailable());
      expect((await node.call("/api/v1/key", key)).status).toBe(200);
      expect(local?.read()).toEqual([{ value: 1 }]);
    });

    test("divide the bucket by the number of nodes with a beat", async () => {
      await using server = await startRedis();
      await using app = await createTestApp();
      await using first = await startNode(app, server, "n1");
      {
        await using second = await startNode(app, server, "n2");
        await second.memory.beats.beatNow();
        await first.memory.beats.beatNow();
        expect(first.memory.beats.nodes()).toBe(2);
      }
      await app.clock.advance(500);
      await until(() => first.memory.beats.nodes() === 1);
    });
  },
);
