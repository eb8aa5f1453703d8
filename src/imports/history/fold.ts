import { SYSTEM_ACTOR } from "../../base/actor";
import { redactText } from "../../base/redaction";
import { sketchOf } from "../../base/sketch";
import type { ComponentStatus, OnDown } from "../../base/status";
import { oneLine } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type Interval, knownFrom } from "../../features/components/rules";
import { addPastCauses, knowEarlier } from "../../features/components/statuses";
import { type ComponentOnPage, findComponent } from "../../features/components/store";
import type { CheckRow, RollupRow } from "../../features/monitors/checks-store";
import { listComponentsOfMonitors, listMonitorsOfComponent } from "../../features/monitors/store";
import { insertPastNoData, listSpans, type SpanRow } from "../../features/monitors/spans-store";
import { type Figures, figuresToRow, mergeFigures } from "../../features/monitors/figures";
import { BEAT, type BeatKind, type HistoryChunk, type HistorySum } from "../found";

/** Maximum number of beats of a monitor that are read of one day: two a second. */
const BEATS_PER_DAY = 172_800;

const MESSAGE_MAX = 300;

/** Beats of one monitor and UTC day by columns, oldest first and each in a millisecond of its own. */
export class DayBeats {
  /** Start of the day in unix ms; -1 before the first beat. */
  day = -1;
  count = 0;
  #at = new Float64Array(2_048);
  #kind = new Uint8Array(2_048);
  #latencyMs = new Int32Array(2_048);
  readonly #messages = new Map<number, string>();

  at(index: number): number {
    return this.#at[index] ?? 0;
  }

  kind(index: number): BeatKind {
    return this.#kind[index] as BeatKind;
  }

  /** Latency in ms; negative without an answer. */
  latencyMs(index: number): number {
    return this.#latencyMs[index] ?? -1;
  }

  message(index: number): string | null {
    return this.#messages.get(index) ?? null;
  }

  /** Starts the day of a time (unix ms). */
  start(at: number): void {
    this.day = startOfDay(at);
    this.count = 0;
    this.#messages.clear();
  }

  /** Returns true for a time of this day. */
  has(at: number): boolean {
    return at >= this.day && at < this.day + DAY_MS && this.day >= 0;
  }

