import type { Decision } from "../../features/limits";
import { MINUTE_MS, SECOND_MS } from "../../kernel/time";

/** Time for which tokens may be spent after they were asked for. */
export const SLICE_MS = SECOND_MS;
/** Longest time for which a refusal is remembered. */
const REFUSAL_MS = 250;
/** Part of the limit that a node first asks for. */
const FIRST_PART = 100;

/** Tokens that were taken from the shared bucket together. */
export interface Slice {
  caller: Caller;
  tokens: number;
  /** Monotonic time at which they were asked for. */
  from: number;
}

/** A caller as this node knows it: the tokens that it holds, and what was last known of the shared bucket. */
export class Caller {
  /** Slices with tokens, oldest first. */
  readonly slices: Slice[] = [];
  /** Resolvers of the requests that wait for a token. */
  readonly waiters: ((decision: Decision) => void)[] = [];
  isAsking = false;
  usedAt = Number.NEGATIVE_INFINITY;
  /** Tokens to give back with the next call. */
  unused = 0;
  #held = 0;
  /** Tokens of the newest slice when it arrived. */
  #size = 0;
  /** Tokens left in the shared bucket after the last call. */
  #left: number;
  /** Tokens to ask for next. */
  #wanted: number;
  /** Monotonic times: end of the remembered refusal, and of the wait for a token. */
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly id: string,
    public limit: number,
  ) {
    this.#left = limit;
    this.#wanted = Math.max(1, Math.floor(limit / FIRST_PART));
  }

  get held(): number {
    return this.#held;
  }

  /** Tokens to ask for: as many as are spent in about half a second, and at least one for each waiting request. */
  get wanted(): number {
    return Math.max(this.#wanted, this.waiters.length);
  }

  /** Whole tokens left, as far as this node knows. */
  get remaining(): number {
    return Math.min(this.limit, this.#held + this.unused + this.#left);
  }

  isRefused(now: number): boolean {
    return now < this.#refusedUntil;
  }

  /** Spends a token of the oldest slice. Returns the slice; undefined if none is held. */
  spend(): Slice | undefined {
    const [slice] = this.slices;
    if (!slice) return undefined;
    slice.tokens -= 1;
    this.#held -= 1;
    if (slice.tokens === 0) this.slices.shift();
    return slice;
  }

  /** True once half of a slice is spent. The next is then twice as large. */
  needsMore(now: number): boolean {
    if (this.isAsking || this.isRefused(now) || this.#held * 2 > this.#size) return false;
    this.#wanted = Math.min(this.limit, this.#wanted * 2);
    return true;
  }

  /** Notes that the bucket is empty. */
  refuse(left: number, waitMs: number, now: number): void {
    this.#left = left;
    this.#retryAt = now + waitMs;
    this.#refusedUntil = now + Math.min(waitMs, REFUSAL_MS);
  }

  /** Adds tokens that were asked for at `from`. */
  add(granted: number, left: number, from: number): Slice {
    const slice = { caller: this, tokens: granted, from };
    this.slices.push(slice);
    this.#held += granted;
    this.#size = granted;
    this.#left = left;
    return slice;
  }

  /** Takes the rest of the oldest slice away. The shared bucket refills what is given back later than at its end. */
  end(slice: Slice, now: number): void {
    this.slices.shift();
    this.#held -= slice.tokens;
    const refilled = ((now - slice.from - SLICE_MS) * this.limit) / MINUTE_MS;
    this.unused += Math.max(0, Math.ceil(slice.tokens - Math.max(0, refilled)));
    this.#wanted = Math.max(1, Math.ceil(this.#wanted / 2));
  }

  allowed(): Decision {
    const { limit, remaining } = this;
    return {
      isAllowed: true,
      limit,
      remaining,
      fullInSeconds: fullIn(limit, remaining),
      retryAfterSeconds: 0,
    };
  }

  refused(now: number): Decision {
    return {
      isAllowed: false,
      limit: this.limit,
      remaining: 0,
      fullInSeconds: fullIn(this.limit, 0),
      retryAfterSeconds: Math.max(1, Math.ceil((this.#retryAt - now) / SECOND_MS)),
    };
  }
}

function fullIn(limit: number, remaining: number): number {
  return Math.ceil(((limit - remaining) / limit) * 60);
}
