import type { Clock } from "../../../base/clock";
import type { Occurrences } from "../../../base/cron";
import type { CheckOutcome, MonitorState, MonitorType } from "../../../base/status";
import { HOUR_MS, SECOND_MS } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import type { OutsideAddress } from "../../../egress/policy";
import type { CheckRow } from "../checks-store";
import { listScheduledMonitors, listVersions, type ScheduledMonitorRow } from "../evaluation-store";
import { invertResult, type ProbeResult } from "../monitoring";
import type { MonitorConfig } from "../probes";
import { graceSecondsOf, occurrencesOf } from "../probes/push";
import { type Evaluation, isFailing, isHeldStreak, type Thresholds } from "../rules";
import { findMonitor, type TokenKey } from "../store";
import type { Due } from "./due-heap";

/** Number of monitors read by one statement. */
const ROWS_PER_BATCH = 1_000;

interface RegistryChange {
  /** New, changed, paused or resumed. */
  changed: readonly ScheduledMonitor[];
  removed: readonly ScheduledMonitor[];
  /** True if further monitors have changed. */
  hasMore: boolean;
}

/** All monitors in memory. */
export class MonitorRegistry {
  readonly #byNum = new Map<number, ScheduledMonitor>();
  readonly #byId = new Map<string, ScheduledMonitor>();
  /** Monitors by the ids of those on which they depend; undefined until it is needed. */
  #dependents: Map<string, ScheduledMonitor[]> | undefined;

  get size(): number {
    return this.#byNum.size;
  }

  [Symbol.iterator](): Iterator<ScheduledMonitor> {
    return this.#byNum.values();
  }

  find(id: string): ScheduledMonitor | undefined {
    return this.#byId.get(id);
  }

  ofNum(num: number): ScheduledMonitor | undefined {
    return this.#byNum.get(num);
  }

  /** Returns the monitors that depend on a monitor. */
  dependentsOf(id: string): readonly ScheduledMonitor[] {
    this.#dependents ??= groupByParent(this.#byNum.values());
    return this.#dependents.get(id) ?? [];
  }

