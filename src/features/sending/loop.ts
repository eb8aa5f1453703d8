import type { Clock, Timer } from "../../base/clock";
import { DAY_MS, SECOND_MS } from "../../base/time";
import { repeatWithRests } from "../../base/in-slices";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { ResultRecorder } from "./results";

const AGAIN_AFTER_MS = SECOND_MS;

/** Queue whose attempts a loop begins. */
interface Queue {
  /** Begins the attempts of one turn. Returns the wait in ms until further ones can begin, infinity without any. */
  begin(): number;
  /** True if only the load of the server, or the length of a turn, delays the next attempt. */
  isActive(): boolean;
  results: Pick<ResultRecorder<unknown, unknown>, "isStuck" | "unwritten" | "flush" | "stop">;
  cleanup: Pick<QueueCleanup, "underWay" | "stop">;
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

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

/** Changes of a queue besides results. Failed ones are logged; the next scan of the queue finds their rows again. */
export class QueueCleanup {
  #underWay = 0;
  #isStopped = false;
  readonly #beingCancelled = new Set<string>();

  constructor(
    protected readonly ctx: Ctx,
    /** Log line of a failed change. */
    readonly failed: string,
    /** Called after each change. */
    readonly ended: () => void,
  ) {}

  /** Number of changes that are not stored yet. */
  get underWay(): number {
    return this.#underWay;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends `runAll` after the current step. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Returns the result of a change; undefined if it failed. */
  async run<T>(change: (tx: Tx) => T): Promise<T | undefined> {
    this.#underWay += 1;
    try {
      return await tryWrite(this.ctx, change, this.failed);
    } finally {
      this.#underWay -= 1;
      this.ended();
    }
  }

  /**
   * Repeats a change of at most `limit` rows, which returns their number, until one changes fewer, with a rest after
   * each. Returns the number of all changed rows.
   */
  async runAll(change: (tx: Tx, limit: number) => number): Promise<number> {
    let all = 0;
    await this.repeat(async () => {
      const changed = (await this.run((tx) => change(tx, ROWS_PER_BATCH))) ?? 0;
      all += changed;
      return changed >= ROWS_PER_BATCH;
    });
    return all;
  }

  /** Cancels all that waits for an endpoint or belongs to a mailing, unless that is under way. */
  async runCancelling(id: string, change: (tx: Tx, limit: number) => number): Promise<void> {
    if (this.#beingCancelled.has(id)) return;
    this.#beingCancelled.add(id);
    await this.runAll(change);
    this.#beingCancelled.delete(id);
  }

  /** Repeats a step until it resolves to false or the changes are stopped, with a rest after each. */
  async repeat(step: () => Promise<boolean>): Promise<void> {
    await repeatWithRests(this.ctx.clock, async () => !this.#isStopped && (await step()));
  }
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

/** Returns the result of a change; undefined if it failed, with `failed` as the line of the log. */
export async function tryWrite<T>(
  { db, log }: Ctx,
  change: (tx: Tx) => T,
  failed: string,
): Promise<T | undefined> {
  try {
    return await db.write(change);
  } catch (error) {
    log.warn({ err: error }, failed);
    return undefined;
  }
}

/** Attempt to send something: the id of the delivery or mail, and the number of the attempt, from 1. */
interface AttemptName {
  id: string;
  attempt: number;
}

/**
 * Sends something, or returns the outcome that an earlier primary noted and could not store. `outcomeOf` returns what is
 * noted: undefined for a result that does not count. One without a noted outcome is sent again.
 */
export async function attemptOnce<T>(
  { attempts }: Ctx,
  { id, attempt }: AttemptName,
  send: () => Promise<T>,
  outcomeOf: (result: T) => object | undefined,
): Promise<T> {
  if (!attempts) return send();
  const earlier = await attempts.begin(id, attempt);
  if (earlier !== undefined) return earlier as T;
  const result = await send();
  const outcome = outcomeOf(result);
  if (outcome) await attempts.end(id, attempt, outcome);
  return result;
}
