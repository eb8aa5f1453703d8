import type { Timer } from "../../base/clock";
import type { Config } from "../../base/config/options";
import { restAfter } from "../../base/in-slices";
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { ofLocations, ofMonitors, type Results } from "./checks-store";
import { type Figures, figuresFromRow, figuresOf, figuresToRow, mergeFigures } from "./figures";

/**
 * Delay after which an hour is rolled up: checks are recorded when they end, and failed writes are
 * repeated.
 */
const ROLL_UP_DELAY_MS = 5 * MINUTE_MS;
/** The same for results of other locations, which wait for ten minutes at an agent that does not reach the server. */
const ROLL_UP_AGENT_RESULTS_MS = 15 * MINUTE_MS;
/** Work of one call, in results that are read. */
const RESULTS_PER_BATCH = 500;
/** Fixed cost of a step, in the unit of one result's cost. */
const STEP_COST = 5;
/** Number of rows whose deletion costs as much as reading one result. */
const DELETED_PER_UNIT = 8;
const MONITORS_PER_BATCH = 50;
/**
 * Maximum number of rows of each kind deleted with an hour: more than an hour of a job with the
 * highest rate of calls adds.
 */
const TRIMMED_PER_BATCH = 4_000;

/** Retention of results and rollups, in ms. Daily rollups are kept forever. */
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
 * Rolls results up: by minute and hour once the hour is over, by day once the day is over. Deletes
 * expired results and rollups. Each call handles a few monitors, those furthest behind first, and
 * returns true if more are left. After a stop it continues where it was. An hour that is rolled up
 * again is computed from its results.
 */
export function rollUp(
  tx: Tx,
  { now, oldestUnwritten = now }: RelativeTime,
  kept: Retention,
): boolean {
  const due = startOfHour(Math.min(now - ROLL_UP_DELAY_MS, oldestUnwritten));
  if (rollUpSome(tx, ofMonitors, { now, due }, kept)) return true;
  const dueAtAgents = startOfHour(now - ROLL_UP_AGENT_RESULTS_MS);
  return rollUpSome(tx, ofLocations, { now, due: dueAtAgents }, kept);
}

/** Rolls up some results of this server or of other locations, up to `due`. Returns true if more are left. */
function rollUpSome(
  tx: Tx,
  results: Results,
  { now, due }: { now: number; due: number },
  kept: Retention,
): boolean {
  // Rollups of the future were made with a wrong clock.
  results.returnTo(tx, { at: startOfHour(now) });
  let budget = RESULTS_PER_BATCH;
  const behind = results.listBehind(tx, { due, limit: MONITORS_PER_BATCH });
  for (const { monitorNum, rolledUntil } of behind) {
    let until = rolledUntil;
    while (until < due && budget > 0) {
      const step = rollUpNext(tx, results, monitorNum, until, due);
      until = step.until;
      budget -= STEP_COST + step.results;
    }
    results.saveRolledUntil(tx, { monitorNum, rolledUntil: until });
    budget -= trim(tx, results, monitorNum, { now, until }, kept) / DELETED_PER_UNIT;
    if (budget <= 0) return true;
  }
  return behind.length === MONITORS_PER_BATCH;
}

/** Rolls up the first hour from `from` on that has results, and the day that ends before it. */
function rollUpNext(tx: Tx, own: Results, monitorNum: number, from: number, due: number) {
  const first = own.findFirstCheck(tx, { monitorNum, from, to: due })?.at;
  const hour = first === null || first === undefined ? due : startOfHour(first);
  if (hour > from) {
    // There are no results in between, for example during a pause. The day of `from` may be over.
    closeDay(tx, own, monitorNum, from, hour);
    return { until: hour, results: 0 };
  }
  const results = rollUpHour(tx, own, monitorNum, hour);
  closeDay(tx, own, monitorNum, hour, hour + HOUR_MS);
  return { until: hour + HOUR_MS, results };
}