  /** Adds a beat of a chunk at a time of this day. Returns false if there are too many. */
  add(chunk: HistoryChunk, index: number, at: number): boolean {
    if (this.count >= BEATS_PER_DAY) return false;
    if (this.count === this.#at.length) this.#grow();
    this.#at[this.count] = at;
    this.#kind[this.count] = chunk.kind[index] ?? 0;
    this.#latencyMs[this.count] = chunk.latencyMs[index] ?? -1;
    const message = chunk.messages?.get(index);
    if (message !== undefined) this.#messages.set(this.count, shown(message));
    this.count += 1;
    return true;
  }

  #grow(): void {
    const size = this.#at.length * 2;
    const [at, kind, latencyMs] = [this.#at, this.#kind, this.#latencyMs];
    this.#at = new Float64Array(size);
    this.#at.set(at);
    this.#kind = new Uint8Array(size);
    this.#kind.set(kind);
    this.#latencyMs = new Int32Array(size);
    this.#latencyMs.set(latencyMs);
  }
}

/** Returns a text of the source in one line, without secrets and credentials in addresses. */
function shown(message: string): string {
  const text = message.slice(0, MESSAGE_MAX).replaceAll(/\/\/[^/@\s]*@/g, "//");
  return oneLine(redactText(text));
}

/** Times (unix ms) from which results and sums are written, and before which sums are. */
export interface Limits {
  checksFrom: number;
  minutesFrom: number;
  hoursFrom: number;
  /** Start of the hour from which results are rolled up here. */
  rolledFrom: number;
}

/** Rows of monitors, and the number of results that are in them. */
export interface FoldedDay {
  checks: CheckRow[];
  rollups: RollupRow[];
  results: number;
}

/**
 * Makes the rows of a monitor's day. A minute, an hour and a day each has the sum of the source if that counts more
 * results than there are beats, since older beats may have been deleted.
 */
export function foldDay(
  num: number,
  day: number,
  beats: DayBeats,
  sums: Sums,
  limits: Limits,
): FoldedDay {
  const rollups: RollupRow[] = [];
  const save = (size: number, at: number, figures: Figures) =>
    rollups.push({ monitorNum: num, size, at, ...figuresToRow(figures) });
  const hours: Figures[] = [];
  let next = 0;
  for (let hour = day; hour < day + DAY_MS; hour += HOUR_MS) {
    const from = next;
    next = indexAfter(beats, next, hour + HOUR_MS);
    const figures = largest(figuresOfBeats(beats, from, next), sums.hours.get(hour));
    if (figures.checks === 0) continue;
    hours.push(figures);
    if (hour >= limits.rolledFrom) continue;
    if (hour >= limits.minutesFrom) {
      for (const minute of foldMinutes(hour, { beats, from, sums })) {
        save(MINUTE_MS, minute.at, minute.figures);
      }
    }
    if (hour >= limits.hoursFrom) save(HOUR_MS, hour, figures);
  }
  const whole = largest(mergeFigures(hours), sums.days.get(day));
  if (whole.checks > 0 && day + DAY_MS <= limits.rolledFrom) save(DAY_MS, day, whole);
  return { checks: checksOf(num, beats, limits.checksFrom), rollups, results: whole.checks };
}

/** Returns the figures of the minutes of an hour that have results. `from` is the first beat of the hour. */
function foldMinutes(
  hour: number,
  { beats, from, sums }: { beats: DayBeats; from: number; sums: Sums },
) {
  const minutes: { at: number; figures: Figures }[] = [];
  let next = from;
  for (let at = hour; at < hour + HOUR_MS; at += MINUTE_MS) {
    const first = next;
    next = indexAfter(beats, next, at + MINUTE_MS);
    const sum = sums.minutes.get(at);
    if (next === first && !sum) continue;
    const figures = largest(figuresOfBeats(beats, first, next), sum);
    if (figures.checks > 0) minutes.push({ at, figures });
  }
  return minutes;
}

/** Returns the first index from `from` on whose beat is not before a time. */
function indexAfter(beats: DayBeats, from: number, time: number): number {
  let index = from;
  while (index < beats.count && beats.at(index) < time) index += 1;
  return index;
}

/** Returns the figures of beats, as a check has them. */
function figuresOfBeats(beats: DayBeats, from: number, to: number): Figures {
  const latencies: number[] = [];
  let [checks, failures, latencySum] = [0, 0, 0];
  let [latencyMin, latencyMax] = [Number.POSITIVE_INFINITY, 0];
  for (let index = from; index < to; index += 1) {
    const kind = beats.kind(index);
    if (kind > BEAT.pending) continue;
    checks += 1;
    if (kind !== BEAT.up) failures += 1;
    const latencyMs = beats.latencyMs(index);
    if (latencyMs < 0) continue;
    latencies.push(latencyMs);
    latencySum += latencyMs;
    latencyMin = Math.min(latencyMin, latencyMs);
    latencyMax = Math.max(latencyMax, latencyMs);
  }
  const answers = latencies.length;
  const bounds = answers > 0 ? { latencySum, latencyMin, latencyMax } : NO_LATENCY;
  return { checks, failures, answers, ...bounds, latencies: sketchOf(latencies) };
}

const NO_LATENCY = { latencySum: null, latencyMin: null, latencyMax: null };

/** Returns the sum of the source if it counts more results. It has no sketch. */
function largest(figures: Figures, sum: HistorySum | undefined): Figures {
  if (!sum || sum.checks <= figures.checks) return figures;
  const { checks, failures, answers, latencySum } = sum;
  if (latencySum === null || answers === 0) {
    return { checks, failures, answers: 0, ...NO_LATENCY, latencies: [] };
  }
  const mean = latencySum / answers;
  return {
    checks,
    failures,
    answers,
    latencySum: Math.round(latencySum),
    latencyMin: Math.round(sum.latencyMin ?? mean),
    latencyMax: Math.round(sum.latencyMax ?? mean),
    latencies: [],
  };
}

function checksOf(monitorNum: number, beats: DayBeats, from: number): CheckRow[] {
  const checks: CheckRow[] = [];
  for (let index = indexAfter(beats, 0, from); index < beats.count; index += 1) {
    const kind = beats.kind(index);
    if (kind > BEAT.pending) continue;
    const latencyMs = beats.latencyMs(index);
    checks.push({
      monitorNum,
      at: beats.at(index),
      outcome: kind === BEAT.up ? "ok" : "failed",
      latencyMs: latencyMs < 0 ? null : latencyMs,
      message: beats.message(index),
    });
  }
  return checks;
}

/** Sums of a monitor, by the start of their minute, hour or day. */
type SumsByTime = ReadonlyMap<number, HistorySum>;

/** Sums of a monitor by size. */
export interface Sums {
  minutes: SumsByTime;
  hours: SumsByTime;
  days: SumsByTime;
}

/** Orders sums by size and time. Those of other sizes and times are left out. */
export function sumsBySize(sums: readonly HistorySum[]): Sums {
  const ofSize = (size: number) => {
    const own = sums.filter((sum) => sum.size === size && sum.at % size === 0 && countOf(sum) > 0);
    return new Map(own.map((sum) => [sum.at, sum]));
  };
  return { minutes: ofSize(MINUTE_MS), hours: ofSize(HOUR_MS), days: ofSize(DAY_MS) };
}

/**
 * Returns sums without overlaps, in the order of time. Of several sizes the smallest are taken that count everything,
 * since a larger one may also have been without data for a part of its time.
 */
export function distinctSums({ minutes, hours, days }: Sums): HistorySum[] {
  const minutesOf = Map.groupBy(minutes.values(), ({ at }) => at - (at % HOUR_MS));
  const hoursOf = Map.groupBy(
    new Set([...hours.keys(), ...minutesOf.keys()]),
    (at) => at - (at % DAY_MS),
  );
  const ofHour = (at: number) => smallest(hours.get(at), minutesOf.get(at) ?? []);
  const ofDay = (at: number) => smallest(days.get(at), (hoursOf.get(at) ?? []).flatMap(ofHour));
  const all = [...new Set([...days.keys(), ...hoursOf.keys()])].flatMap(ofDay);
  return all.sort((a, b) => a.at - b.at);
}

function smallest(whole: HistorySum | undefined, parts: readonly HistorySum[]) {
  if (!whole) return parts;
  const counted = parts.reduce((total, part) => total + countOf(part), 0);
  return counted >= countOf(whole) ? parts : [whole];
}

function countOf({ checks, maintenance }: HistorySum): number {
  return checks + maintenance;
}

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

/** Component of a monitor, and the time (unix ms) from which it is known without the monitor's history. */
interface PastComponent {
  row: ComponentOnPage;
  knownFrom: number;
}

/** Lists the components of a monitor. */
export function componentsOf(reader: Reader, monitorId: string): PastComponent[] {
  const listed = listComponentsOfMonitors(reader, { monitorIds: JSON.stringify([monitorId]) });
  return listed.flatMap(({ id }) => {
    const row = findComponent(reader, { id });
    return row ? [{ row, knownFrom: knownFrom(row) }] : [];
  });
}

/** Gives components the statuses of a monitor's spans, as far as they were not known yet. */
export function addCausesOfSpans(
  tx: Tx,
  components: readonly PastComponent[],
  monitor: { id: string; onDown: OnDown },
  spans: readonly PastSpan[],
): void {
  for (const { row, knownFrom: end } of components) {
    const causes = spans.flatMap(({ state, startedAt, endedAt }) => {
      const status = statusOf(state, monitor.onDown);
      if (!status || startedAt >= end) return [];
      const cause = { status, startedAt, endedAt: Math.min(endedAt, end) };
      return [{ ...cause, componentId: row.id, sourceId: monitor.id }];
    });
    addPastCauses(tx, causes);
  }
}

function statusOf(state: PastSpan["state"], onDown: OnDown): ComponentStatus | undefined {
  if (state === "down") return onDown;
  return state === "maintenance" ? "under_maintenance" : undefined;
}

/**
 * Lets components be known from the first day of their monitors' history on. Times in which nothing was known of any
 * of their monitors are without data. A component with monitors in `waiting` (numbers) is left to the last of them.
 */
export function extendComponents(
  ctx: Ctx,
  tx: Tx,
  components: readonly PastComponent[],
  waiting: ReadonlySet<number>,
): void {
  for (const { row } of components) {
    const monitors = listMonitorsOfComponent(tx, { componentId: row.id });
    if (monitors.some(({ num }) => waiting.has(num))) continue;
    const end = knownFrom(row);
    const nums = JSON.stringify(monitors.map(({ num }) => num));
    const known = listSpans(tx, { nums, from: 0, to: end }).flatMap(({ row: span }) =>
      isKnown(span) ? [{ from: span.startedAt, to: Math.min(span.endedAt ?? end, end) }] : [],
    );
    known.sort((a, b) => a.from - b.from);
    const from = startOfDay(known[0]?.from ?? end);
    if (from >= end) continue;
    const intervals = monitors.map(({ intervalSeconds }) => (intervalSeconds ?? 0) * SECOND_MS);
    const silence = longestSilence(Math.max(...intervals));
    const gaps = complementOf(known, { from, to: end }).filter(
      ({ startedAt, endedAt }) => (endedAt ?? end) - startedAt > silence,
    );
    insertPastNoData(
      tx,
      gaps.map((gap) => ({ componentId: row.id, ...gap })),
    );
    const reason = { source: "import", actor: SYSTEM_ACTOR, reason: null, notify: false } as const;
    knowEarlier(ctx, tx, row, from, reason);
  }
}

function isKnown({ state }: SpanRow): boolean {
  return state !== "no_data" && state !== "pending" && state !== "paused";
}

/** Returns the times between spans, which are in the order of their starts, within a span. */
function complementOf(
  spans: readonly { from: number; to: number }[],
  within: { from: number; to: number },
): Interval[] {
  const gaps: Interval[] = [];
  let at = within.from;
  for (const { from, to } of [...spans, { from: within.to, to: within.to }]) {
    if (from > at) gaps.push({ startedAt: at, endedAt: from });
    at = Math.max(at, to);
  }
  return gaps;
}
