import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Command, openCommand } from "../support/fleet/command";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { startFleet } from "../support/fleet/fleet";
import { drainKey, localDecisions, timeKey, untilShared } from "../support/fleet/key-load";
import { durationMs, expectWithin, IS_LONG_RUN, report, rounds } from "../support/long";
import type { FleetNode } from "../support/fleet/nodes";
import { type RedisServer, startRedis } from "../support/fleet/redis";

const LIMITS = IS_LONG_RUN ? [10, 1_000, 100_000] : [10, 1_000];
const PATTERNS = {
  even: [0, 1, 2],
  "90/10": [...Array.from({ length: 18 }, () => 0), 1, 2],
};
/** Measurements of which one must be without a late answer of Valkey, which shares the processors with all nodes. */
const TRIES = 8;
/** Longest wait that a silent Valkey may add to a request, in ms, and what a busy machine may add to it. */
const ADDED_MAX_MS = 20;
const BUSY_MS = 10;
/** Wait that a request after the first may have in addition, in ms. */
const NEXT_MAX_MS = 5;
/** Answers 503 in about half a second, if a busy machine lists the store late. */
const UNAVAILABLE_MAX = 200;
const START_MAX_MS = 600_000;
/** Requests of a measurement of times. */
const TIMED = 100;

interface LimitedFleet extends AsyncDisposable {
  nodes: readonly FleetNode[];
  valkey: RedisServer;
  /** Creates keys with a limit, which all nodes know. */
  createKeys(limit: number, count: number): Promise<string[]>;
  /** Returns the decisions that the nodes have taken alone, and takes one each while Valkey does not answer. */
  localDecisions(): Promise<number>;
  /** Waits until no node decides alone. */
  shared(): Promise<void>;
}

