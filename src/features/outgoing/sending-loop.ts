import { readFileSync } from "node:fs";
import type { Clock, Timer } from "../../base/clock";
import { DAY_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { ResultRecorder } from "./result-recorder";
import type { QueueChanges } from "./waiting-rows";

const AGAIN_AFTER_MS = SECOND_MS;

/** Queue whose attempts a loop begins. */
interface Queue {
  /** Begins the attempts of one turn. Returns the wait in ms until further ones can begin, infinity without any. */
  begin(): number;
  /** True if only the load of the server, or the length of a turn, delays the next attempt. */
  isActive(): boolean;
  results: Pick<ResultRecorder<unknown, unknown>, "isStuck" | "unwritten" | "flush" | "stop">;
  cleanup: Pick<QueueChanges, "underWay" | "stop">;
  /** Log line if the queue cannot be read. */
  unreadable: string;
}

/** Begins the attempts of a queue at most once per turn of the event loop, and waits for them at the end. */
export class SendingLoop {
  readonly #ctx: Ctx;
  readonly #queue: Queue;
  readonly #underWay = new Set<Promise<void>>();
  readonly #aborter = new AbortController();
  /** Wakes when an attempt falls due, or when something else allows the next one. */
  #timer: Timer | undefined;
  #isScheduled = false;
  #isStopped = false;
  #whenIdle: (() => void)[] = [];

  constructor(ctx: Ctx, queue: Queue) {
    this.#ctx = ctx;
    this.#queue = queue;
  }

  /** Aborts attempts that outlast a stop. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Number of attempts in progress. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Begins attempts in the next turn. */
  schedule(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isStopped) this.#run();
    });
  }

  /** Adds an attempt, which never rejects. */
  add(attempt: Promise<void>): void {
    const ended = attempt.finally(() => {
      this.#underWay.delete(ended);
      this.schedule();
    });
    this.#underWay.add(ended);
  }

  /** Resolves when no attempt can begin, is under way or unrecorded. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.schedule();
    });
  }

  /** Lets attempts in progress end for `drainMs`, aborts the rest, and records results. */
  async stop(drainMs: number): Promise<void> {
    const { cleanup, results } = this.#queue;
    this.#isStopped = true;
    cleanup.stop();
    this.#timer?.cancel();
    const overdue = this.#ctx.clock.after(drainMs, () => this.#aborter.abort());
    await Promise.all(this.#underWay);
    overdue.cancel();
    this.#aborter.abort();
    await results.flush();
    results.stop();
  }

  #run(): void {
    const { results, cleanup } = this.#queue;
    // An attempt whose result cannot be recorded would be repeated again and again.
    if (results.isStuck) return;
    if (!this.#ctx.isPrimary()) {
      this.#wakeAfter(AGAIN_AFTER_MS);
      return;
    }
    try {
      this.#wakeAfter(this.#queue.begin());
    } catch (error) {
      this.#ctx.log.error({ err: error }, this.#queue.unreadable);
      this.#wakeAfter(AGAIN_AFTER_MS);
    }
    if (this.#underWay.size > 0 || this.#queue.isActive()) return;
    // No other result is worth waiting for.
    void results.flush();
    if (cleanup.underWay > 0 || this.#isScheduled || results.unwritten > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #wakeAfter(waitMs: number): void {
    this.#timer?.cancel();
    if (waitMs === Number.POSITIVE_INFINITY) return;
    // A timer of more than 24 days would fire at once.
    this.#timer = this.#ctx.clock.after(Math.min(DAY_MS, waitMs), () => this.schedule());
  }
}

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

/**
 * Returns a clock of wall time (unix ms) that never goes back: if the clock is set back, it
 * continues from its last time, so that delays keep their length. If the clock is set forward, it
 * follows.
 */
export function monotonicWallClock(clock: Clock): () => number {
  let time = clock.now();
  let readAt = clock.monotonic();
  return () => {
    const monotonic = clock.monotonic();
    time = Math.max(clock.now(), time + (monotonic - readAt));
    readAt = monotonic;
    return Math.floor(time);
  };
}

/** Delay after a fault: doubles up to the longest; faults within one delay share it. */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #waitMs = 0;
  #raisedAt = Number.NEGATIVE_INFINITY;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  /** Returns the delay after a fault that happened now. */
  nextWaitMs(now: number): number {
    if (now - this.#raisedAt >= this.#waitMs) {
      this.#raisedAt = now;
      this.#waitMs = Math.min(Math.max(this.#firstMs, 2 * this.#waitMs), this.#longestMs);
    }
    return this.#waitMs;
  }

  /** Resets the delay to the shortest one, after something was sent. */
  reset(): void {
    this.#waitMs = 0;
  }
}