/** Rolls up an hour. Returns the number of its results. */
function rollUpHour(tx: Tx, own: Results, monitorNum: number, hour: number): number {
  const results = own.listResults(tx, { monitorNum, from: hour, to: hour + HOUR_MS });
  if (results.length === 0) return 0;
  const minutes = Map.groupBy(results, ({ at }) => at - (at % MINUTE_MS));
  for (const [at, some] of minutes) save(tx, own, monitorNum, MINUTE_MS, at, figuresOf(some));
  save(tx, own, monitorNum, HOUR_MS, hour, figuresOf(results));
  return results.length;
}

/** Rolls up the day of `from` if it is over by `to`. */
function closeDay(tx: Tx, own: Results, monitorNum: number, from: number, to: number): void {
  const day = startOfDay(from);
  if (startOfDay(to) === day) return;
  const hours = own.listRollups(tx, { monitorNum, size: HOUR_MS, from: day, to: day + DAY_MS });
  if (hours.length === 0) return;
  save(tx, own, monitorNum, DAY_MS, day, mergeFigures(hours.map(figuresFromRow)));
}

function save(
  tx: Tx,
  own: Results,
  monitorNum: number,
  size: number,
  at: number,
  figures: Figures,
): void {
  own.saveRollup(tx, { monitorNum, size, at, ...figuresToRow(figures) });
}

/**
 * Deletes expired results by whole hours, so that an hour is complete or empty. Keeps results that
 * are not rolled up. Returns the number of deleted rows.
 */
function trim(
  tx: Tx,
  own: Results,
  monitorNum: number,
  { now, until }: { now: number; until: number },
  { resultsMs, minutesMs, hoursMs }: Retention,
): number {
  const limit = TRIMMED_PER_BATCH;
  const before = (keptMs: number) => Math.min(startOfHour(now - keptMs), until);
  // Hours of a day are kept until the day is rolled up.
  const hoursBefore = Math.min(startOfDay(now - hoursMs), startOfDay(until));
  return (
    own.deleteChecksBefore(tx, { monitorNum, before: before(resultsMs), limit }) +
    own.deleteRollupsBefore(tx, { monitorNum, size: MINUTE_MS, before: before(minutesMs), limit }) +
    own.deleteRollupsBefore(tx, { monitorNum, size: HOUR_MS, before: hoursBefore, limit })
  );
}

function startOfHour(ms: number): number {
  return ms - (ms % HOUR_MS);
}

/** Interval of checking for completed hours. */
const LOOK_MS = MINUTE_MS;
/** Shortest pause between two steps, so that checks and requests are not delayed noticeably. */
const REST_MS = 100;

/** Progress of writing results. */
interface Writing {
  /** Time of the oldest result that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined;
}

/**
 * Rolls up the results of completed hours in small steps, and deletes old results and rollups: at
 * the start what is left of earlier hours, then once a minute. Failed writes are repeated.
 */
export function startRollUps(ctx: Ctx, writing: Writing): Timer {
  const kept = retentionOf(ctx.config);
  let isCancelled = false;
  let isFailing = false;
  let timer = ctx.clock.after(0, () => void next());

  /** Runs a step. Returns the pause until the next one, in ms. */
  async function work(): Promise<number> {
    const startedAt = ctx.clock.monotonic();
    try {
      const isMore = await ctx.db.write((tx) => {
        const moment = { now: ctx.clock.now(), oldestUnwritten: writing.oldestUnwritten() };
        return rollUp(tx, moment, kept);
      });
      isFailing = false;
      const restMs = restAfter(ctx.clock.monotonic() - startedAt);
      return isMore ? Math.max(REST_MS, restMs) : LOOK_MS;
    } catch (error) {
      // Logged once, since it may last for hours.
      if (!isFailing && !isCancelled) ctx.log.error({ err: error }, "results wait to be rolled up");
      isFailing = true;
      return LOOK_MS;
    }
  }

  async function next(): Promise<void> {
    const restMs = await work();
    if (!isCancelled) timer = ctx.clock.after(restMs, () => void next());
  }

  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}
