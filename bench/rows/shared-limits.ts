import { startRedis } from "../../test/support/fleet/redis";
import { type LimitingNode, startLimitingNode } from "../../test/support/fleet/shared-limits";
import { type Figure, median, percentile } from "../support/figure";

const NODES = 3;
const LIMITS = [
  { limit: 1_000, callsReach: 0.1 },
  { limit: 100_000, callsReach: 0.02 },
];
const CALLERS = 2_000;
const AT_ONCE = 64;
const BATCHES = 50;
const HELD = 100_000;
const FIRST_REACH_MICROSECONDS = 100;
const HELD_REACH_MICROSECONDS = 1;

/** Limits that three nodes share in one Valkey on the same machine. The nodes are limiters in one process. */
export async function measureSharedLimits(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const valkey = stack.use(await startRedis());
  const nodes: LimitingNode[] = [];
  for (let node = 0; node < NODES; node++) {
    nodes.push(stack.use(await startLimitingNode(valkey.url, NODES)));
  }
  const [first] = nodes;
  if (!first) throw new Error("there is no node");
  const figures: Figure[] = [];
  for (const { limit, callsReach } of LIMITS) {
    const { admitted, calls } = await drain(nodes, limit);
    figures.push({
      what: `calls of Valkey for a request, ${NODES} nodes, limit ${limit.toLocaleString("en-US")}`,
      target: `at most ${callsReach}`,
      measured: `${(calls / admitted).toFixed(3)} (${admitted} of ${limit} admitted)`,
      isReached: calls / admitted <= callsReach,
      numbers: { "calls per request": calls / admitted },
    });
  }
  const alone = await firstRequests(first, "alone", CALLERS, 1);
  const together = await firstRequests(first, "together", BATCHES * AT_ONCE, AT_ONCE);
  const held = await heldRequest(first);
  const microseconds = (ms: number) => `${(ms * 1_000).toFixed(0)} µs`;
  figures.push(
    {
      what: "first request of a caller, which waits for Valkey",
      target: `p50 ${FIRST_REACH_MICROSECONDS} µs`,
      measured: `p50 ${microseconds(median(alone))}, p99 ${microseconds(percentile(alone, 99))}`,
      isReached: median(alone) * 1_000 <= FIRST_REACH_MICROSECONDS,
      numbers: { "p50 in µs": median(alone) * 1_000 },
    },
    {
      what: `the same for ${AT_ONCE} callers at once`,
      target: "",
      measured: `p50 ${microseconds(median(together))}, p99 ${microseconds(percentile(together, 99))}`,
    },
    {
      what: "a decision with tokens that the node holds",
      target: `${HELD_REACH_MICROSECONDS} µs`,
      measured: `${(held * 1_000).toFixed(2)} µs`,
      isReached: held * 1_000 <= HELD_REACH_MICROSECONDS,
      numbers: { µs: held * 1_000 },
    },
  );
  return figures;
}

/** Takes tokens at all nodes in turn until one refuses. */
async function drain(nodes: readonly LimitingNode[], limit: number) {
  const callsBefore = nodes.reduce((sum, node) => sum + node.calls(), 0);
  let admitted = 0;
  for (;;) {
    const node = nodes[admitted % nodes.length];
    const charge = await node?.limiter.chargeKey(`drained-${limit}`, limit);
    if (!charge?.decision.isAllowed) break;
    admitted += 1;
  }
  const calls = nodes.reduce((sum, node) => sum + node.calls(), -callsBefore);
  return { admitted, calls };
}

/** Returns the times of the first requests of callers in ms, some at once. */
async function firstRequests(node: LimitingNode, name: string, count: number, atOnce: number) {
  const times: number[] = [];
  const charge = async (caller: string) => {
    const from = performance.now();
    await node.limiter.chargeKey(caller, 1_000);
    times.push(performance.now() - from);
  };
  for (let done = 0; done < count; done += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, one) => charge(`${name}-${done + one}`)));
  }
  return times;
}

/** Returns the time of a decision without a call, in ms. */
async function heldRequest({ limiter }: LimitingNode): Promise<number> {
  const times: number[] = [];
  for (let request = 0; request < HELD; request++) {
    const from = performance.now();
    const charge = limiter.chargeKey("held", 1_000_000);
    if (charge instanceof Promise) await charge;
    else times.push(performance.now() - from);
  }
  return median(times);
}