  /**
   * Updates the monitors from the database: reads all versions, and the rows of changed ones, at most of `limit`
   * monitors.
   */
  refresh(reader: Reader, limit: number = Number.POSITIVE_INFINITY): RegistryChange {
    this.#dependents = undefined;
    const seen = new Set<number>();
    const stale: number[] = [];
    for (const { num, version } of listVersions(reader, {})) {
      seen.add(num);
      if (this.#byNum.get(num)?.version !== version) stale.push(num);
    }
    const removed = [...this.#byNum.values()].filter(({ num }) => !seen.has(num));
    for (const { num, id } of removed) {
      this.#byNum.delete(num);
      this.#byId.delete(id);
    }
    const changed: ScheduledMonitor[] = [];
    const end = Math.min(stale.length, limit);
    for (let start = 0; start < end; start += ROWS_PER_BATCH) {
      changed.push(
        ...this.#read(reader, stale.slice(start, Math.min(end, start + ROWS_PER_BATCH))),
      );
    }
    return { changed, removed, hasMore: end < stale.length };
  }

  /** Updates one monitor from the database. Returns it if it is new or changed, and null if there is none. */
  refreshOne(reader: Reader, id: string): ScheduledMonitor | null | undefined {
    const row = findMonitor(reader, { id });
    if (!row) return null;
    if (this.#byId.get(id)?.version === row.version) return undefined;
    this.#dependents = undefined;
    return this.#read(reader, [row.num])[0];
  }

  #read(reader: Reader, nums: readonly number[]): ScheduledMonitor[] {
    return listScheduledMonitors(reader, { nums: JSON.stringify(nums) }).map((row) => {
      const existing = this.#byNum.get(row.num);
      if (existing) renew(existing, row);
      const scheduled = existing ?? watchedOf(row);
      this.#byNum.set(row.num, scheduled);
      this.#byId.set(row.id, scheduled);
      return scheduled;
    });
  }
}

function groupByParent(monitors: Iterable<ScheduledMonitor>): Map<string, ScheduledMonitor[]> {
  const dependents = new Map<string, ScheduledMonitor[]>();
  for (const scheduled of monitors) {
    for (const id of scheduled.parents) {
      const others = dependents.get(id);
      if (others) others.push(scheduled);
      else dependents.set(id, [scheduled]);
    }
  }
  return dependents;
}

/** Host outside, with its addresses: at least one, all of them global. */
export interface OutsideHost {
  host: string;
  addresses: readonly OutsideAddress[];
}

/** State of a monitor in the engine: as small as possible, since there are thousands. */
export interface ScheduledMonitor extends Due {
  readonly num: number;
  readonly id: string;
  /** The monitor's version. Checks that started with another version are discarded. */
  version: number;
  type: MonitorType;
  config: MonitorConfig;
  isPaused: boolean;
  /** Infinity for a job without a deadline. */
  intervalMs: number;
  timeoutMs: number;
  retryMs: number;
  /** Time after its interval in which a job may still call; 0 for active checks. */
  graceMs: number;
  thresholds: Thresholds;
  /** True if a success counts as failed, and the other way round. */
  isInverted: boolean;
  /** Ids of the monitors on which it depends, in their order. */
  parents: readonly string[];
  /** Evaluation of all results, written or not. */
  evaluation: Evaluation;
  heartbeatAt: number | null;
  /** Deadlines of the job of a push monitor; undefined for other types. */
  readonly job: Job | undefined;
  /** Outcome of the last result; undefined before the first. */
  lastOutcome: CheckOutcome | undefined;
  /** Start of the check that gave the last result, on the monotonic clock; undefined before the first. */
  lastStartedAt: number | undefined;
  /** Host outside that the last check with an address contacted; undefined without one. */
  reached: OutsideHost | undefined;
  /**
   * Time on the monotonic clock since which its failure is known not to be that of this server's network; undefined
   * while it answers.
   */
  refutedAt: number | undefined;
  /** True if the last call of its job came from outside; undefined before the first. */
  callsFromOutside: boolean | undefined;
  /** Last failure that was held by this process. */
  heldFailure: ProbeResult | undefined;
  /** Failed check that waits for the checks of the parents before it counts. */
  uncounted: CheckRow | undefined;
  /** True from the start of a check until it is counted or discarded. */
  isUnderWay: boolean;
  /** True if its last known check was slow. */
  isSlow: boolean;
  /** Number of its entries that wait to be written. */
  waiting: number;
}

export function watchedOf(row: ScheduledMonitorRow): ScheduledMonitor {
  return {
    num: row.num,
    id: row.id,
    ...settingsOf(row),
    job: row.type === "push" ? newJob(occurrencesOf(row.config), row.runs) : undefined,
    lastOutcome: undefined,
    lastStartedAt: undefined,
    reached: undefined,
    // No outage is held twice, over restarts either.
    refutedAt: isOut(row) || isHeldStreak(row) ? Number.NEGATIVE_INFINITY : undefined,
    callsFromOutside: undefined,
    heldFailure: undefined,
    uncounted: undefined,
    isUnderWay: false,
    // Best guess after a start: hanging targets are down and must not delay all others.
    isSlow: isOut(row),
    waiting: 0,
    dueAt: 0,
    heapIndex: -1,
  };
}

function isOut({ state }: Pick<ScheduledMonitorRow, "state">): boolean {
  return state === "down" || state === "unreachable";
}

/** Returns the result that counts for a monitor, which may be inverted. */
export function countedResult({ isInverted }: ScheduledMonitor, result: ProbeResult): ProbeResult {
  return isInverted ? invertResult(result) : result;
}

/** Copies changed columns of a row. Its open runs are older than those that wait to be written. */
function renew(scheduled: ScheduledMonitor, row: ScheduledMonitorRow): void {
  Object.assign(scheduled, settingsOf(row));
  const { job, waiting } = scheduled;
  if (!job) return;
  job.schedule = occurrencesOf(row.config);
  if (row.paused || waiting === 0) job.runs = runsOf(row.runs);
}

/** Returns true if a monitor has results without reports of its job: it is checked, or its job can be late. */
export function hasDeadline({ intervalMs, job }: ScheduledMonitor): boolean {
  return intervalMs !== Infinity || job?.schedule !== undefined;
}

/** Returns the columns of an evaluation. */
export function evaluationOf(row: Evaluation): Evaluation {
  const { state, since, failures, failingSince, successes, succeedingSince, slow, slowSince } = row;
  const { unreachableVia } = row;
  return {
    state,
    since,
    failures,
    failingSince,
    successes,
    succeedingSince,
    slow,
    slowSince,
    unreachableVia,
  };
}

/** Shared, since most monitors have none. */
const NO_PARENTS: readonly string[] = [];

function settingsOf(row: ScheduledMonitorRow) {
  const intervalMs = (row.intervalSeconds ?? Infinity) * SECOND_MS;
  return {
    version: row.version,
    type: row.type,
    config: row.config,
    isPaused: row.paused,
    intervalMs,
    timeoutMs: row.timeoutMs,
    retryMs: Math.min(row.retryIntervalSeconds * SECOND_MS, intervalMs),
    graceMs: row.type === "push" ? graceSecondsOf(row.config) * SECOND_MS : 0,
    thresholds: {
      failureThreshold: row.failureThreshold,
      successThreshold: row.successThreshold,
      degradedAfterMs: row.degradedAfterMs,
    },
    isInverted: row.inverted,
    parents: row.parents === "[]" ? NO_PARENTS : (JSON.parse(row.parents) as string[]),
    evaluation: evaluationOf(row),
    heartbeatAt: row.heartbeatAt,
  };
}

/** Maximum number of open runs of a monitor. */
const OPEN_RUNS_MAX = 20;

/** Run whose start was reported. */
interface OpenRun {
  /** Id that the job gave it; empty without one. */
  rid: string;
  /** Unix ms. */
  startedAt: number;
}

/** Deadlines of the job of a push monitor. */
export interface Job {
  /** Times at which calls are due; undefined without a schedule. */
  schedule: Occurrences | undefined;
  /** Time of the schedule at which the next call is due, in unix ms; Infinity without a schedule. */
  nextCallAt: number;
  /**
   * Time by which the job has to call whatever its schedule, on the monotonic clock; Infinity without such a
   * time.
   */
  callBy: number;
  /** Open runs, in the order of their starts. Late ones stay until they end. */
  runs: readonly OpenRun[];
  /** Runs with a deadline up to this time (unix ms) do not fail the check again. */
  countedUntil: number;
  /** Last recorded use of a token, and its time in unix ms. */
  lastUse?: { token: TokenKey; at: number };
}

/** Deadline that has passed, and the time on the monotonic clock from which the missing call was expected. */
export interface Missed {
  what: "call" | "end";
  since: number;
}

/** Settings and state of a push monitor that decide about its deadlines. */
interface JobSettings {
  heartbeatAt: number | null;
  evaluation: { state: MonitorState; since: number; failures: number };
  intervalMs: number;
  graceMs: number;
  lastStartedAt: number | undefined;
}

/** Shared, since most jobs have none. */
const NO_RUNS: readonly OpenRun[] = [];

/** Returns the job of a monitor that was read with its open runs, a JSON list. */
function newJob(schedule: Occurrences | undefined, runs: string): Job {
  const none = { nextCallAt: Infinity, callBy: Infinity, countedUntil: 0 };
  return { ...none, schedule, runs: runsOf(runs) };
}

/** Returns the open runs of a JSON list. */
function runsOf(list: string): readonly OpenRun[] {
  return list === "[]" ? NO_RUNS : (JSON.parse(list) as OpenRun[]);
}

/**
 * Sets the deadlines after a start, a change, a time in which the server was offline, or a clock that was set back
 * by hours. A job that was due meanwhile may have called then, so it has until its next time; one that was due
 * before keeps its deadline. A run may have ended then, so it is not late.
 */
export function startDeadlines(
  job: Job,
  settings: JobSettings,
  clock: Clock,
  wasOfflineAt: (at: number) => boolean,
): void {
  const { heartbeatAt, evaluation, intervalMs, graceMs } = settings;
  const { state, since } = evaluation;
  const now = clock.now();
  const isNew = heartbeatAt === null || state === "pending";
  // A call in the future came while the clock was ahead.
  const calledAt = Math.min(isNew ? Math.max(heartbeatAt ?? 0, since) : heartbeatAt, now);
  const expectedAt = calledAt + intervalMs;
  const isExpected = expectedAt > now || (expectedAt + graceMs > now && !wasOfflineAt(expectedAt));
  const timeToCall = (isExpected ? expectedAt - now : intervalMs) + graceMs;
  const longest = isHeldStreak(evaluation) ? timeToCallAgain(settings) : Infinity;
  job.countedUntil = now;
  job.callBy = clock.monotonic() + Math.min(timeToCall, longest);
  // Deadlines that have passed are left out.
  job.nextCallAt = callAfter(job, Math.max(calledAt, now - graceMs));
  if (wasOfflineAt(job.nextCallAt)) job.nextCallAt = callAfter(job, now);
}

/** Returns the time that a job has for a further call after it may have called in vain, in ms. */
export function timeToCallAgain({
  intervalMs,
  graceMs,
}: Pick<JobSettings, "intervalMs" | "graceMs">): number {
  return Math.min(intervalMs, HOUR_MS) + graceMs;
}

/** Returns the next time of the schedule after a time (unix ms); Infinity without one. */
function callAfter({ schedule }: Job, at: number): number {
  return schedule?.next(at) ?? Infinity;
}

/** Sets the deadlines after a report at `at` (unix ms). */
export function afterReport(
  job: Job,
  { intervalMs, graceMs }: JobSettings,
  clock: Clock,
  at: number,
): void {
  job.callBy = clock.monotonic() - (clock.now() - at) + intervalMs + graceMs;
  job.nextCallAt = callAfter(job, at);
}

/** Returns the first deadline of a job that is ahead, on the monotonic clock; Infinity without one. */
export function nextDeadline(job: Job, { graceMs }: JobSettings, clock: Clock): number {
  let dueAt = job.nextCallAt;
  // Their starts are out of order if the clock was set back.
  for (const { startedAt } of job.runs) {
    if (startedAt + graceMs > job.countedUntil) dueAt = Math.min(dueAt, startedAt);
  }
  return Math.min(job.callBy, clock.monotonic() + dueAt + graceMs - clock.now());
}

/** Returns the deadline that a job has missed by now; undefined if the clock was set back. */
export function missedDeadline(job: Job, settings: JobSettings, clock: Clock): Missed | undefined {
  const { intervalMs, graceMs, lastStartedAt = Number.NEGATIVE_INFINITY } = settings;
  const [now, wallTime] = [clock.monotonic(), clock.now()];
  const unfinished = job.runs.find(({ startedAt }) => {
    const endBy = startedAt + graceMs;
    return endBy > job.countedUntil && endBy <= wallTime;
  });
  if (unfinished) return { what: "end", since: now - (wallTime - unfinished.startedAt) };
  if (job.nextCallAt + graceMs <= wallTime) {
    return { what: "call", since: now - (wallTime - job.nextCallAt) };
  }
  if (job.callBy > now) return undefined;
  // Without an interval, it is the further call after one that was made in vain.
  const timeMs = intervalMs === Infinity ? timeToCallAgain(settings) : intervalMs + graceMs;
  return { what: "call", since: Math.max(now - timeMs, lastStartedAt) };
}

/** Sets the deadlines after a check at `at` (unix ms) that failed because one was missed. */
export function afterMissed(
  job: Job,
  { intervalMs, graceMs }: JobSettings,
  clock: Clock,
  at: number,
): void {
  job.countedUntil = at;
  if (job.nextCallAt + graceMs <= at) job.nextCallAt = callAfter(job, job.nextCallAt);
  if (job.callBy <= clock.monotonic()) job.callBy = clock.monotonic() + intervalMs;
}

/**
 * Opens a run at `at` (unix ms); an open one with the same id starts again. Of too many, the oldest late one
 * is given up. Returns its id, if any; false if there are too many and none is late, so that none was opened.
 */
export function openRun(
  job: Job,
  rid: string,
  at: number,
  graceMs: number,
): { givenUp: string | undefined } | false {
  const others = job.runs.filter((run) => run.rid !== rid);
  const [oldest] = others;
  const isFull = others.length >= OPEN_RUNS_MAX;
  if (isFull && oldest && oldest.startedAt + graceMs > at) return false;
  job.runs = [...(isFull ? others.slice(1) : others), { rid, startedAt: at }];
  return { givenUp: isFull ? oldest?.rid : undefined };
}

/**
 * Ends the runs to which a report belongs: a success with an id ends its own, any other report ends all.
 * Returns the start of its own run (unix ms), if that is known.
 */
export function endRuns(job: Job, rid: string, endsAll: boolean): number | null {
  const own = job.runs.find((run) => run.rid === rid);
  if (endsAll) job.runs = [];
  else if (own) job.runs = job.runs.filter((run) => run !== own);
  return own?.startedAt ?? null;
}

/**
 * Shortest limit of the wait for the checks of parents, after which a failure counts by what is known of them.
 * Two checks of a parent fit into the wait: one that was running and may have begun too early, and the next one.
 */
const PARENTS_MIN_MS = 150 * SECOND_MS;
/** Time of two checks beyond their timeouts: their end, and the look at the reference targets. */
const BEYOND_TIMEOUTS_MS = 30 * SECOND_MS;

/**
 * Dependencies of monitors on others, their parents. A paused or deleted parent is none.
 *
 * A parent counts as failing as soon as a check of it has failed, even while that failure waits for the
 * parent's own parents. So a monitor waits for checks only and never for another wait: waits do not add up in
 * a chain. What is known when the wait ends counts. A later answer of a parent counts with the next check.
 */
export class Dependencies {
  readonly #clock: Clock;
  readonly #registry: MonitorRegistry;
  readonly #requestCheck: (parent: ScheduledMonitor) => void;
  /** Resolve with true when a check of the parent has an outcome, with false if there will be none. */
  readonly #awaited = new Map<ScheduledMonitor, PromiseWithResolvers<boolean>>();
  /** End the waits of monitors for their parents. */
  readonly #ends = new Map<ScheduledMonitor, () => void>();

  /** `requestCheck` makes a parent's check begin as soon as it can, unless one is running. */
  constructor(
    clock: Clock,
    registry: MonitorRegistry,
    requestCheck: (parent: ScheduledMonitor) => void,
  ) {
    this.#clock = clock;
    this.#registry = registry;
    this.#requestCheck = requestCheck;
  }

  /** Returns the id of the first failing parent. */
  failingParentOf(scheduled: ScheduledMonitor): string | undefined {
    return this.#parentsOf(scheduled).find(hasFailed)?.id;
  }

  /** Returns the ids of the parents whose check has failed, and is not counted yet. */
  uncountedParentsOf(scheduled: ScheduledMonitor): string[] {
    return this.#parentsOf(scheduled)
      .filter(({ uncounted }) => uncounted !== undefined)
      .map(({ id }) => id);
  }

  /**
   * Returns the parents to check before a failure of a monitor counts: none if it is down already or a parent
   * is known to fail. Push monitors cannot be checked.
   */
  parentsToCheck(scheduled: ScheduledMonitor): ScheduledMonitor[] {
    if (scheduled.evaluation.state === "down" || this.failingParentOf(scheduled)) return [];
    return this.#parentsOf(scheduled).filter(({ type }) => type !== "push");
  }

  /**
   * Checks parents of a monitor. A check that began after `startedAt` (monotonic clock) is not repeated, so
   * that one is enough for many monitors. Never rejects.
   */
  async check(
    scheduled: ScheduledMonitor,
    parents: readonly ScheduledMonitor[],
    startedAt: number,
  ): Promise<void> {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const longestMs = Math.max(...parents.map(({ timeoutMs }) => timeoutMs));
    const limitMs = Math.max(PARENTS_MIN_MS, 2 * longestMs + BEYOND_TIMEOUTS_MS);
    const timer = this.#clock.after(limitMs, resolve);
    this.#ends.set(scheduled, resolve);
    const checks = parents.map((parent) => this.#checkSince(parent, startedAt));
    await Promise.race([Promise.all(checks), end]);
    this.#ends.delete(scheduled);
    timer.cancel();
  }

  /** Ends the wait of a monitor for its parents, if any: it was changed, so its failure will not count. */
  endWait(scheduled: ScheduledMonitor): void {
    this.#ends.get(scheduled)?.();
  }

  /**
   * Continues the monitors that wait for a check of a parent. `hasOutcome` is false if the parent was paused
   * or deleted.
   */
  release(parent: ScheduledMonitor, hasOutcome: boolean): void {
    this.#awaited.get(parent)?.resolve(hasOutcome);
    this.#awaited.delete(parent);
  }

  /** Continues all waiting monitors. */
  releaseAll(): void {
    for (const parent of this.#awaited.keys()) this.release(parent, false);
  }

  /** Returns the unreachable monitors that depend on a monitor. */
  unreachableThrough({ id }: ScheduledMonitor): ScheduledMonitor[] {
    return this.#registry
      .dependentsOf(id)
      .filter(({ evaluation, isPaused }) => evaluation.state === "unreachable" && !isPaused);
  }

  async #checkSince(parent: ScheduledMonitor, startedAt: number): Promise<void> {
    // A check that was running when the other one began may have succeeded before.
    const isKnown = () => hasFailed(parent) || (parent.lastStartedAt ?? -Infinity) >= startedAt;
    while (!isKnown() && (await this.#nextOutcome(parent)));
  }

  #nextOutcome(parent: ScheduledMonitor): Promise<boolean> {
    const awaited = this.#awaited.get(parent) ?? Promise.withResolvers<boolean>();
    this.#awaited.set(parent, awaited);
    this.#requestCheck(parent);
    return awaited.promise;
  }

  #parentsOf({ parents }: ScheduledMonitor): ScheduledMonitor[] {
    return parents
      .map((id) => this.#registry.find(id))
      .filter((parent) => parent !== undefined && !parent.isPaused) as ScheduledMonitor[];
  }
}

/** Returns true if a monitor is failing by the results of this process. */
export function hasFailed({ evaluation, lastOutcome, uncounted }: ScheduledMonitor): boolean {
  return uncounted !== undefined || isFailing(evaluation, lastOutcome);
}
