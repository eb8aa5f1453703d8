import type { Clock } from "../../../base/clock";
import type { CheckOutcome, MonitorType } from "../../../base/status";
import { SECOND_MS } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import type { OutsideAddress } from "../../../egress/policy";
import type { CheckRow } from "../checks-store";
import { listScheduledMonitors, listVersions, type ScheduledMonitorRow } from "../evaluation-store";
import { invertResult, type ProbeResult } from "../monitoring";
import type { MonitorConfig } from "../probes";
import { graceSecondsOf, occurrencesOf } from "../probes/push";
import { type Evaluation, isFailing, isHeldStreak, type Thresholds } from "../rules";
import { findMonitor } from "../store";
import { type Job, newJob, runsOf } from "./job";

/*
 * All monitors in memory, read again when they change, and their dependencies on each other.
 */

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
      const scheduled = existing ?? scheduledOf(row);
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
export interface ScheduledMonitor {
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
  /** Message of the last result; undefined before the first. */
  lastMessage: string | null | undefined;
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
  /** True if its open alerts have changed since they were judged. */
  hasNews: boolean;
  /** Failed check that waits for the checks of the parents before it counts. */
  uncounted: CheckRow | undefined;
  /** True from the start of a check until it is counted or discarded. */
  isUnderWay: boolean;
  /** True if its last known check was slow. */
  isSlow: boolean;
  /** Number of its entries that wait to be written. */
  waiting: number;
  /** Time of the next check, on the monotonic clock. */
  dueAt: number;
  /** Position among the monitors that are due, set by the scheduler; -1 if no check is scheduled. */
  heapIndex: number;
}

function scheduledOf(row: ScheduledMonitorRow): ScheduledMonitor {
  return {
    num: row.num,
    id: row.id,
    ...settingsOf(row),
    job: row.type === "push" ? newJob(occurrencesOf(row.config), row.runs) : undefined,
    lastOutcome: undefined,
    lastMessage: undefined,
    lastStartedAt: undefined,
    reached: undefined,
    // No outage is held twice, over restarts either.
    refutedAt: isOut(row) || isHeldStreak(row) ? Number.NEGATIVE_INFINITY : undefined,
    callsFromOutside: undefined,
    heldFailure: undefined,
    hasNews: false,
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
