import { expect, test } from "bun:test";
import type { FleetStatus } from "../../../src/fleet/commands";
import { fleetToken, NODES_PATH, TOKEN_HEADER } from "../../../src/fleet/store";
import { describeWithPrograms } from "../../support/fleet/describe";
import { eventually } from "../../support/fleet/eventually";
import { FLEET_SECRET, type FleetNode, startNode } from "../../support/fleet/nodes";
import { startRedis } from "../../support/fleet/redis";
import { startS3 } from "../../support/fleet/s3";
import { expectWithin } from "../../support/long";

/** Longest time until a replica refuses a revoked key, in ms. */
const REFUSED_MAX_MS = 2_000;

async function createKey(
  node: FleetNode,
  scope = "read:status",
): Promise<{ id: string; value: string }> {
  const made = await node.run("key", "create", "--name", "test", "--scope", scope);
  const listed = await node.run("key", "list", "--json");
  return {
    id: /key_\w+/.exec(made.stdout + listed.stdout)?.[0] ?? listed.stderr,
    value: /allclear_\w+/.exec(made.stdout)?.[0] ?? made.stderr,
  };
}

const statusOf = async (node: FleetNode, path: string, key?: string) =>
  (await node.call(path, key === undefined ? {} : { key })).status;

await describeWithPrograms(
  "nodes with a Valkey, in processes of their own",
  { go: ["litestream", "versitygw"], debian: ["valkey-server|redis-server"] },
  () => {
    test("share limits, tell revoked keys within two seconds, and go on without Valkey", async () => {
      await using store = await startS3();
      await using redis = await startRedis();
      const env = { ALLCLEAR_VALKEY_URL: redis.url };
      await using primary = await startNode({ store, path: "fleet", env });
      const { id, value: key } = await createKey(primary);
      await using replica = await startNode({ store, path: "fleet", env, args: ["--replica"] });
      const isAccepted = async () => (await statusOf(replica, "/api/v1/key", key)) === 200;
      await eventually("the replica accepts the key", isAccepted);
      const valkeyOfFleet = async () => {
        const headers = { [TOKEN_HEADER]: fleetToken(FLEET_SECRET) };
        const answer = await fetch(primary.privateUrl + NODES_PATH, { headers });
        return ((await answer.json()) as FleetStatus).valkey;
      };
      const address = `127.0.0.1:${redis.port}`;
      expect(await valkeyOfFleet()).toEqual({ address, isAvailable: true });

      const left = async (node: FleetNode) =>
        Number((await node.call("/api/v1/key", { key })).headers.get("x-ratelimit-remaining"));
      // Repeated if Valkey answers late, since the primary then charges a bucket of its own for a second.
      await eventually("both nodes charge one bucket", async () => {
        const before = await left(replica);
        for (let request = 0; request < 50; request++) await left(primary);
        return before - (await left(replica)) > 5;
      });

      expect((await primary.run("key", "revoke", id)).code).toBe(0);
      const committed = performance.now();
      await eventually("the replica refuses it", async () => !(await isAccepted()));
      expectWithin(performance.now() - committed, REFUSED_MAX_MS);

      const { value: other } = await createKey(primary);
      await redis.kill();
      await eventually(
        "the primary shows that Valkey is gone",
        async () => (await valkeyOfFleet())?.isAvailable === false,
      );
      await eventually(
        "the replica accepts another key without Valkey",
        async () => (await statusOf(replica, "/api/v1/key", other)) === 200,
      );
      expect(await statusOf(replica, "/readyz")).toBe(200);
    }, 600_000);

    test("keep heartbeats while there is no primary, which the next one applies", async () => {
      await using store = await startS3();
      await using redis = await startRedis();
      const env = { ALLCLEAR_VALKEY_URL: redis.url };
      await using primary = await startNode({ store, path: "fleet", env });
      const { value: key } = await createKey(primary, "manage:monitors");
      const body = { name: "backup", type: "push", config: {}, interval_seconds: 600 };
      const made = await primary.call("/api/v1/monitors", { method: "POST", key, body });
      const { heartbeat_url: url } = (await made.json()) as { heartbeat_url: string };
      const path = new URL(url).pathname;
      await using replica = await startNode({ store, path: "fleet", env, args: ["--replica"] });
      await eventually(
        "the replica forwards heartbeats",
        async () => (await statusOf(replica, path)) === 200,
      );
      const client = new Bun.RedisClient(redis.url);
      const count = async () => Number(await client.send("XLEN", ["hb"]));
      await primary.kill();
      await eventually(
        "the replica keeps heartbeats",
        async () => (await statusOf(replica, path)) === 200,
      );
      expect(await count()).toBeGreaterThan(0);
      await primary.restart();
      await eventually("the primary has applied them", async () => (await count()) === 0);
      client.close();
    }, 600_000);
  },
);
