import type { Ctx } from "../../context";
import type { Timer } from "../../base/clock";
import { DAY_MS, SECOND_MS } from "../../base/time";
import type { QueueChanges } from "./queue-changes";
import type { ResultRecorder } from "./result-recorder";

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
