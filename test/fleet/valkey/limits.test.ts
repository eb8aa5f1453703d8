import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Charge } from "../../../src/features/limits/limiter";
import { SharedBuckets, TAKE_TOKENS } from "../../../src/fleet/valkey/shared-buckets";
import { createTestClock, type TestClock } from "../../support/clock";
import { describeWithPrograms } from "../../support/fleet/describe";
import { type RedisServer, startRedis } from "../../support/fleet/redis";
import {
  type LimitingNode,
  setServerTime,
  startLimitingNode,
} from "../../support/fleet/shared-limits";
import { until } from "../../support/until";

interface LimitingFleet extends AsyncDisposable {
  nodes: [LimitingNode, LimitingNode, LimitingNode];
  clock: TestClock;
  /** Moves the clock of the server, and then that of the nodes. */
  advance(ms: number): Promise<void>;
}

/** Nodes in one process, each with a connection of its own, that share a clock with the server. The test moves it. */
async function startFleet(
  server: RedisServer,
  env: Record<string, string> = {},
): Promise<LimitingFleet> {
  const clock = createTestClock();
  const startNode = () => startLimitingNode(server.url, 3, { clock, env, ownTime: true });
  const nodes: LimitingFleet["nodes"] = [await startNode(), await startNode(), await startNode()];
  const setTime = (ms: number) => setServerTime(nodes[0], ms);
  await setTime(clock.monotonic());
  return {
    nodes,
    clock,
    async advance(ms) {
      await setTime(clock.monotonic() + ms);
      await clock.advance(ms);
    },
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

/** Charges a key of a node with a limit of 1,000. The answer to one of its calls is held until `release`. */
function holdCall(held: number, { valkey }: LimitingNode, clock: TestClock) {
  let calls = 0;
  const answer = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<void>();
  const run: typeof valkey.run = async (...call) => {
    calls += 1;
    const isHeld = calls === held;
    const given = await valkey.run(...call);
    if (!isHeld) return given;
    answer.resolve();
    await hold.promise;
    return given;
  };
  const buckets = new SharedBuckets({
    valkey: { ...valkey, run },
    clock,
    prefix: "minute:key:",
    capacity: 1,
    local: () => {
      throw new Error("Valkey is available");
    },
    nodes: () => 1,
  });
  return {
    charge: async () => (await buckets.take("k", 1_000)).isAllowed,
    calls: () => calls,
    answered: answer.promise,
    release: hold.resolve,
  };
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
          const admitted = await drain(fleet.nodes, pattern, ({ limiter }) =>
            limiter.chargeKey("k", limit),
          );
          expect(admitted).toBeLessThanOrEqual(limit);
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
      const [node] = fleet.nodes;
      await drain([node], [0], ({ limiter }) => limiter.chargeKey("k", 10));
      const calls = node.calls();
      const refused = await node.limiter.chargeKey("k", 10);
      expect(refused.decision).toMatchObject({ isAllowed: false, remaining: 0, limit: 10 });
      expect(refused.decision.refillInSeconds).toBe(60);
      expect(node.calls()).toBe(calls);
      await fleet.advance(250);
      await node.limiter.chargeKey("k", 10);
      expect(node.calls()).toBe(calls + 1);
    });

    test("tokens that are unused for a second are given back", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [first, second, third] = fleet.nodes;
      expect((await first.limiter.chargeKey("k", 1_000)).decision.remaining).toBe(999);
      await fleet.advance(1_000);
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
        const [node] = fleet.nodes;
        // The first sends a call. The others come meanwhile, and share the second.
        const charges = await Promise.all(
          Array.from({ length: 65 }, () => node.limiter.chargeKey("k", limit)),
        );
        const admitted = charges.filter(({ decision }) => decision.isAllowed).length;
        expect(admitted).toBe(limit === 50 ? 50 : 65);
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
      expect(await drained("203.0.113.7")).toBe(10);
      expect(await drained("203.0.113.8")).toBe(10);
      const [node] = fleet.nodes;
      expect(node.limiter.chargeHealthCheck(address("203.0.113.7")).decision.isAllowed).toBe(true);
      expect(node.limiter.stats().public.rejected).toBeGreaterThan(0);
    });

    test("a lower limit applies at once, also to tokens that a node holds", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node, other] = fleet.nodes;
      expect((await node.limiter.chargeKey("k", 1_000)).decision.remaining).toBe(999);
      expect(node.limiter.remainingForKey("k", 1_000)).toBe(999);
      expect(await drain([node], [0], ({ limiter }) => limiter.chargeKey("k", 5))).toBe(4);
      expect((await other.limiter.chargeKey("k", 5)).decision).toMatchObject({
        isAllowed: false,
        limit: 5,
        remaining: 0,
      });
    });

    test("a higher limit applies at once, also after a refusal", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const drained = (limit: number) =>
        drain(fleet.nodes, EVEN, ({ limiter }) => limiter.chargeKey("k", limit));
      expect(await drained(10)).toBe(10);
      expect(await drained(15)).toBe(5);
    });

    test("a higher limit applies to a call that is under way for the lower one", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node] = fleet.nodes;
      const charge = (limit: number) => node.limiter.chargeKey("k", limit);
      await drain([node], [0], () => charge(10));
      await fleet.advance(250);
      const charges = await Promise.all([10, 15, 15].map(charge));
      expect(charges.map(({ decision }) => decision.isAllowed)).toEqual([true, true, true]);
      expect(await drain([node], [0], () => charge(15))).toBe(2);
    });

    for (const isWaiting of [true, false]) {
      test(`tokens that end while a call is under way are given back ${isWaiting ? "before a waiting request is refused" : "after it"}`, async () => {
        await using server = await startRedis();
        await using fleet = await startFleet(server);
        const [node, other] = fleet.nodes;
        const { charge, calls, answered, release } = holdCall(2, node, fleet.clock);
        // The first call gets ten tokens. The second is sent for more, of which there are none.
        await charge();
        await drain([other], [0], ({ limiter }) => limiter.chargeKey("k", 1_000));
        for (let spent = 1; spent < 6; spent++) await charge();
        await answered;
        await fleet.clock.advance(1_000);
        const waiting = isWaiting ? charge() : undefined;
        release();
        if (waiting) {
          expect(await waiting).toBe(true);
          const rest = await Promise.all(Array.from({ length: 4 }, charge));
          expect(rest).toEqual([true, true, true, false]);
        } else {
          await until(() => calls() === 3);
          expect((await readBucket(node)).taken).toBe(1_000 - 4);
        }
      });
    }

    test("tokens whose answer is read after a second are given back", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node] = fleet.nodes;
      const { charge, answered, release } = holdCall(1, node, fleet.clock);
      const waiting = charge();
      await answered;
      expect((await readBucket(node)).taken).toBe(10);
      await fleet.clock.advance(1_000);
      release();
      expect(await waiting).toBe(true);
      expect((await readBucket(node)).taken).toBe(10);
    });

    test("idle callers are forgotten, and what is known of their minute is kept in less memory", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node] = fleet.nodes;
      await drain([node], [0], ({ limiter }) => limiter.chargeKey("k", 10));
      await fleet.advance(10_000);
      const calls = node.calls();
      expect(node.limiter.stats().key.buckets).toBe(1);
      expect(node.limiter.remainingForKey("k", 10)).toBe(0);
      // The caller is unknown again, so its request waits for Valkey.
      expect((await node.limiter.chargeKey("k", 10)).decision.refillInSeconds).toBe(50);
      expect(node.calls()).toBe(calls + 1);
      await fleet.advance(50_001);
      expect(node.limiter.remainingForKey("k", 10)).toBe(10);
    });
  },
);

