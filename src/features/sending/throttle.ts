import { readFileSync } from "node:fs";
import type { Clock } from "../../base/clock";
import { SECOND_MS } from "../../base/time";

/** Limit of the rate at which deliveries start. */
export interface LoadThrottle {
  /** Allows one delivery to start; false if it must wait. */
  take(): boolean;
  /** Returns the wait in ms until further deliveries may start, after `take` returned false. */
  waitMs(): number;
}

/** Deliveries per second: while the server is busy, at the start, and at most. */
const SLOWEST = 250;
const FIRST = 1_500;
const FASTEST = 5_000;
/** Deliveries that start at once at any rate, so that those of one change are sent immediately. */
const BURST = 256;
/**
 * Number of deliveries that start together after a wait. Each wake-up costs as much time as several
 * deliveries, and results share a commit. At the lowest rate this is a wait of a quarter of a
 * second.
 */
const TOGETHER = 64;
/** Share of a core above which the server is busy, with deliveries or anything else. */
const BUSY = 0.8;
/** Requests per second below which deliveries need not yield. */
const FEW_REQUESTS = 500;
const LOOK_EVERY_MS = 50;
/** Time after the last delivery at which the measured load is discarded. */
const FORGET_AFTER_MS = 2 * SECOND_MS;
const FASTER_BY = 100;
const SLOWER_BY = 0.8;

/** Counters of the server's other work. */
interface Work {
  /** Number of requests received. */
  requests(): number;
  /** Time in ms for which this thread was busy. */
  busyMs(): number;
}

/**
 * Creates a throttle that leaves the processor to requests: thousands of deliveries per second with
 * few requests, some hundreds when requests use a whole core. While a backlog of 100,000 deliveries
 * drains, status reads reach 0.83 of their usual rate; without the throttle, they reach 0.58.
 */
export function createLoadThrottle(
  clock: Clock,
  { requests, busyMs = threadBusyMs }: Partial<Work> = {},
): LoadThrottle {
  const seen = () => ({ at: clock.monotonic(), requests: requests?.() ?? 0, busyMs: busyMs() });
  let perSecond = FIRST;
  let leave = BURST;
  let isGathering = false;
  let at = clock.monotonic();
  let looked = seen();

  function pass(): void {
    const now = clock.monotonic();
    const passedMs = now - at;
    if (passedMs <= 0) return;
    if (passedMs > FORGET_AFTER_MS) {
      perSecond = FIRST;
      looked = seen();
    }
    leave = Math.min(BURST, leave + (passedMs * perSecond) / SECOND_MS);
    at = now;
    if (now - looked.at >= LOOK_EVERY_MS) look();
  }

  function look(): void {
    const before = looked;
    looked = seen();
    const passedMs = looked.at - before.at;
    const load = (looked.busyMs - before.busyMs) / passedMs;
    const requested = ((looked.requests - before.requests) * SECOND_MS) / passedMs;
    perSecond =
      load > BUSY && requested > FEW_REQUESTS
        ? Math.max(SLOWEST, perSecond * SLOWER_BY)
        : Math.min(FASTEST, perSecond + FASTER_BY);
  }

  return {
    take() {
      pass();
      if (leave < (isGathering ? TOGETHER : 1)) {
        isGathering = true;
        return false;
      }
      isGathering = false;
      leave -= 1;
      return true;
    },
    waitMs: () => Math.max(1, ((TOGETHER - leave) * SECOND_MS) / perSecond),
  };
}

const NANOSECONDS_PER_MS = 1e6;
const MICROSECONDS_PER_MS = 1e3;

/**
 * Returns the time in ms for which this thread was busy: running, or on Linux also waiting for a
 * processor. If processors are shared, only both together show that the thread is busy.
 */
function threadBusyMs(): number {
  return linuxBusyMs() ?? processorMs();
}

function linuxBusyMs(): number | undefined {
  try {
    // Values of the process's first thread, which serves requests.
    const [running, waiting] = readFileSync("/proc/self/schedstat", "latin1")
      .split(" ")
      .map(Number);
    const sum = (running ?? 0) + (waiting ?? 0);
    return sum > 0 ? sum / NANOSECONDS_PER_MS : undefined;
  } catch {
    return undefined;
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROSECONDS_PER_MS;
}
