import { DAY_MS, startOfDay } from "../../../base/time";
import { BEAT, type HistoryChunk, type HistoryRange, type HistorySum } from "../source";
import { DayBeats } from "./day-beats";
import { foldDay, type FoldedDay, type Limits } from "./fold-day";
import { distinctSums, sumsBySize, type Sums } from "./sums";
import { type PastSpan, Timeline, type TimelineState } from "./timeline";

/** A part of a monitor's history that is being written, as it is stored. Times in unix ms. */
export interface Part extends HistoryRange {
  /** Start of the span that follows, and its state. */
  spansUntil: number;
  nextState: string;
  /** Midnight up to which all is written. */
  reached: number;
  /** Null at the start. */
  timeline: TimelineState | null;
}

/** Rows of days that are not written yet, with the progress after them. */
export interface PastRows extends FoldedDay {
  spans: PastSpan[];
  reached: number;
  timeline: TimelineState;
  /** Rows of the source, and those of them that were skipped, by reason. */
  rows: number;
  skipped: Record<string, number>;
  /** First and last result or sum, in unix ms; null without any. */
  range: HistoryRange | null;
}

/** Monitor to which a history belongs. */
export interface PastMonitor {
  num: number;
  /** Infinite for a job without a deadline. */
  intervalMs: number;
}

const OUT_OF_RANGE = "not before the monitor here was created";
const TOO_MANY = "too many in one day";

const NO_BEATS = new DayBeats();

/** Makes the rows of one part of a monitor's history from what the source gives, day by day. */
export class PartFold {
  readonly #monitor: PastMonitor;
  readonly #part: Part;
  readonly #limits: Limits;
  readonly #sums: Sums;
  /** Sums that show that the source was running, and days of sums, each with the next index. */
  readonly #running: readonly HistorySum[];
  #nextRunning = 0;
  readonly #sumDays: readonly number[];
  #nextDay = 0;
  readonly #timeline: Timeline;
  readonly #day = new DayBeats();
  #lastAt = Number.NEGATIVE_INFINITY;
  #pending: PastRows;

  constructor(monitor: PastMonitor, part: Part, limits: Limits, sums: readonly HistorySum[]) {
    this.#monitor = monitor;
    this.#part = part;
    this.#limits = limits;
    this.#sums = sumsBySize(sums);
    this.#running = distinctSums(this.#sums);
    this.#sumDays = [...new Set(this.#running.map(({ at }) => startOfDay(at)))];
    this.#timeline = new Timeline(monitor.intervalMs, part.spansUntil, part.timeline ?? undefined);
    this.#pending = this.#none(part.reached);
  }

  /** Number of rows that wait to be taken. */
  get size(): number {
    const { checks, rollups, spans } = this.#pending;
    return checks.length + rollups.length + spans.length;
  }

  /** Adds beats, and makes the rows of the days that they complete. */
  add(chunk: HistoryChunk): void {
    this.#pending.rows += chunk.rows;
    for (const [reason, count] of Object.entries(chunk.skipped ?? {})) this.#skip(reason, count);
    for (let index = 0; index < chunk.count; index += 1) {
      const at = Math.max(Math.floor(chunk.at[index] ?? 0), this.#lastAt + 1);
      if (!(at >= this.#part.reached && at < this.#part.until)) {
        this.#skip(OUT_OF_RANGE, 1);
        continue;
      }
      this.#lastAt = at;
      if (!this.#day.has(at)) {
        this.#endDay();
        this.#day.start(at);
      }
      if (!this.#day.add(chunk, index, at)) this.#skip(TOO_MANY, 1);
    }
  }

  /** Makes the rows of all days that are left, and ends the timeline. */
  finish(): void {
    this.#endDay();
    this.#foldSums(Number.POSITIVE_INFINITY);
    this.#timeline.finish(this.#part.nextState);
    this.#pending.spans.push(...this.#timeline.takeSpans());
  }

  /** Returns the rows of completed days. */
  take(): PastRows {
    const rows = this.#pending;
    this.#pending = this.#none(rows.reached);
    return rows;
  }

  #endDay(): void {
    const { day, count } = this.#day;
    if (count === 0) return;
    this.#foldSums(day);
    if (this.#sumDays[this.#nextDay] === day) this.#nextDay += 1;
    this.#fold(day, this.#day);
    this.#day.count = 0;
  }

  /** Makes the rows of days before `until` that have sums alone. */
  #foldSums(until: number): void {
    for (let day; (day = this.#sumDays[this.#nextDay]) !== undefined && day < until;) {
      this.#fold(day, NO_BEATS);
      this.#nextDay += 1;
    }
  }

  #fold(day: number, beats: DayBeats): void {
    const { num } = this.#monitor;
    const { checks, rollups, results } = foldDay(num, day, beats, this.#sums, this.#limits);
    this.#pass(beats, day + DAY_MS);
    const pending = this.#pending;
    append(pending.checks, checks);
    append(pending.rollups, rollups);
    append(pending.spans, this.#timeline.takeSpans());
    pending.results += results;
    pending.reached = day + DAY_MS;
    pending.timeline = this.#timeline.state;
  }

  /** Passes the beats of the day, and the sums before its end, to the timeline. */
  #pass(beats: DayBeats, until: number): void {
    for (let index = 0; ; index += 1) {
      const at = index < beats.count ? beats.at(index) : until;
      for (let sum; (sum = this.#running[this.#nextRunning]) && sum.at < at;) {
        this.#nextRunning += 1;
        if (isSumOf(beats, index, sum)) continue;
        this.#timeline.cover(sum, at);
        this.#extend(sum.at, Math.min(sum.at + sum.size, this.#part.until));
      }
      if (index >= beats.count) return;
      this.#timeline.beat(at, beats.kind(index), beats.message(index));
      this.#extend(at, at);
    }
  }

  #extend(from: number, until: number): void {
    const { range } = this.#pending;
    if (!range) this.#pending.range = { from, until };
    else if (until > range.until) range.until = until;
  }

  #skip(reason: string, count: number): void {
    this.#pending.skipped[reason] = (this.#pending.skipped[reason] ?? 0) + count;
  }

  #none(reached: number): PastRows {
    const timeline = this.#timeline.state;
    const counts = { results: 0, rows: 0, skipped: {}, range: null };
    return { checks: [], rollups: [], spans: [], reached, timeline, ...counts };
  }
}

/** Appends many items, for which a spread has too many arguments. */
function append<Item>(list: Item[], items: readonly Item[]): void {
  for (const item of items) list.push(item);
}

/** Returns true if a sum counts only beats from an index on, so that it tells nothing of the time before them. */
function isSumOf(beats: DayBeats, index: number, sum: HistorySum): boolean {
  let missing = sum.checks + sum.maintenance;
  for (let next = index; missing > 0 && next < beats.count; next += 1) {
    if (beats.at(next) >= sum.at + sum.size) return false;
    if (beats.kind(next) <= BEAT.maintenance) missing -= 1;
  }
  return missing === 0;
}
