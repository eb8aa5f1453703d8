import { expect, test } from "bun:test";
import { readLeader } from "../../src/fleet/leader";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { createKeyAt } from "../support/fleet/keys";
import { waitingTest } from "../support/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo } from "../support/fleet/primary";
import { startRedis } from "../support/fleet/redis";
import { S3_SERVERS, startS3 } from "../support/fleet/s3";

const HOUR_MS = 3_600_000;

for (const name of S3_SERVERS) {
  await describeWithPrograms(
    `a node whose clock differs from that of ${name}`,
    { go: [name, "litestream"] },
    () => {
      // A store refuses requests of a clock that is more than 15 minutes off.
      test.each([
        ["an hour ahead", 3_600_000],
        ["an hour behind", -3_600_000],
        ["90 seconds ahead", 90_000],
      ])(
        "does not start %s",
        async (_, clockOffsetMs) => {
          await using store = await startS3(name);
          const starting = startNode({ store, path: "fleet", clockOffsetMs });
          const seconds = Math.abs(clockOffsetMs) / 1_000;
          // Times of the store are cut to seconds.
          const read = `(${seconds - 1}|${seconds}|${seconds + 1})`;
          await expect(starting).rejects.toThrow(
            new RegExp(`clock of this machine and that of the store \\S+ differ by ${read} s`),
          );
          expect(await store.open("fleet").get("leader.json")).toBeUndefined();
        },
        600_000,
      );

      test.each([-3_600_000, 90_000])(
        "does not start as a replica either: %p ms",
        async (clockOffsetMs) => {
          await using store = await startS3(name);
          await using _ = await startNode({ store, path: "fleet" });
          const args = ["--replica"];
          const starting = startNode({ store, path: "fleet", args, clockOffsetMs });
          await expect(starting).rejects.toThrow(/clock of this machine and that of the store/);
        },
        600_000,
      );

      test("warns ten seconds ahead, and serves", async () => {
        await using store = await startS3(name);
        await using node = await startNode({ store, path: "fleet", clockOffsetMs: 10_000 });
        expect((await node.call("/readyz")).status).toBe(200);
        expect(node.output()).toContain("the clocks of this machine and the store differ");
      }, 600_000);
    },
  );
}

/** Requests a minute of a key that the test uses up. */
const RATE_LIMIT = 30;

await describeWithPrograms(
  "while a fleet runs, clocks that become wrong by an hour",
  { go: ["versitygw", "litestream"], debian: ["redis-server|valkey-server"] },
  () => {
    waitingTest.each([HOUR_MS, -HOUR_MS])(
      "leave the term and the limits as they are, and prevent the next start: replica by %p ms, primary by as much in the other direction",
      async (offsetMs) => {
        await using store = await startS3();
        await using valkey = await startRedis();
        const env = { ALLCLEAR_VALKEY_URL: valkey.url };
        const args = ["--eligible", "--failover", "automatic"];
        const options = { store, path: "fleet", env, clockOffsetMs: 0 };
        await using primary = await startNode({ ...options, args });
        const client = await connectTo(primary);
        const limit = ["--rate-limit", String(RATE_LIMIT)];
        const made = ["key", "create", "--name", "x", "--scope", "read:status", ...limit];
        const key = (await primary.run(...made)).stdout.trim();
        const { value: metricsKey } = await createKeyAt(primary, "read:analytics");
        await using replica = await startNode({ ...options, args: ["--replica", ...args] });
        await eventually(
          "the replica follows",
          async () => (await replica.call("/readyz/api")).status === 200,
        );
        const recordOf = async () => {
          const leader = await readLeader(store.open("fleet"));
          if (!leader) throw new Error("there is no record");
          return leader.record;
        };
        const before = await recordOf();

        /** Returns the number of decisions that a node took alone, since Valkey did not answer in time. */
        const localDecisions = async (node: FleetNode) => {
          let count = NaN;
          await eventually("the node shows its metrics", async () => {
            const text = await (await node.call("/metrics", { key: metricsKey })).text();
            count = Number(/^allclear_limits_local_total (\d+)$/m.exec(text)?.[1] ?? NaN);
            return count >= 0;
          });
          return count;
        };
        const readAt = async (node: FleetNode) => (await node.call("/api/v1/key", { key })).status;
        const startedAt = performance.now();
        await eventually("the limit is reached", async () => (await readAt(replica)) === 429);
        replica.setClock(offsetMs);
        primary.setClock(-offsetMs);
        let admitted = 0;
        for (let request = 0; request < RATE_LIMIT; request++) {
          for (const node of [replica, primary]) if ((await readAt(node)) === 200) admitted += 1;
        }
        for (const node of [replica, primary]) admitted -= await localDecisions(node);
        const minutesAfter = Math.floor((performance.now() - startedAt) / 60_000);
        expect(admitted).toBeLessThanOrEqual(minutesAfter * RATE_LIMIT);

        const { renewal } = await recordOf();
        await eventually(
          "the primary renews its lease",
          async () => (await recordOf()).renewal > renewal,
        );
        expect(await recordOf()).toMatchObject({ term: before.term, run: before.run });
        const written = await client.openIncident("one");
        expect([written.status, written.headers.get("allclear-durability")]).toEqual([201, null]);
        expect((await replica.call("/readyz/primary")).status).toBe(503);

        for (const node of [replica, primary]) {
          await node.kill();
          await expect(node.restart()).rejects.toThrow(
            /clock of this machine and that of the store/,
          );
        }
      },
      600_000,
    );
  },
);
