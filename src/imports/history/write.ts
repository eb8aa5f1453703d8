import { setImmediate } from "node:timers/promises";
import { conflict } from "../../base/errors";
import type { ImportHistory, ImportReport } from "../../base/import-report";
import { repeatWithRests } from "../../base/in-slices";
import { DAY_MS, HOUR_MS, SECOND_MS, startOfDay, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { addPastCauses } from "../../features/components/statuses";
import {
  insertPastChecks,
  insertPastRollups,
  rollUpAgainFrom,
} from "../../features/monitors/checks-store";
import {
  findFirstSpan,
  insertPastSpans,
  startSpanEarlier,
} from "../../features/monitors/spans-store";
import { continueFrom, rememberState } from "../../features/monitors/imported";
import { retentionOf } from "../../features/monitors/rollup";
import { findMonitor, type MonitorRow } from "../../features/monitors/store";
import type { ImportRun } from "../run";
import {
  BEAT,
  type ForeignKey,
  type Found,
  type FoundHistory,
  type HistoryChunk,
  type HistoryRange,
  type HistorySum,
  keyOf,
  type LastState,
} from "../found";
import {
  findProgress,
  findSource,
  insertProgress,
  listProgress,
  type ProgressRow,
  saveProgress,
  saveReport,
} from "../store";
import {
  addCausesOfSpans,
  componentsOf,
  DayBeats,
  distinctSums,
  extendComponents,
  foldDay,
  type FoldedDay,
  type Limits,
  longestSilence,
  type PastSpan,
  type Sums,
  sumsBySize,
  Timeline,
  type TimelineState,
} from "./fold";

/** Age of what is written first of every monitor, in ms, so that pages are useful soon. */
const RECENT_MS = 90 * DAY_MS;
/**
 * Most rows of one transaction, about 20 ms of work. A running server waits for it, and imports in the process of a
 * server must not hold up requests.
 */
const ROWS_PER_WRITE = 4_000;
/** As many spans as have about as many rows, with the causes of a few components. */
const SPANS_PER_WRITE = 1_000;

/** Progress of a history that is being written. */
export interface HistoryStep {
  /** False while the last 90 days of all monitors are written, true after that. */
  isOlder: boolean;
  /** Place of the monitor, from 1 on, and number of monitors. */
  monitor: number;
  monitors: number;
  /** Rows of the source that were read, and roughly of all. */
  rows: number;
  totalRows: number;
}

/** Monitor whose history is written. */
interface Target extends Omit<ReturnType<typeof listProgress>[number], "progress"> {
  key: ForeignKey;
  progress: ProgressRow;
}

/** History phase of one import. */
interface Phase {
  ctx: Ctx;
  history: FoundHistory;
  retention: ReturnType<typeof retentionOf>;
  /** Numbers of the monitors that wait for the part of time that is written. */
  waiting: Set<number>;
  onRows: (rows: number) => void;
}

/**
 * Writes the history that an import has left to be written, in short transactions, first the last 90 days of every
 * monitor. Returns the report with what is written, and stores it. After an error or a stop, the next import of the
 * source goes on there. Throws `conflict` if another import writes the same history.
 */
export async function importHistory(
  ctx: Ctx,
  found: Found,
  options: { source: string; historyDays: number | null },
  report: ImportReport,
  onStep: (step: HistoryStep) => void,
): Promise<ImportReport> {
  const { history, kind } = found;
  const source = findSource(ctx.db, { kind, name: options.source });
  if (!history || !source || report.history === null || report.dry_run) return report;
  const targets = targetsOf(ctx, found, source.id);
  const floor = floorOf(options.historyDays, ctx.clock.now());
  const totalRows = estimateOf(history, floor).results;
  let rows = targets.reduce((sum, { progress }) => sum + progress.rows, 0);
  for (const isOlder of [false, true]) {
    const firstOf = ({ createdAt }: Target) =>
      isOlder ? floor : Math.max(floor, startOfDay(createdAt - RECENT_MS));
    const open = targets.filter((target) => isOpen(target, firstOf(target)));
    const waiting = new Set(open.map(({ num }) => num));
    for (const [index, target] of open.entries()) {
      const place = { isOlder, monitor: index + 1, monitors: open.length };
      const onRows = (read: number) => {
        rows += read;
        onStep({ ...place, rows, totalRows: Math.max(rows, totalRows) });
      };
      const phase = { ctx, history, retention: retentionOf(ctx.config), waiting, onRows };
      onRows(0);
      // oxlint-disable-next-line no-await-in-loop
      while (isOpen(target, firstOf(target))) await writePart(phase, target, firstOf(target));
    }
  }
  const progresses = targetsOf(ctx, found, source.id).map(({ progress }) => progress);
  const finishedAt = ctx.clock.now();
  const whole = {
    ...report,
    finished_at: toIso(finishedAt),
    history: historyOf(progresses, history.leftOut()),
  };
  const { id } = report;
  if (id !== null) await ctx.db.write((tx) => saveReport(tx, { id, finishedAt, report: whole }));
  return whole;
}

function targetsOf({ db }: Ctx, { monitors }: Found, sourceId: string): Target[] {
  const keys = new Set(monitors.map(({ foreign }) => keyOf(foreign)));
  return listProgress(db, { sourceId }).flatMap((row) => {
    const key = keyOf({ type: row.foreignType, id: row.foreignId });
    return keys.has(key) ? [{ ...row, key }] : [];
  });
}

function isOpen({ progress }: Target, first: number): boolean {
  return progress.part !== null || progress.writtenFrom > first;
}

/** Writes the history of a monitor before what is written, from `from` on, or the rest of a part that was begun. */
async function writePart(phase: Phase, target: Target, from: number): Promise<void> {
  const { ctx, history } = phase;
  const part = (target.progress.part as Part | null) ?? newPart(ctx, target, from);
  const range = { from: part.reached, until: part.until };
  const monitor = { num: target.num, intervalMs: intervalOf(target) };
  const sums = history.sums(target.key, range);
  const fold = new PartFold(monitor, part, limitsOf(phase, target), sums);
  for (const chunk of history.beats(target.key, range)) {
    fold.add(chunk);
    phase.onRows(chunk.rows);
    // oxlint-disable-next-line no-await-in-loop
    if (fold.size >= ROWS_PER_WRITE) await write(phase, target, part, fold.take(), false);
    // oxlint-disable-next-line no-await-in-loop
    else await setImmediate();
  }
  fold.finish();
  await write(phase, target, part, fold.take(), true);
}

function newPart({ db }: Ctx, { num, progress }: Target, from: number): Part {
  const next = findFirstSpan(db, { monitorNum: num });
  const until = progress.writtenFrom;
  const after = { spansUntil: next?.startedAt ?? until, nextState: next?.state ?? "pending" };
  return { from, until, ...after, reached: from, timeline: null };
}

function limitsOf({ ctx, retention }: Phase, { createdAt }: Target): Limits {
  const hour = ctx.clock.now() - (ctx.clock.now() % HOUR_MS);
  return {
    checksFrom: hour - retention.resultsMs,
    minutesFrom: hour - retention.minutesMs,
    hoursFrom: startOfDay(hour - retention.hoursMs),
    rolledFrom: createdAt - (createdAt % HOUR_MS),
  };
}

/** Writes rows, in several transactions if there are many, and with the last of them the progress. */
async function write(
  phase: Phase,
  target: Target,
  part: Part,
  rows: PastRows,
  isDone: boolean,
): Promise<void> {
  const { db } = phase.ctx;
  const { num: monitorNum, id } = target;
  const components = componentsOf(db, id);
  const steps: ((tx: Tx) => void)[] = [
    ...slices(rows.checks, ROWS_PER_WRITE, insertPastChecks),
    ...slices(rows.rollups, ROWS_PER_WRITE, insertPastRollups),
    ...slices(rows.spans, SPANS_PER_WRITE, (tx, spans) => {
      insertSpans(tx, monitorNum, spans, part);
      addCausesOfSpans(tx, components, target, spans);
    }),
  ];
  const { length } = rows.checks;
  if (length + rows.rollups.length + rows.spans.length > ROWS_PER_WRITE) {
    // If the import is interrupted, the next one must know which spans were there before.
    if (!target.progress.part) await save(phase, target, begun(target.progress, part));
    const first = steps.splice(0);
    await repeatWithRests(phase.ctx.clock, async () => {
      const step = first.shift();
      if (step) await db.write(step);
      return first.length > 0;
    });
  }
  await save(phase, target, progressAfter(target.progress, part, rows, isDone), (tx) => {
    for (const step of steps) step(tx);
    if (!isDone) return;
    // Results of the hour in which it was created are rolled up with those from before.
    const at = target.createdAt - (target.createdAt % HOUR_MS);
    if (part.until === target.createdAt) rollUpAgainFrom(tx, { monitorNum, at });
    const others = new Set(phase.waiting);
    others.delete(monitorNum);
    extendComponents(phase.ctx, tx, componentsOf(tx, id), others);
  });
  if (isDone) phase.waiting.delete(monitorNum);
}

/** Saves progress together with some work. Throws `conflict` if another import has changed it. */
async function save(
  { ctx }: Phase,
  target: Target,
  progress: ProgressRow,
  work: (tx: Tx) => void = () => {},
): Promise<void> {
  const before = target.progress.step;
  await ctx.db.write((tx) => {
    if (saveProgress(tx, { ...progress, before }) === 0) {
      throw conflict("Another import writes the same history. Wait for its end.");
    }
    work(tx);
  });
  target.progress = progress;
}

/** Inserts spans. A span whose state the next part continues becomes the beginning of that part. */
function insertSpans(
  tx: Tx,
  monitorNum: number,
  spans: readonly PastSpan[],
  { spansUntil: startedAt, nextState: state }: Part,
): void {
  const last = spans.at(-1);
  const isOne =
    last?.endedAt === startedAt &&
    last.state === state &&
    startSpanEarlier(tx, { monitorNum, startedAt, state, earlier: last.startedAt }) > 0;
  insertPastSpans(
    tx,
    (isOne ? spans.slice(0, -1) : spans).map((span) => ({ monitorNum, ...span })),
  );
}

function slices<Row>(
  rows: readonly Row[],
  size: number,
  insert: (tx: Tx, rows: readonly Row[]) => void,
): ((tx: Tx) => void)[] {
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, i) => {
    const own = rows.slice(i * size, (i + 1) * size);
    return (tx: Tx) => insert(tx, own);
  });
}

