import type { Timer } from "../../base/clock";
import { repeatWithRests } from "../../base/in-slices";
import type { Signal } from "../../base/signal";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";

/** Wait after a signal, so that the work does not delay its answer, and several rows share a transaction. */
const WAIT_MS = 100;
/** Wait after a failed write. */
const RETRY_MS = 5_000;

/** Work on rows that requests leave behind. */
interface WaitingRows {
  /** Emitted when a row was written. */
  signal: Signal<void>;
  /** Returns true while rows wait. */
  hasWaiting(): boolean;
  /** Works on some of the oldest rows, after which they do not wait any more. */
  work(tx: Tx): void;
  /** Log line if rows cannot be worked on. */
  failed: string;
}

/** Works on rows a moment after they were written, and on those that an earlier process left. */
export function startWaitingRows(
  ctx: Ctx,
  { signal, hasWaiting, work, failed }: WaitingRows,
): Timer {
  let timer: Timer | undefined;
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;

  function schedule(waitMs: number): void {
    if (isCancelled || isRunning || timer) return;
    timer = ctx.clock.after(waitMs, () => {
      timer = undefined;
      void run();
    });
  }

  async function run(): Promise<void> {
    isRunning = true;
    try {
      // Read again each time, since one may have arrived during the last transaction.
      await repeatWithRests(ctx.clock, async () => {
        if (isCancelled || !hasWaiting()) return false;
        await ctx.db.write(work);
        return true;
      });
      isFailing = false;
    } catch (error) {
      // Logged once per series of failures, which can last for hours.
      if (!isFailing && !isCancelled) ctx.log.error({ err: error }, failed);
      isFailing = true;
    } finally {
      isRunning = false;
    }
    if (isFailing) schedule(RETRY_MS);
  }

  const forget = signal.on(() => schedule(WAIT_MS));
  schedule(WAIT_MS);
  // Should a signal ever be missed, no row waits longer.
  const sweep = ctx.clock.every(MINUTE_MS, () => schedule(0));
  return {
    cancel() {
      isCancelled = true;
      forget();
      timer?.cancel();
      sweep.cancel();
    },
  };
}

/** Changes of a queue besides results. Failed ones are logged; the next scan of the queue finds their rows again. */
export class QueueChanges {
  readonly #ctx: Ctx;
  #underWay = 0;
  #isStopped = false;

  constructor(
    ctx: Ctx,
    /** Log line of a failed change. */
    readonly failed: string,
    /** Called after each change. */
    readonly ended: () => void,
  ) {
    this.#ctx = ctx;
  }

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
      return await this.#ctx.db.write(change);
    } catch (error) {
      this.#ctx.log.warn({ err: error }, this.failed);
      return undefined;
    } finally {
      this.#underWay -= 1;
      this.ended();
    }
  }

  /**
   * Repeats a change of at most `limit` rows, which returns their number, until one changes fewer, with a rest after
   * each. Returns the number of all changed rows.
   */
  async runAll(limit: number, change: (tx: Tx) => number): Promise<number> {
    let all = 0;
    await this.repeat(async () => {
      const changed = (await this.run(change)) ?? 0;
      all += changed;
      return changed >= limit;
    });
    return all;
  }

  /** Repeats a step until it resolves to false or the changes are stopped, with a rest after each. */
  async repeat(step: () => Promise<boolean>): Promise<void> {
    await repeatWithRests(this.#ctx.clock, async () => !this.#isStopped && (await step()));
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
