import type { Ctx } from "../../../context";
import { Problem, unavailable } from "../../../base/errors";
import { type CheckRow, saveLiveness } from "../checks-store";
import type { Liveness } from "./liveness";
import { type Entry, type Recorded, recordEntries } from "./record";

/** Time for which results are gathered for one transaction. */
const GATHER_MS = 1_000;
/** Interval of recording that the server is awake. */
const LIVENESS_MS = 15_000;
/** Maximum number of entries per transaction, to keep it short. Those with consequences have a lower limit. */
const BATCH = 500;
const WAITING_MAX = 100_000;
const RETRY_MS = { first: 1_000, max: 15_000 };

/** Kinds of entries of which the oldest are dropped if too many wait. */
const DROPPED_FIRST: ReadonlySet<Entry["kind"]> = new Set(["check", "heartbeat", "signal"]);

/** Listener of the recorder. */
interface RecorderListener {
  /** An entry is stored. */
  recorded(recorded: Recorded): void;
  /** Writing has paused until `dueAt`. */
  paused(): void;
}

/**
 * Writes entries: gathered in one transaction a second, or at once if urgent. Failed writes are
 * repeated in order; of more than 100,000 waiting results the oldest are dropped. Each batch
 * records that the server is awake.
 */
export class Recorder {
  readonly #ctx: Ctx;
  readonly #liveness: Liveness;
  readonly #listener: RecorderListener;
  #queue: Entry[] = [];
  #writing: readonly Entry[] = [];
  /** Write that is running. */
  #running: Promise<void> | undefined;
  /** True if an entry must not wait until others are gathered. */
  #isUrgent = false;
  #gatherUntil = Number.POSITIVE_INFINITY;
  #livenessAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Number of entries to write one by one, because one of them cannot be written. */
  #oneByOne = 0;
  /** True if the next entry is written without events and incidents, since writing it with them failed. */
  #isPlain = false;
  #dropped = 0;
  /** True if the next start must know that the server was awake. */
  isWatching = false;

  constructor(ctx: Ctx, liveness: Liveness, listener: RecorderListener) {
    this.#ctx = ctx;
    this.#liveness = liveness;
    this.#listener = listener;
  }

  get waiting(): number {
    return this.#queue.length + this.#writing.length;
  }

