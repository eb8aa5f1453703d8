import type { ImportHistory } from "../../../base/import-report";
import { DAY_MS, SECOND_MS, startOfDay } from "../../../base/time";
import { continueFrom, rememberState } from "../../monitors/records";
import { findMonitor, type MonitorRow } from "../../monitors/store";
import { addPastCauses } from "../../components/past";
import type { ImportRun } from "../run";
import { type Found, type FoundHistory, keyOf, type LastState } from "../source";
import { componentsOf } from "./components";
import { presentRange } from "./progress";
import { findProgress, insertProgress } from "./progress-store";
import { longestSilence } from "./timeline";

/** Returns the first time of the history that is asked for, in unix ms. `days` is null for all of it. */
export function floorOf(days: number | null, now: number): number {
  return days === null ? 0 : startOfDay(now - days * DAY_MS);
}

/** Returns the interval of a monitor in ms; infinite for a job without a deadline. */
export function intervalOf({ intervalSeconds }: Pick<MonitorRow, "intervalSeconds">): number {
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
export function estimateOf(history: FoundHistory, floor: number): ImportHistory {
  const { rows, range } = history.estimate();
  if (!range || range.until <= floor) return NOTHING;
  const { until } = range;
  const from = Math.max(range.from, floor);
  // An estimate: results are taken to be spread evenly over time.
  const share = until > range.from ? (until - from) / (until - range.from) : 1;
  return { results: Math.round(rows * share), ...presentRange({ from, until }), skipped: {} };
}
