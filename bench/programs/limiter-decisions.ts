/**
 * Fills the limiter's own map with live buckets and takes tokens from them, in a process that does
 * nothing else, and prints what that cost as JSON.
 */
import { BucketMap } from "../../src/features/limits/limiter";
import { systemClock } from "../../src/base/clock";
import { systemRandom } from "../../src/base/hash";
import { mainThreadMs } from "../support/processor-time";

export interface LimiterCost {
  buckets: number;
  /** Processor time of a decision about a caller with a bucket, and about one without room for it. */
  nanoseconds: number;
  overflowNanoseconds: number;
  residentBytes: number;
  heapBytes: number;
}

const BUCKETS = 100_000;
/** Greater than the passes, so that no decision is a refusal. */
const LIMIT = 100;
const PASSES = 20;

/** Returns a new text, as the server makes one of each client address. */
function addresses(network = 10): string[] {
  return Array.from(
    { length: BUCKETS },
    (_, index) => `${network}.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
  );
}

function shuffled<T>(items: T[]): T[] {
  // A fixed sequence, so that every run walks the map in the same disorder.
  let seed = 42;
  for (let last = items.length - 1; last > 0; last--) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const other = seed % (last + 1);
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}

function memory(): { rss: number; heap: number } {
  for (let i = 0; i < 3; i++) Bun.gc(true);
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed };
}

function createMap(): BucketMap {
  return new BucketMap({
    clock: systemClock(),
    random: systemRandom,
    capacity: BUCKETS,
    overflowLimit: LIMIT,
  });
}

// What the code itself weighs once it is warm is not the buckets' weight.
(() => {
  const rehearsal = createMap();
  for (let i = 0; i < 20_000; i++) rehearsal.take(`rehearsal ${i % 500}`, LIMIT);
})();

const before = memory();
const map = createMap();
(() => {
  for (const address of addresses()) map.take(address, LIMIT);
})();
const after = memory();
const buckets = map.size;

/** Returns the processor time of a decision about one of these callers, in ns. */
function nanosecondsPerDecision(callers: readonly string[], passes: number): number {
  const since = mainThreadMs(process.pid);
  for (let pass = 0; pass < passes; pass++) for (const caller of callers) map.take(caller, LIMIT);
  return ((mainThreadMs(process.pid) - since) * 1e6) / (callers.length * passes);
}

const nanoseconds = nanosecondsPerDecision(shuffled(addresses()), PASSES);
if (buckets !== BUCKETS || map.overflowed > 0) throw new Error("not every caller has its bucket");

const cost: LimiterCost = {
  buckets,
  nanoseconds,
  overflowNanoseconds: nanosecondsPerDecision(shuffled(addresses(11)), PASSES),
  residentBytes: after.rss - before.rss,
  heapBytes: after.heap - before.heap,
};
process.stdout.write(JSON.stringify(cost));