async function startLimitedFleet(): Promise<LimitedFleet> {
  await using stack = new AsyncDisposableStack();
  const valkey = stack.use(await startRedis());
  const env = { ALLCLEAR_VALKEY_URL: valkey.url };
  const { primary, replicas } = stack.use(await startFleet({ replicas: 2, env }));
  const nodes = [primary, ...replicas];
  const command: Command = stack.use(openCommand(primary));
  const createKeys = async (limit: number, count: number) => {
    const keys: string[] = [];
    for (let made = 0; made < count; made++) keys.push((await command.createKey(limit)).value);
    // Nodes that know the last key know the others, whose buckets are still full.
    const { value: last } = await command.createKey();
    for (const node of nodes) {
      await eventually("a node knows a key", async () => {
        return (await node.call("/api/v1/key", { key: last })).status === 200;
      });
    }
    return keys;
  };
  const [reader = ""] = await createKeys(1_000_000, 1);
  const owned = stack.move();
  return {
    nodes,
    valkey,
    createKeys,
    async localDecisions() {
      const figures = await localDecisions(nodes, reader);
      return figures.reduce((total, figure) => total + figure, 0);
    },
    shared: () => untilShared(nodes, reader),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const median = (figures: readonly number[]) =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;

/** Most requests that may be admitted by some buckets of a limit in a time that begins with the first request. */
function most(limit: number, buckets: number, ms: number): number {
  return limit * buckets * Math.ceil(ms / 60_000);
}

/** Drains a bucket at all nodes. Repeats that with other keys if a node decided alone meanwhile. */
async function drainShared(fleet: LimitedFleet, keys: string[], pattern: readonly number[]) {
  let repeated = -1;
  let local: number;
  let load;
  do {
    repeated += 1;
    await fleet.shared();
    const before = await fleet.localDecisions();
    load = await drainKey(fleet.nodes, keys.shift() ?? "", pattern);
    local = (await fleet.localDecisions()) - before;
  } while (local > 0 && keys.length > 0);
  expect(local).toBe(0);
  return { ...load, repeated };
}

await describeWithPrograms(
  "limits of three nodes, each a process",
  { go: ["litestream", "versitygw"], debian: ["valkey-server|redis-server"] },
  () => {
    let fleet: LimitedFleet;
    beforeAll(async () => {
      fleet = await startLimitedFleet();
    }, START_MAX_MS);
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    test(
      "admit one bucket with even and uneven load",
      async () => {
        for (const limit of LIMITS) {
          for (const [name, pattern] of Object.entries(PATTERNS)) {
            const figures = { rounds: 0, leastShare: Infinity, mostShare: 0, repeated: 0 };
            for (let round = 0; round < rounds(1, 10); round++) {
              const keys = await fleet.createKeys(limit, TRIES);
              const { admitted, ms, repeated } = await drainShared(fleet, keys, pattern);
              const allowed = most(limit, 1, ms);
              expect(admitted).toBeLessThanOrEqual(allowed);
              expect(admitted).toBeGreaterThanOrEqual(limit - fleet.nodes.length);
              const share = Number((admitted / allowed).toFixed(4));
              figures.rounds += 1;
              figures.leastShare = Math.min(figures.leastShare, share);
              figures.mostShare = Math.max(figures.mostShare, share);
              figures.repeated += repeated;
            }
            report(`limit ${limit} over three nodes, ${name}, of one bucket`, figures);
          }
        }
      },
      durationMs(600_000, 60 * 60_000),
    );

    for (const failure of ["frozen", "killed"] as const) {
      test(
        `hold in each node alone while Valkey is ${failure}, after a wait of 20 ms at most`,
        async () => {
          const { nodes, valkey } = fleet;
          const [usual = ""] = await fleet.createKeys(1_000_000, 1);
          for (const limit of IS_LONG_RUN ? [10, 1_000] : [100]) {
            const figures = {
              rounds: 0,
              mostShare: 0,
              nextRatio: 0,
              unavailable: 0,
            };
            /** Additional time of the first request of each node, in ms. */
            const waits: number[] = [];
            for (let round = 0; round < rounds(1, 10); round++) {
              const [key = ""] = await fleet.createKeys(limit, 1);
              await fleet.shared();
              const before = await fleet.localDecisions();
              const baseline: number[] = [];
              for (const node of nodes) baseline.push(...(await timeKey(node, usual, TIMED)).times);
              if (failure === "frozen") valkey.freeze();
              else await valkey.kill();
              const startedAt = performance.now();
              const firsts: number[] = [];
              const nexts: number[] = [];
              let admitted = 0;
              for (const node of nodes) {
                const timed = await timeKey(node, key, TIMED);
                admitted += timed.admitted;
                firsts.push(timed.times.shift() ?? Number.NaN);
                nexts.push(...timed.times);
              }
              const drained = await drainKey(nodes, key, PATTERNS.even);
              admitted += drained.admitted;
              const ms = performance.now() - startedAt;
              for (const node of nodes) expect((await node.call("/readyz")).status).toBe(200);
              const local = (await fleet.localDecisions()) - before;
              const decisions = nodes.length * TIMED + drained.admitted + drained.refused;
              // Each reading of the figures is a decision too.
              expect(local).toBeGreaterThanOrEqual(decisions + nodes.length);
              expect(admitted).toBeLessThanOrEqual(most(limit, nodes.length, ms));
              expect(admitted).toBeGreaterThanOrEqual(limit);
              // All nodes wait alike, and the machine delays some of them.
              const added = firsts.map((time) => time - median(baseline));
              waits.push(...added);
              expectWithin(Math.min(...added), ADDED_MAX_MS + BUSY_MS);
              expectWithin(median(nexts), median(baseline) + NEXT_MAX_MS);

              if (failure === "frozen") valkey.thaw();
              else await valkey.restart();
              await fleet.shared();
              const again = await drainKey(nodes, key, PATTERNS.even);
              expect(again.admitted).toBeLessThanOrEqual(most(limit, 1, again.ms));
              // Keys stay known: the store is listed when the hints cease.
              expect(drained.unavailable + again.unavailable).toBeLessThan(UNAVAILABLE_MAX);
              figures.rounds += 1;
              const share = admitted / most(limit, nodes.length, ms);
              figures.mostShare = Math.max(figures.mostShare, Number(share.toFixed(4)));
              const ratio = Number((median(nexts) / median(baseline)).toFixed(2));
              figures.unavailable += drained.unavailable + again.unavailable;
              figures.nextRatio = Math.max(figures.nextRatio, ratio);
            }
            const waitP50Ms = median(waits).toFixed(1);
            const waitMaxMs = Math.max(...waits).toFixed(1);
            report(`limit ${limit} over three nodes, Valkey ${failure}`, {
              ...figures,
              waitP50Ms,
              waitMaxMs,
            });
          }
        },
        durationMs(600_000, 60 * 60_000),
      );
    }
  },
);