/** A shared bucket as Valkey stores it. */
async function readBucket({ valkey }: LimitingNode) {
  const stored = (await valkey.send("GET", ["minute:key:k"])) as string | null;
  const [taken = "0", minute = ""] = stored?.split(" ") ?? [];
  return { taken: Number(taken), minute, begunAt: Number(minute) / 1_000 };
}

await describeWithPrograms(
  "a minute that nodes share",
  { debian: ["valkey-server|redis-server"] },
  () => {
    test("begins with the first token at any node, and ends for all at the same time", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [first, second, third] = fleet.nodes;
      expect((await first.limiter.chargeKey("k", 10)).decision.refillInSeconds).toBe(60);
      await fleet.advance(30_000);
      expect((await second.limiter.chargeKey("k", 10)).decision).toMatchObject({
        remaining: 8,
        refillInSeconds: 30,
      });
      expect(await drain(fleet.nodes, EVEN, ({ limiter }) => limiter.chargeKey("k", 10))).toBe(8);
      await fleet.advance(29_999);
      expect((await third.limiter.chargeKey("k", 10)).decision).toMatchObject({
        isAllowed: false,
        refillInSeconds: 1,
      });
      await fleet.advance(1);
      // No refusal is remembered beyond the minute.
      expect(third.limiter.remainingForKey("k", 10)).toBe(10);
      expect((await third.limiter.chargeKey("k", 10)).decision.isAllowed).toBe(true);
      expect(await drain(fleet.nodes, EVEN, ({ limiter }) => limiter.chargeKey("k", 10))).toBe(9);
    });

    test("lets a caller that waits for the seconds of any node's refusal through, with the whole limit", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const charge = ({ limiter }: LimitingNode) => limiter.chargeKey("k", 10);
      await charge(fleet.nodes[0]);
      for (const laterMs of [0.4, 12_345.678, 40_000.999]) {
        await fleet.advance(laterMs);
        await drain(fleet.nodes, EVEN, charge);
        for (const node of fleet.nodes) {
          const { decision } = await charge(node);
          expect(decision.isAllowed).toBe(false);
        }
        const waits = await Promise.all(fleet.nodes.map(charge));
        const seconds = waits.map(({ decision }) => decision.refillInSeconds);
        expect(Math.max(...seconds)).toBeLessThanOrEqual(60);
        await fleet.advance(Math.min(...seconds) * 1_000);
        expect(await drain(fleet.nodes, EVEN, charge)).toBe(10);
        await fleet.advance(60_000);
        await charge(fleet.nodes[0]);
      }
    });

    test("never admits more than its limit, at any rate and with any load of its nodes", async () => {
      await using server = await startRedis();
      const step = fc.record({
        gapMs: fc.oneof(
          fc.constant(0),
          fc.integer({ min: 0, max: 2_000 }),
          fc.integer({ min: 0, max: 600_000 }).map((tenths) => tenths / 10),
        ),
        /** Time by which the end of the minute is missed, in ms, instead of `gapMs`. */
        missMs: fc.option(fc.constantFrom(-900, -100, -1, 0, 1, 100)),
        node: fc.integer({ min: 0, max: 2 }),
        requests: fc.integer({ min: 1, max: 40 }),
        isTogether: fc.boolean(),
      });
      const run = fc.record({
        limit: fc.constantFrom(3, 10, 100, 1_000),
        steps: fc.array(step, { minLength: 10, maxLength: 60 }),
      });
      await fc.assert(
        fc.asyncProperty(run, async ({ limit, steps }) => {
          await using fleet = await startFleet(server);
          await fleet.nodes[0].valkey.send("DEL", ["minute:key:k"]);
          const admitted = new Map<string, number>();
          for (const { gapMs, missMs, node, requests, isTogether } of steps) {
            const { begunAt: from } = await readBucket(fleet.nodes[0]);
            const toEndMs = from + 60_000 - fleet.clock.monotonic();
            await fleet.advance(missMs === null ? gapMs : Math.max(0, toEndMs + missMs));
            const { limiter } = fleet.nodes[node] as LimitingNode;
            let count = 0;
            if (isTogether) {
              const charge = () => limiter.chargeKey("k", limit);
              const charges = await Promise.all(Array.from({ length: requests }, charge));
              count = charges.filter(({ decision }) => decision.isAllowed).length;
            } else {
              for (let request = 0; request < requests; request++) {
                if ((await limiter.chargeKey("k", limit)).decision.isAllowed) count += 1;
              }
            }
            if (count === 0) continue;
            const { minute, begunAt } = await readBucket(fleet.nodes[0]);
            expect(fleet.clock.monotonic() - begunAt).toBeLessThan(60_000);
            admitted.set(minute, (admitted.get(minute) ?? 0) + count);
            expect(admitted.get(minute)).toBeLessThanOrEqual(limit);
          }
          for (const { limiter } of fleet.nodes) expect(limiter.localDecisions()).toBe(0);
        }),
        { numRuns: 25 },
      );
    });

    test("ends the tokens that a node holds, which are not given back to the next minute", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [first, second] = fleet.nodes;
      const charge = ({ limiter }: LimitingNode) => limiter.chargeKey("k", 1_000);
      await charge(first);
      await fleet.advance(59_700);
      // Of several tokens that it gets, the second node spends one. The others would last a second.
      await charge(second);
      expect((await readBucket(first)).taken).toBeGreaterThan(2);
      await fleet.advance(300);
      expect(await drain([first], [0], charge)).toBe(1_000);
      expect((await charge(second)).decision.isAllowed).toBe(false);
      await fleet.advance(1_000);
      await second[Symbol.asyncDispose]();
      expect(await drain([first], [0], charge)).toBe(0);
    });

    test("ends at a node no later than at the server, also if an answer takes long", async () => {
      await using server = await startRedis();
      await using fleet = await startFleet(server);
      const [node, other] = fleet.nodes;
      await other.limiter.chargeKey("k", 1_000);
      const { begunAt } = await readBucket(other);
      await fleet.advance(59_700);
      const { charge, answered, release } = holdCall(1, node, fleet.clock);
      const waiting = charge();
      await answered;
      await fleet.advance(400);
      release();
      expect(await waiting).toBe(true);
      expect((await readBucket(node)).begunAt).toBe(begunAt + 60_100);
    });

    test("is forgotten by the server at its end, and no use renews that", async () => {
      await using server = await startRedis();
      await using node = await startLimitingNode(server.url, 1);
      const expiry = () => node.valkey.send("PEXPIRETIME", ["minute:key:k"]) as Promise<number>;
      await node.limiter.chargeKey("k", 10);
      const { begunAt } = await readBucket(node);
      const first = await expiry();
      // The server looks at whole ms, and must not forget the bucket before its end.
      expect(first).toBeGreaterThanOrEqual(Math.floor(begunAt + 60_000));
      expect(first).toBeLessThanOrEqual(begunAt + 60_001);
      await until(() => Date.now() > begunAt + 20);
      await drain([node], [0], ({ limiter }) => limiter.chargeKey("k", 10));
      expect(Math.abs((await expiry()) - first)).toBeLessThanOrEqual(1);
    });

    /** Runs the script on a bucket with 40 of 100 tokens taken, `ageMs` after its first one. */
    async function runScript(ageMs: number, args: Record<string, number | string> = {}) {
      await using server = await startRedis();
      await using node = await startLimitingNode(server.url, 1, { ownTime: true });
      await node.valkey.send("SET", ["minute:key:k", "40 4000000000"]);
      await setServerTime(node, 4_000_000 + ageMs);
      const all = {
        limit: 100,
        wanted: 10,
        back: 0,
        of: "4000000000",
        nodes: 1,
        needed: 0,
        ...args,
      };
      const answer = await node.valkey.run(
        TAKE_TOKENS,
        ["minute:key:k"],
        Object.values(all).map(String),
      );
      return { answer, stored: await node.valkey.send("GET", ["minute:key:k"]) };
    }

    test.each([
      ["takes tokens", 100, {}, [10, 50, "59900.000", "4000000000"], "50 4000000000"],
      [
        "answers the time until the refill to a µs",
        0.5,
        {},
        [10, 50, "59999.500", "4000000000"],
        "50 4000000000",
      ],
      ["takes tokens back", 100, { back: 9 }, [10, 59, "59900.000", "4000000000"], "41 4000000000"],
      [
        "takes none back of another minute",
        100,
        { back: 9, of: "3000000000" },
        [10, 50, "59900.000", "4000000000"],
        "50 4000000000",
      ],
      [
        "grants at most a quarter of a node's share",
        0,
        { wanted: 90, nodes: 3 },
        [5, 55, "60000.000", "4000000000"],
        "45 4000000000",
      ],
      [
        "grants what waiting requests need",
        0,
        { wanted: 90, needed: 60, nodes: 3 },
        [60, 0, "60000.000", "4000000000"],
        "100 4000000000",
      ],
      [
        "grants nothing beyond a lowered limit",
        0,
        { limit: 40 },
        [0, 0, "60000.000", "4000000000"],
        "40 4000000000",
      ],
      [
        "says how far a lowered limit is exceeded",
        0,
        { limit: 5 },
        [0, -35, "60000.000", "4000000000"],
        "40 4000000000",
      ],
      [
        "begins no minute without a token",
        60_000,
        { wanted: 0 },
        [0, 100, "60000.000", "4060000000"],
        null,
      ],
      [
        "begins a minute after 60 s",
        60_000,
        { back: 9 },
        [10, 90, "60000.000", "4060000000"],
        "10 4060000000",
      ],
      ["begins none before", 59_999.999, {}, [10, 50, "0.001", "4000000000"], "50 4000000000"],
      [
        "removes a bucket to which all was given back",
        100,
        { wanted: 0, back: 40 },
        [0, 100, "60000.000", "4000100000"],
        null,
      ],
      [
        "ends a minute 60 s later if the clock went back",
        -3_600_000,
        {},
        [10, 50, "60000.000", "400000000"],
        "50 400000000",
      ],
    ] as const)("the script %s", async (_name, ageMs, args, answer, stored) => {
      expect(await runScript(ageMs, args)).toEqual({ answer: [...answer], stored });
    });
  },
);
