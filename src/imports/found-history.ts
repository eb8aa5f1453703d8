/* History of a source as importers find it. */
import type { ForeignKey } from "../base/import-report";

/** Time from `from` to before `until`, in unix ms. */
export interface HistoryRange {
  from: number;
  until: number;
}

/**
 * Kinds of beats. `pending`: a failure that does not make the monitor down yet. `downMark` and `upMark`: start of a
 * state at a time of which the source keeps no results. They are no results.
 */
export const BEAT = { down: 0, up: 1, pending: 2, maintenance: 3, downMark: 4, upMark: 5 } as const;
export type BeatKind = (typeof BEAT)[keyof typeof BEAT];

/**
 * Beats of one monitor by columns, oldest first. Only the first `count` entries are used, of several chunks at most
 * 4,096 each, since they are read in one turn of the event loop.
 */
export interface HistoryChunk {
  count: number;
  /** Unix ms. Of equal ones, the import moves the later ones on by 1 ms. */
  at: Float64Array;
  kind: Uint8Array;
  /** In ms; -1 without an answer. */
  latencyMs: Int32Array;
  /** Texts of beats that failed, by their entry, at most 300 characters each. May be left out. */
  messages?: ReadonlyMap<number, string>;
  /** Number of rows of the source that were read for it, for the progress. */
  rows: number;
  /** Numbers of rows that were skipped, by reason. They are among `rows`. */
  skipped?: Readonly<Record<string, number>>;
}

/** Sum of the results of a minute, an hour or a day (`size`, in ms) that begins at `at` (unix ms, UTC). */
export interface HistorySum {
  size: number;
  at: number;
  /** Results that are up, down or pending. */
  checks: number;
  failures: number;
  /** Results with a latency. */
  answers: number;
  /** In ms; null without answers. */
  latencySum: number | null;
  /** In ms, as `latencyMax`; null without answers, or if the source does not know it. */
  latencyMin: number | null;
  latencyMax: number | null;
  /** Results under maintenance, which are not among `checks`. */
  maintenance: number;
}

/** State of a monitor at its last beat. */
export interface LastState {
  state: "up" | "down";
  /** Start of the state, in unix ms: that of an outage is its first failure. */
  since: number;
  /** Last beat, in unix ms. */
  at: number;
  /** Text of the outage. */
  message: string | null;
}

/**
 * History of a source, which stays open until it is disposed of. Ranges begin and end at midnight UTC, but for the
 * end of the newest one. What they give may be reused for the next: a chunk is used up before the next one is read.
 */
export interface FoundHistory extends Disposable {
  /** Returns the number of rows, roughly, and the first and last time. Takes a second at most for any size. */
  estimate(): { rows: number; range: HistoryRange | null };
  /** Returns the state in which a monitor starts here; undefined without a beat. Called once for each monitor. */
  lastState(monitor: ForeignKey): LastState | undefined;
  /**
   * Reads all sums that begin in a range, in any order. One is used if it counts more results than there are beats in
   * its time; of different sizes, those of the same time count the same results.
   */
  sums(monitor: ForeignKey, range: HistoryRange): readonly HistorySum[];
  /** Reads the beats of a range. */
  beats(monitor: ForeignKey, range: HistoryRange): Iterable<HistoryChunk>;
  /** Counts rows that belong to no monitor that was found, or cannot be read, by reason. May read everything. */
  leftOut(): Readonly<Record<string, number>>;
}
