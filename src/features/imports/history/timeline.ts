import { MINUTE_MS } from "../../../base/time";
import { BEAT, type BeatKind, type HistorySum } from "../source";

/* The states of a monitor by its beats and sums. Pure; times are unix ms. */

type KnownState = "up" | "down" | "maintenance";

/** Span of a monitor's timeline. */
export interface PastSpan {
  startedAt: number;
  endedAt: number;
  state: KnownState | "no_data";
  message: string | null;
}

/** State of a timeline that is built up to some time, as an interrupted import stores it. */
export interface TimelineState {
  /** The span that has not ended yet; null before the first beat. */
  open: Omit<PastSpan, "endedAt"> | null;
  /** State by the last beat; null before the first one. */
  known: KnownState | null;
  /** Last beat, or end of the last sum. */
  seenAt: number;
  /** Time until which the state lasts if nothing follows. */
  heldUntil: number;
  /** Start of the failures that have not made the monitor down yet, in unix ms. */
  pendingSince: number | null;
}

const UNSEEN: TimelineState = {
  open: null,
  known: null,
  seenAt: 0,
  heldUntil: 0,
  pendingSince: null,
};

/** Shortest time without a beat that is a time without data, in ms. */
const GAP_MS = 10 * MINUTE_MS;
/** Number of intervals for which beats may be missing. */
const GAP_INTERVALS = 3;

/** Returns the longest time between two beats that is not without data, for an interval in ms. */
export function longestSilence(intervalMs: number): number {
  return Math.max(GAP_MS, GAP_INTERVALS * intervalMs);
}

const STATES: Readonly<Record<Exclude<BeatKind, typeof BEAT.pending>, KnownState>> = {
  [BEAT.down]: "down",
  [BEAT.up]: "up",
  [BEAT.maintenance]: "maintenance",
  [BEAT.downMark]: "down",
  [BEAT.upMark]: "up",
};

/**
 * Makes spans without gaps from beats and sums, which are passed in the order of time. An outage starts at its first
 * failure. A state lasts until the next beat, or one interval if there is none for longer than `longestSilence`.
 */
export class Timeline {
  readonly #intervalMs: number;
  readonly #until: number;
  readonly #state: TimelineState;
  #spans: PastSpan[] = [];

  /** `intervalMs` is infinite for a job without a deadline. Spans end at `until`. */
  constructor(intervalMs: number, until: number, state: TimelineState = UNSEEN) {
    this.#intervalMs = intervalMs;
    this.#until = until;
    this.#state = { ...state };
  }

  /** State from which a later import can continue the timeline. */
  get state(): TimelineState {
    return { ...this.#state };
  }

  /** Returns the spans that have ended since the last call. */
  takeSpans(): PastSpan[] {
    const spans = this.#spans;
    this.#spans = [];
    return spans;
  }

  beat(at: number, kind: BeatKind, message: string | null): void {
    this.#reach(at);
    this.#see(at, Math.min(at + this.#intervalMs, Number.MAX_SAFE_INTEGER));
    const state = this.#state;
    if (kind === BEAT.pending) {
      state.pendingSince ??= at;
      return;
    }
    const entered = STATES[kind];
    const since = entered === "down" ? (state.pendingSince ?? at) : at;
    state.pendingSince = null;
    state.known = entered;
    this.#enter(entered, since, entered === "down" ? message : null);
  }

  /**
   * Passes a sum: no beat may be missing in its time. The state of the last beat goes on; before any beat, the share of
   * its failures is the share of time for which it was down, up to the next beat.
   */
  cover({ at, size, checks, failures }: HistorySum, nextBeatAt: number): void {
    this.#reach(at);
    const { known } = this.#state;
    if (known !== null) this.#enter(known, at, null);
    else if (checks === 0) this.#enter("maintenance", at, null);
    else {
      const until = Math.min(at + size, nextBeatAt);
      const upFrom = at + Math.round(((until - at) * failures) / checks);
      if (upFrom > at) this.#enter("down", at, null);
      if (upFrom < until) this.#enter("up", upFrom, null);
    }
    this.#see(at + size, at + size);
  }

  /** Ends the last span, which is followed by a span in the state `next`. */
  finish(next: string): void {
    if (!this.#state.open) return;
    this.#reach(this.#until);
    const { pendingSince, open } = this.#state;
    if (pendingSince !== null && next === "down") this.#enter("down", pendingSince, null);
    this.#end(this.#state.open ?? open, this.#until);
    this.#state.open = null;
  }

  /** Starts a time without data if nothing was seen for too long before a time. */
  #reach(at: number): void {
    const { open, seenAt, heldUntil } = this.#state;
    if (!open || at - seenAt <= longestSilence(this.#intervalMs)) return;
    this.#state.pendingSince = null;
    this.#enter("no_data", Math.min(heldUntil, at), null);
  }

  #see(at: number, heldUntil: number): void {
    this.#state.seenAt = Math.max(this.#state.seenAt, at);
    this.#state.heldUntil = Math.max(this.#state.heldUntil, heldUntil);
  }

  /** Enters a state. A state that begins no later than the open span replaces that span. */
  #enter(state: PastSpan["state"], at: number, message: string | null): void {
    const { open } = this.#state;
    if (open?.state === state) return;
    const startedAt = Math.max(at, open?.startedAt ?? at);
    if (open && startedAt > open.startedAt) this.#end(open, startedAt);
    this.#state.open = { startedAt, state, message };
  }

  #end(open: TimelineState["open"], endedAt: number): void {
    if (!open || open.startedAt >= this.#until) return;
    this.#spans.push({ ...open, endedAt: Math.min(endedAt, this.#until) });
  }
}
