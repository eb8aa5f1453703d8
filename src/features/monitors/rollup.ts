import type { Config } from "../../config";
import type { Tx } from "../../db";
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from "../../kernel/time";
import { type Figures, figuresFromRow, figuresOf, figuresToRow, mergeFigures } from "./figures";
import {
  deleteChecksBefore,
  deleteRollupsBefore,
  findFirstCheck,
  listBehind,
  listResults,
  listRollups,
  returnTo,
  saveRolledUntil,
  saveRollup,
} from "./rollups-store";

/**
 * An hour waits so long for its last results: a check is told of when it ends, and batches are written
 * again when the database refuses them.
 */
export const ROLL_UP_DELAY_MS = 5 * MINUTE_MS;
/** The work of one call, counted in results that are read. */
const RESULTS_AT_ONCE = 500;
/** Fixed cost of a step, in the unit of one result's cost. */
const STEP_COST = 5;
const MONITORS_AT_ONCE = 50;
/**
 * At most so many rows of each kind are trimmed with an hour: more than an hour can have made, of a job that
 * calls as often as it may.
 */
const TRIMMED_AT_ONCE = 4_000;

/** For how long results are kept, in ms. Days are kept for ever. */
interface Retention {
  resultsMs: number;
  minutesMs: number;
  hoursMs: number;
}

export function retentionOf(
  config: Pick<Config, "keepResultsHours" | "keepMinutesDays" | "keepHoursDays">,
): Retention {
  return {
    resultsMs: config.keepResultsHours * HOUR_MS,
    minutesMs: config.keepMinutesDays * DAY_MS,
    hoursMs: config.keepHoursDays * DAY_MS,
  };
}

interface RelativeTime {
  /** Unix ms. */
  now: number;
  /** Time of the oldest result that is not written yet, if any. */
  oldestUnwritten?: number | undefined;
}

/**
 * Rolls results up, by minute and by hour once the hour is over and by day once the day is, and trims what
 * is kept long enough. A few monitors a call, those first that are furthest behind; answers whether more
 * is to do. After a stop it takes up where it was. An hour that is rolled up again is counted anew from
 * its results.
 */
export function rollUp(
  tx: Tx,
  { now, oldestUnwritten = now }: RelativeTime,
  kept: Retention,
): boolean {
  // What lies ahead of the clock was rolled up by one that was wrong.
  returnTo(tx, { at: startOfHour(now) });
  const due = startOfHour(Math.min(now - ROLL_UP_DELAY_MS, oldestUnwritten));
  let budget = RESULTS_AT_ONCE;
  const behind = listBehind(tx, { due, limit: MONITORS_AT_ONCE });
  for (const { monitorNum, rolledUntil } of behind) {
    let until = rolledUntil;
    while (until < due && budget > 0) {
      const step = rollUpNext(tx, monitorNum, until, due);
      until = step.until;
      budget -= STEP_COST + step.results;
    }
    saveRolledUntil(tx, { monitorNum, at: until });
    trim(tx, monitorNum, { now, until }, kept);
    if (budget <= 0) return true;
  }
  return behind.length === MONITORS_AT_ONCE;
}

/** Rolls up the first hour from `from` on that has results, and the day that this ends. */
function rollUpNext(tx: Tx, monitorNum: number, from: number, due: number) {
  const first = findFirstCheck(tx, { monitorNum, from, to: due })?.at;
  const hour = first === null || first === undefined ? due : startOfHour(first);
  if (hour > from) {
    // Nothing in between: a pause, or the server was down. The day that it was in may be over.
    closeDay(tx, monitorNum, from, hour);
    return { until: hour, results: 0 };
  }
  const results = rollUpHour(tx, monitorNum, hour);
  closeDay(tx, monitorNum, hour, hour + HOUR_MS);
  return { until: hour + HOUR_MS, results };
}

/** Answers how many results there were. */
function rollUpHour(tx: Tx, monitorNum: number, hour: number): number {
  const results = listResults(tx, { monitorNum, from: hour, to: hour + HOUR_MS });
  if (results.length === 0) return 0;
  const minutes = Map.groupBy(results, ({ at }) => at - (at % MINUTE_MS));
  for (const [at, own] of minutes) save(tx, monitorNum, MINUTE_MS, at, figuresOf(own));
  save(tx, monitorNum, HOUR_MS, hour, figuresOf(results));
  return results.length;
}

/** Rolls up the day of `from` where it is over by `to`. */
function closeDay(tx: Tx, monitorNum: number, from: number, to: number): void {
  const day = startOfDay(from);
  if (startOfDay(to) === day) return;
  const hours = listRollups(tx, { monitorNum, size: HOUR_MS, from: day, to: day + DAY_MS });
  if (hours.length === 0) return;
  save(tx, monitorNum, DAY_MS, day, mergeFigures(hours.map(figuresFromRow)));
}

function save(tx: Tx, monitorNum: number, size: number, at: number, figures: Figures): void {
  saveRollup(tx, { monitorNum, size, at, ...figuresToRow(figures) });
}

/** By whole hours, so that an hour's results are there all or not at all; never what is not rolled up. */
function trim(
  tx: Tx,
  monitorNum: number,
  { now, until }: { now: number; until: number },
  { resultsMs, minutesMs, hoursMs }: Retention,
): void {
  const limit = TRIMMED_AT_ONCE;
  const before = (keptMs: number) => Math.min(startOfHour(now - keptMs), until);
  deleteChecksBefore(tx, { monitorNum, before: before(resultsMs), limit });
  deleteRollupsBefore(tx, { monitorNum, size: MINUTE_MS, before: before(minutesMs), limit });
  // A day's hours make its row: they stay until the day is over.
  const hoursBefore = Math.min(startOfDay(now - hoursMs), startOfDay(until));
  deleteRollupsBefore(tx, { monitorNum, size: HOUR_MS, before: hoursBefore, limit });
}

function startOfHour(ms: number): number {
  return ms - (ms % HOUR_MS);
}
