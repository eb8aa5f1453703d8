import { type Decision, secondsToRefill } from "../../features/limits/bucket";
import { SECOND_MS } from "../../base/time";

/** Time for which tokens may be spent after they were asked for. */
export const SLICE_MS = SECOND_MS;
/** Longest time for which a refusal is remembered. */
const REFUSAL_MS = 250;
/** Part of the limit that a node first asks for. */
const FIRST_PART = 100;

/** State of a shared bucket: tokens left, ms until it is filled again, and the name of its minute. */
export type SharedBucket = [left: number, refillInMs: string, minute: string];

/** Tokens that were taken from the shared bucket together. */
export interface Slice {
  caller: Caller;
  tokens: number;
  /** Minute of the shared bucket that they belong to. */
  minute: string;
  /** Monotonic time at which they end: a second after they were asked for, or with their minute. */
  until: number;
}

/** A caller as this node knows it: the tokens that it holds, and what was last known of the shared bucket. */
export class Caller {
  /** Slices with tokens, oldest first. */
  readonly slices: Slice[] = [];
  /** Resolvers of the requests that wait for a token. */
  readonly waiters: ((decision: Decision) => void)[] = [];
  isAsking = false;
  usedAt = Number.NEGATIVE_INFINITY;
  /** Tokens of the known minute to give back with the next call. */
  unused = 0;
  /** Name of the minute of the last answer. */
  minute = "";
  #held = 0;
  /** Tokens of the newest slice when it arrived. */
  #size = 0;
  /** Tokens taken from the shared bucket by all nodes, after the last call. */
  #taken = 0;
  /** Tokens to ask for next. */
  #wanted: number;
  /**
   * Monotonic times between which the minute ends. No token is spent after the first, which counts from the sending of
   * a call; a caller waits for the second, which counts from the answer.
   */
  #endsAt = Number.NEGATIVE_INFINITY;
  #refillAt = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which the remembered refusal ends. */
  #refusedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    readonly id: string,
    public limit: number,
  ) {
    this.#wanted = Math.max(1, Math.floor(limit / FIRST_PART));
  }

  get held(): number {
    return this.#held;
  }

  /** Tokens to ask for: as many as are spent in about half a second, and at least one for each waiting request. */
  get wanted(): number {
    return Math.max(this.#wanted, this.waiters.length);
  }

  /** Returns the tokens that other nodes hold, or that were spent, as far as this node knows. */
  taken(now: number): number {
    return this.hasEnded(now) ? 0 : Math.max(0, this.#taken - this.#held - this.unused);
  }

  /** Returns the tokens left, as far as this node knows. */
  remaining(now: number): number {
    return Math.max(0, this.limit - this.taken(now));
  }

  /** Returns the ms until the shared bucket is certainly filled again; 0 or less if it is. */
  refillInMs(now: number): number {
    return this.#refillAt - now;
  }

  /** Returns true if the minute of the last answer may be over. */
  hasEnded(now: number): boolean {
    return now >= this.#endsAt;
  }

  isRefused(now: number): boolean {
    return now < this.#refusedUntil;
  }

  /** Spends a token of the oldest slice. Returns the slice; undefined if none is held, or the limit was lowered. */
  spend(now: number): Slice | undefined {
    const [slice] = this.slices;
    if (!slice || this.remaining(now) === 0) return undefined;
    slice.tokens -= 1;
    this.#held -= 1;
    if (slice.tokens === 0) this.slices.shift();
    return slice;
  }

  /** Applies the current limit. A refusal by another one is no longer remembered. */
  setLimit(limit: number): void {
    if (limit === this.limit) return;
    this.limit = limit;
    this.#refusedUntil = Number.NEGATIVE_INFINITY;
  }

  /** True once half of a slice is spent. The next is then twice as large. */
  needsMore(now: number): boolean {
    if (this.isAsking || this.isRefused(now) || this.#held * 2 > this.#size) return false;
    this.#wanted = Math.min(this.limit, this.#wanted * 2);
    return true;
  }

  /** Notes the answer to a call that was sent at `from` for a limit. */
  learn([left, refillInMs, minute]: SharedBucket, limit: number, from: number, now: number): void {
    // Unused tokens of a former minute have ended with it.
    if (minute !== this.minute) this.unused = 0;
    this.minute = minute;
    this.#taken = limit - left;
    this.#endsAt = from + Number(refillInMs);
    this.#refillAt = now + Number(refillInMs);
  }

  /** Notes that the bucket is empty. */
  refuse(now: number): void {
    this.#refusedUntil = Math.min(this.#endsAt, now + REFUSAL_MS);
  }

  /** Adds tokens that were asked for at `from`. Returns undefined if their time is over, so that they are given back. */
  add(granted: number, from: number, now: number): Slice | undefined {
    const { minute } = this;
    const until = Math.min(from + SLICE_MS, this.#endsAt);
    if (until <= now) {
      if (!this.hasEnded(now)) this.unused += granted;
      return undefined;
    }
    const slice = { caller: this, tokens: granted, minute, until };
    this.slices.push(slice);
    this.#held += granted;
    this.#size = granted;
    return slice;
  }

  /** Takes the rest of the oldest slice away. It is given back, unless its minute is over. */
  end({ tokens, minute }: Slice, now: number): void {
    this.slices.shift();
    this.#held -= tokens;
    if (minute === this.minute && !this.hasEnded(now)) this.unused += tokens;
    this.#wanted = Math.max(1, Math.ceil(this.#wanted / 2));
  }

  decide(isAllowed: boolean, now: number): Decision {
    return {
      isAllowed,
      limit: this.limit,
      remaining: isAllowed ? this.remaining(now) : 0,
      refillInSeconds: secondsToRefill(this.refillInMs(now)),
    };
  }
}