/** A part of a monitor's history that is being written, as it is stored. Times in unix ms. */
interface Part extends HistoryRange {
  /** Start of the span that follows, and its state. */
  spansUntil: number;
  nextState: string;
  /** Midnight up to which all is written. */
  reached: number;
  /** Null at the start. */
  timeline: TimelineState | null;
}

/** Rows of days that are not written yet, with the progress after them. */
interface PastRows extends FoldedDay {
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
interface PastMonitor {
  num: number;
  /** Infinite for a job without a deadline. */
  intervalMs: number;
}

const OUT_OF_RANGE = "not before the monitor here was created";
const TOO_MANY = "too many in one day";

const NO_BEATS = new DayBeats();

/** Makes the rows of one part of a monitor's history from what the source gives, day by day. */
class PartFold {
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

/** Returns what histories have together. `leftOut` are the numbers of rows of no monitor, by reason. */
function historyOf(
  all: readonly ProgressRow[],
  leftOut: Readonly<Record<string, number>>,
): ImportHistory {
  const ranges = all.flatMap((progress) => rangeOf(progress) ?? []);
  const range = ranges.length === 0 ? null : ranges.reduce(joined);
  const results = all.reduce((sum, progress) => sum + progress.results, 0);
  const skipped = addCounts([...all.map((progress) => progress.skipped), leftOut]);
  return { results, ...presentRange(range), skipped };
}

/** Returns the progress with a part of which nothing is written. */
function begun(before: ProgressRow, part: Part): ProgressRow {
  return { ...before, part, step: before.step + 1 };
}

/** Returns the progress after rows of a part, which may be its last ones. */
function progressAfter(
  before: ProgressRow,
  part: Part,
  { rows, results, range, skipped, reached, timeline }: PastRows,
  isDone: boolean,
): ProgressRow {
  const ranges = [rangeOf(before), range].filter((each) => each !== null);
  const known = ranges.length === 0 ? null : ranges.reduce(joined);
  return {
    ...before,
    writtenFrom: isDone ? part.from : before.writtenFrom,
    part: isDone ? null : { ...part, reached, timeline },
    step: before.step + 1,
    rows: before.rows + rows,
    results: before.results + results,
    firstAt: known?.from ?? null,
    lastAt: known?.until ?? null,
    skipped: addCounts([before.skipped, skipped]),
  };
}

function rangeOf({ firstAt, lastAt }: ProgressRow): HistoryRange | null {
  return firstAt === null || lastAt === null ? null : { from: firstAt, until: lastAt };
}

function joined(a: HistoryRange, b: HistoryRange): HistoryRange {
  return { from: Math.min(a.from, b.from), until: Math.max(a.until, b.until) };
}

/** Returns a range as a report shows it. */
function presentRange(range: HistoryRange | null) {
  if (!range) return { days: 0, from: null, until: null };
  const { from, until } = range;
  const days = (startOfDay(until) - startOfDay(from)) / DAY_MS + 1;
  return { days, from: toIso(from), until: toIso(until) };
}

/** Adds up numbers by their names. */
function addCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [name, count] of all.flatMap((counts) => Object.entries(counts))) {
    total[name] = (total[name] ?? 0) + count;
  }
  return total;
}

