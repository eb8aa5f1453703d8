import { setImmediate } from "node:timers/promises";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { ImportReport } from "../../../base/import-report";
import { conflict } from "../../../base/errors";
import { repeatWithRests } from "../../../base/numbers";
import { DAY_MS, HOUR_MS, startOfDay, toIso } from "../../../base/time";
import {
  findFirstSpan,
  insertPastChecks,
  insertPastRollups,
  insertPastSpans,
  rollUpAgainFrom,
  startSpanEarlier,
} from "../../monitors/checks-store";
import { retentionOf } from "../../monitors/rollup";
import { type Found, type FoundHistory, type ForeignKey, keyOf } from "../source";
import { findSource, saveReport } from "../store";
import { componentsOf, extendComponents, addCausesOfSpans } from "./components";
import type { Limits } from "./fold-day";
import { type Part, PartFold, type PastRows } from "./part";
import type { PastSpan } from "./timeline";
import { estimateOf, floorOf, intervalOf } from "./plan";
import { begun, historyOf, progressAfter } from "./progress";
import { listProgress, type ProgressRow, saveProgress } from "./progress-store";

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
