import { expect, test } from "bun:test";
import type { Charge } from "../../../src/features/limits";
import { createTestClock, type TestClock } from "../../support/clock";
import { describeWithPrograms } from "../../support/fleet/describe";
import { type RedisServer, startRedis } from "../../support/fleet/redis";
import { type LimitingNode, startLimitingNode } from "../../support/fleet/shared-limits";
import { until } from "../../support/until";

/** Nodes in one process, each with a connection of its own, that share a clock which the test moves. */
async function startFleet(
  server: RedisServer,
  env: Record<string, string> = {},
): Promise<{ nodes: LimitingNode[]; clock: TestClock } & AsyncDisposable> {
  const clock = createTestClock();
  const nodes: LimitingNode[] = [];
  for (let node = 0; node < 3; node++) {
    nodes.push(await startLimitingNode(server.url, 3, { clock, env }));
  }
  return {
    nodes,
    clock,
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    },
  };
}

/** Sends requests to the nodes in turn until all refuse. Returns the number of admitted ones. */
async function drain(
  nodes: readonly LimitingNode[],
  pattern: readonly number[],
  charge: (node: LimitingNode) => Charge | Promise<Charge>,
): Promise<number> {
  let admitted = 0;
  const refusing = new Set<LimitingNode>();
  for (let turn = 0; refusing.size < nodes.length; turn++) {
    const node = nodes[pattern[turn % pattern.length] ?? 0] as LimitingNode;
    const { decision } = await charge(node);
    if (decision.isAllowed) admitted += 1;
    else refusing.add(node);
  }
  return admitted;
}

const EVEN = [0, 1, 2];
const UNEVEN = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2];

await describeWithPrograms(
  "limits that nodes share",
  { debian: ["valkey-server|redis-server"] },
  () => {
    for (const limit of [10, 1_000, 100_000]) {
      for (const [name, pattern] of [
        ["evenly", EVEN],
        ["90 to 10", UNEVEN],
      ] as const) {
        test(`three nodes with ${name} spread requests admit one bucket of ${limit}`, async () => {
          await using server = await startRedis();
          await using fleet = await startFleet(server);
          const startedAt = performance.now();
          const admitted = await drain(fleet.nodes, pattern, ({ limiter }) =>
            limiter.chargeKey("k", limit),
          );
          // The clock of the server goes on, and refills the bucket.
          const refilled = ((performance.now() - startedAt) * limit) / 60_000;
          expect(admitted).toBeLessThanOrEqual(Math.ceil(limit + refilled));
          expect(admitted).toBeGreaterThanOrEqual(limit - fleet.nodes.length);
          for (const { limiter } of fleet.nodes) expect(limiter.localDecisions()).toBe(0);
        });
      }
    }

    test("most requests need no call", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const { nodes } = fleet;
      const admitted = await drain(nodes, EVEN, ({ limiter }) => limiter.chargeKey("k", 100_000));
      const calls = nodes.reduce((sum, node) => sum + node.calls(), 0);
      expect(calls / admitted).toBeLessThan(0.02);
    });

    test("a refusal is remembered for a quarter of a second at most", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node] = fleet.nodes as [LimitingNode];
      await drain([node], [0], ({ limiter }) => limiter.chargeKey("k", 10));
      const calls = node.calls();
      const refused = await node.limiter.chargeKey("k", 10);
      expect(refused.decision).toMatchObject({ isAllowed: false, remaining: 0, limit: 10 });
      expect(refused.decision.retryAfterSeconds).toBeGreaterThan(0);
      expect(node.calls()).toBe(calls);
      await fleet.clock.advance(250);
      await node.limiter.chargeKey("k", 10);
      expect(node.calls()).toBe(calls + 1);
    });

    test("tokens that are unused for a second are given back", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [first, second, third] = fleet.nodes as [LimitingNode, LimitingNode, LimitingNode];
      expect((await first.limiter.chargeKey("k", 1_000)).decision.remaining).toBe(999);
      await fleet.clock.advance(1_000);
      await until(() => first.calls() === 2);
      const rest = await drain([second, third], [0, 1], ({ limiter }) =>
        limiter.chargeKey("k", 1_000),
      );
      expect(rest).toBeGreaterThanOrEqual(997);
    });

    test("a node that stops gives back what it holds", async () => {
      await using server = await startRedis();
      await using second = await startLimitingNode(server.url, 2);
      const clock = createTestClock();
      {
        await using first = await startLimitingNode(server.url, 2, { clock });
        await first.limiter.chargeKey("k", 1_000);
      }
      const rest = await drain([second], [0], ({ limiter }) => limiter.chargeKey("k", 1_000));
      expect(rest).toBeGreaterThanOrEqual(998);
    });

    for (const limit of [50, 1_000]) {
      test(`one call decides 64 requests that wait for tokens of ${limit}`, async () => {
        await using server = await startRedis();
        await using fleet = await startFleet(server);
        const [node] = fleet.nodes as [LimitingNode];
        // The first sends a call. The others come meanwhile, and share the second.
        const charges = await Promise.all(
          Array.from({ length: 65 }, () => node.limiter.chargeKey("k", limit)),
        );
        const admitted = charges.filter(({ decision }) => decision.isAllowed).length;
        // The clock of the server goes on, and may refill a token.
        expect(admitted).toBeOneOf(limit === 50 ? [50, 51] : [65]);
        expect(node.calls()).toBe(2);
        expect(node.limiter.localDecisions()).toBe(0);
      });
    }

    test("addresses share the public limit, and callers do not share a bucket", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server, { ALLCLEAR_PUBLIC_RATE_LIMIT: "10" });
      const address = (network: string) => ({ ip: network, network });
      const drained = (network: string) =>
        drain(fleet.nodes, EVEN, ({ limiter }) => limiter.chargeAddress(address(network)));
      expect(await drained("203.0.113.7")).toBeOneOf([10, 11]);
      expect(await drained("203.0.113.8")).toBeOneOf([10, 11]);
      const [node] = fleet.nodes as [LimitingNode];
      expect(node.limiter.chargeHealthCheck(address("203.0.113.7")).decision.isAllowed).toBe(true);
      expect(node.limiter.stats().public.rejected).toBeGreaterThan(0);
    });

    test("a lower limit applies at once, and remaining requests are those that the node knows", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node] = fleet.nodes as [LimitingNode];
      await node.limiter.chargeKey("k", 1_000);
      expect(node.limiter.remainingForKey("k", 1_000)).toBe(999);
      const { decision } = await node.limiter.chargeKey("k", 5);
      expect(decision).toMatchObject({ limit: 5 });
      expect(decision.remaining).toBeLessThanOrEqual(5);
    });

    test("idle callers are forgotten", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node] = fleet.nodes as [LimitingNode];
      await node.limiter.chargeKey("k", 10);
      expect(node.limiter.stats().key.buckets).toBe(1);
      await fleet.clock.advance(10_000);
      expect(node.limiter.stats().key.buckets).toBe(0);
    });
  },
);