/** Returns the first time of the history that is asked for, in unix ms. `days` is null for all of it. */
function floorOf(days: number | null, now: number): number {
  return days === null ? 0 : startOfDay(now - days * DAY_MS);
}

/** Returns the interval of a monitor in ms; infinite for a job without a deadline. */
function intervalOf({ intervalSeconds }: Pick<MonitorRow, "intervalSeconds">): number {
  return intervalSeconds === null ? Infinity : intervalSeconds * SECOND_MS;
}

/**
 * Prepares the histories of imported monitors, and starts new ones in the state of their last beat. Returns what an
 * import has of a history before it is written, or in a dry run an estimate; null if nothing is left to be written.
 */
export function planHistory(run: ImportRun, found: Found): ImportHistory | null {
  const { history } = found;
  const { historyDays, only, isDryRun } = run.options;
  if (!history || (only !== undefined && only !== "monitors" && only !== "history")) return null;
  const floor = floorOf(historyDays, run.ctx.clock.now());
  let isLeft = false;
  for (const { foreign } of found.monitors) {
    const row = findImported(run, foreign);
    if (!row) continue;
    const before = findProgress(run.tx, { monitorNum: row.num });
    if (!before && !run.findRef(foreign)) startWith(run, row, history.lastState(keyOf(foreign)));
    if (!before) insertProgress(run.tx, newProgress(run.saveSource(), row));
    isLeft ||= (before?.writtenFrom ?? row.createdAt) > floor;
  }
  if (!isLeft || historyDays === 0) return null;
  return isDryRun ? estimateOf(history, floor) : NOTHING;
}