  /** Number of dropped results. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Time of the oldest result that is not written yet, in unix ms. */
  get oldestAt(): number | undefined {
    let oldest: number | undefined;
    for (const { kind, at } of [...this.#writing, ...this.#queue]) {
      const isOlder = oldest === undefined || at < oldest;
      if (isOlder && (kind === "check" || kind === "heartbeat")) oldest = at;
    }
    return oldest;
  }

  /** Time to call `write`, on the monotonic clock. */
  get dueAt(): number {
    const livenessDue = this.isWatching ? this.#livenessAt + LIVENESS_MS : this.#gatherUntil;
    const due = this.#isUrgent ? this.#retryAt : Math.min(this.#gatherUntil, livenessDue);
    return this.#running ? Number.POSITIVE_INFINITY : Math.max(due, this.#retryAt);
  }

  add(entry: Entry, isUrgent: boolean): void {
    if (this.waiting >= WAITING_MAX) this.#dropOldest();
    this.#queue.push(entry);
    entry.scheduled.waiting += 1;
    const gatheredAt = this.#ctx.clock.monotonic() + GATHER_MS;
    this.#gatherUntil = Math.min(this.#gatherUntil, gatheredAt);
    if (!isUrgent && this.#queue.length < BATCH) return;
    this.#isUrgent = true;
    this.write();
  }

  /** Writes waiting entries, unless a write is running or paused after a failure. */
  write(): void {
    if (this.#running || this.#ctx.clock.monotonic() < this.#retryAt) return;
    this.#running = this.#writeAll().finally(() => {
      this.#running = undefined;
      if (this.#isUrgent) this.write();
      this.#listener.paused();
    });
  }

  /** Writes all waiting entries once, and that the server was awake until now. */
  async close(): Promise<void> {
    await this.#running;
    this.#retryAt = Number.NEGATIVE_INFINITY;
    if (this.isWatching || this.#queue.length > 0) this.write();
    await this.#running;
    for (const entry of this.#queue.splice(0)) this.#finish(entry, closing());
  }

  /** Writes batches until nothing is urgent or a write fails. */
  async #writeAll(): Promise<void> {
    do {
      this.#isUrgent = false;
      this.#gatherUntil = Number.POSITIVE_INFINITY;
      this.#writing = this.#queue.splice(0, this.#oneByOne > 0 ? 1 : BATCH);
      const isStored = await this.#writeBatch(this.#writing);
      this.#writing = [];
      if (!isStored) {
        this.#gatherUntil = this.#ctx.clock.monotonic();
        return;
      }
      // Entries that arrived meanwhile are gathered for a second.
      if (this.#queue.length > 0) this.#gatherUntil = this.#ctx.clock.monotonic() + GATHER_MS;
    } while (this.#queue.length > 0 && (this.#isUrgent || this.#isBehind));
  }

  get #isBehind(): boolean {
    return this.#oneByOne > 0 || this.#queue.length >= BATCH;
  }

  /** Writes a batch. Returns true to continue with the next one. */
  async #writeBatch(batch: readonly Entry[]): Promise<boolean> {
    const { ctx, isPlain } = { ctx: this.#ctx, isPlain: this.#isPlain };
    let recorded: Recorded[];
    try {
      recorded = await ctx.db.write((tx) => {
        saveLiveness(tx, { at: this.#liveness.seenAt });
        return recordEntries(ctx, tx, batch, isPlain);
      });
    } catch (error) {
      return this.#handleFailure(batch, error);
    }
    this.#livenessAt = ctx.clock.monotonic();
    this.#failures = 0;
    this.#isPlain = false;
    this.#oneByOne = Math.max(0, this.#oneByOne - 1);
    // Written next, as soon as other requests have run.
    const rest = batch.slice(recorded.length);
    this.#queue.unshift(...rest);
    if (rest.length > 0) this.#isUrgent = true;
    for (const each of recorded) {
      this.#finish(each.entry, each.check);
      this.#listener.recorded(each);
    }
    return true;
  }

  #handleFailure(batch: readonly Entry[], error: unknown): boolean {
    const [first] = batch;
    const isForNow = error instanceof Problem && error.code === "unavailable";
    if (isForNow || first === undefined) {
      this.#queue = [...batch, ...this.#queue];
      // Waiting callers get the error now; the results are written later.
      for (const entry of batch) this.#answerWaiters(entry, error);
      const delayMs = Math.min(RETRY_MS.first * 2 ** this.#failures, RETRY_MS.max);
      this.#failures += 1;
      this.#retryAt = this.#ctx.clock.monotonic() + delayMs;
      return false;
    }
    // One of the entries cannot be written. It must not block the others.
    this.#ctx.log.error({ err: error, results: batch.length }, "a result could not be written");
    if (batch.length === 1 && this.#isPlain) {
      this.#isPlain = false;
      this.#oneByOne = Math.max(0, this.#oneByOne - 1);
      this.#dropped += 1;
      this.#finish(first, error as Error);
      return true;
    }
    this.#isPlain = batch.length === 1;
    this.#oneByOne = Math.max(this.#oneByOne, batch.length);
    this.#queue = [...batch, ...this.#queue];
    return true;
  }

  #dropOldest(): void {
    const oldest = this.#queue.findIndex(({ kind }) => DROPPED_FIRST.has(kind));
    const [entry] = oldest < 0 ? [] : this.#queue.splice(oldest, 1);
    if (!entry) return;
    this.#dropped += 1;
    this.#finish(entry, unavailable("The result could not be stored.", 5));
  }

  #finish(entry: Entry, outcome: CheckRow | undefined | Error): void {
    entry.scheduled.waiting -= 1;
    this.#answerWaiters(entry, outcome);
  }

  #answerWaiters(entry: Entry, outcome: unknown): void {
    for (const { resolve, reject } of entry.waiters ?? []) {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome as CheckRow | undefined);
    }
    entry.waiters = undefined;
  }
}

/** Error for callers that wait for a result when the server stops. */
export function closing(): Error {
  return unavailable("The server is shutting down.", 5);
}