const NOTHING: ImportHistory = { results: 0, days: 0, from: null, until: null, skipped: {} };

function findImported(run: ImportRun, foreign: { type: string; id: string }) {
  const noted = run.findNoted(keyOf(foreign));
  return noted?.kind === "monitor" ? findMonitor(run.tx, noted) : undefined;
}

function newProgress(sourceId: string, { num, createdAt }: MonitorRow) {
  const counts = { step: 0, rows: 0, results: 0, firstAt: null, lastAt: null, skipped: {} };
  return { monitorNum: num, sourceId, writtenFrom: createdAt, part: null, ...counts };
}

/** Starts a new monitor in its last state. If nothing was seen of it for long, that state is only remembered. */
function startWith(run: ImportRun, monitor: MonitorRow, last: LastState | undefined): void {
  if (!last || monitor.paused) return;
  const { ctx, tx } = run;
  const { createdAt, id: sourceId, onDown: status } = monitor;
  const at = Math.floor(last.at);
  const past = { ...last, at, since: Math.floor(Math.min(last.since, createdAt)) };
  const intervalMs = intervalOf(monitor);
  if (createdAt - at <= longestSilence(intervalMs)) {
    continueFrom(ctx, tx, monitor, past);
    return;
  }
  const heldUntil = at + intervalMs;
  rememberState(tx, monitor, past, heldUntil);
  if (past.state === "up") return;
  const outage = { sourceId, status, startedAt: past.at, endedAt: heldUntil };
  const components = componentsOf(tx, monitor.id);
  addPastCauses(
    tx,
    components.map(({ row }) => ({ componentId: row.id, ...outage })),
  );
}

/** Returns the estimated history from a time on (unix ms). */
function estimateOf(history: FoundHistory, floor: number): ImportHistory {
  const { rows, range } = history.estimate();
  if (!range || range.until <= floor) return NOTHING;
  const { until } = range;
  const from = Math.max(range.from, floor);
  // An estimate: results are taken to be spread evenly over time.
  const share = until > range.from ? (until - from) / (until - range.from) : 1;
  return { results: Math.round(rows * share), ...presentRange({ from, until }), skipped: {} };
}
