import type { Clock } from "../../../base/clock";
import {
  type CheckOutcome,
  type DownWhen,
  isPassive,
  LOCAL,
  type MonitorState,
  type MonitorType,
} from "../../../base/status";
import { SECOND_MS } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import type { OutsideAddress } from "../../../egress/policy";
import type { LocationCount } from "../../locations/store";
import type { CheckRow } from "../checks-store";
import { listScheduledMonitors, listVersions, type ScheduledMonitorRow } from "../evaluation-store";
import { listLocationStates, type LocationStateRow } from "../location-store";
import { isCheckedRemotely } from "../monitor-locations";
import { invertResult, type ProbeResult } from "../monitoring";
import type { MonitorConfig } from "../probes";
import { graceSecondsOf, occurrencesOf } from "../probes/push";
import { type Evaluation, evaluationOf, isFailing, isHeldStreak, type Thresholds } from "../rules";
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
  readonly #location: string;
  readonly #byNum = new Map<number, ScheduledMonitor>();
  readonly #byId = new Map<string, ScheduledMonitor>();
  /** Monitors by the ids of those on which they depend; undefined until it is needed. */
  #dependents: Map<string, ScheduledMonitor[]> | undefined;

  /** `location` is the id of the location of this process. */
  constructor(location: string = LOCAL) {
    this.#location = location;
  }

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
    const rows = listScheduledMonitors(reader, { nums: JSON.stringify(nums) });
    const isServer = this.#location === LOCAL;
    const multiLocation = isServer ? readLocationEvaluations(reader, rows) : undefined;
    return rows.map((row) => {
      const existing = this.#byNum.get(row.num);
      const evaluation = existing?.evaluation;
      if (existing) renew(existing, row);
      const scheduled = existing ?? scheduledOf(row);
      setOwnLocation(scheduled, row, this.#location);
      if (multiLocation) setLocations(scheduled, row, multiLocation.get(row.num));
      // The evaluation of another process than a server is in its memory only.
      else if (evaluation) scheduled.evaluation = evaluation;
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

/** A monitor at all its locations, as far as this process knows. */
export interface MultiLocationInMemory {
  locations: readonly string[];
  downWhen: DownWhen;
  /** By the ids of the locations. */
  evaluations: Map<string, Evaluation>;
  /** Evaluation of all locations together. */
  evaluation: Evaluation;
  /**
   * Locations whose failures may be those of their own network, and do not count yet, with the time at which they do,
   * on the monotonic clock.
   */
  doubtful: Map<string, number>;
  /** Time of the last change of the locations that count, in unix ms. */
  notBefore: number;
  /** True if its locations or their number needed have changed or it was resumed, and it was not evaluated since. */
  hasChanged: boolean;
}

/** Counts the monitors with other locations by their state at each location. */
export function countByLocation(registry: MonitorRegistry): LocationCount[] {
  const counts = new Map<string, Map<MonitorState, LocationCount>>();
  for (const { multiLocation } of registry) {
    for (const [locationId, { state }] of multiLocation?.evaluations ?? []) {
      const ofLocation = counts.getOrInsertComputed(locationId, () => new Map());
      ofLocation.getOrInsertComputed(state, () => ({ locationId, state, monitors: 0 })).monitors +=
        1;
    }
  }
  return [...counts.values()].flatMap((each) => [...each.values()]);
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
  /** Evaluation of all results of this process, written or not. */
  evaluation: Evaluation;
  /** Its locations; undefined if only this process checks it. */
  multiLocation: MultiLocationInMemory | undefined;
  /** True if this process does not check it. */
  isRemoteOnly: boolean;
  /** Part of the interval, from 0 to 1, by which its checks here follow those of its first location. */
  phase: number;
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
    multiLocation: undefined,
    isRemoteOnly: false,
    phase: 0,
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

/** Sets if and when this process checks a monitor. */
function setOwnLocation(
  scheduled: ScheduledMonitor,
  { type, locations }: ScheduledMonitorRow,
  location: string,
): void {
  const index = locations.indexOf(location);
  scheduled.isRemoteOnly = index < 0 && !isPassive(type);
  scheduled.phase = Math.max(0, index) / locations.length;
}

/** Reads the evaluations of monitors at their locations, by the numbers of those with other locations. */
function readLocationEvaluations(
  reader: Reader,
  rows: readonly ScheduledMonitorRow[],
): ReadonlyMap<number, LocationStateRow[]> {
  const nums = rows.filter(isCheckedRemotely).map(({ num }) => num);
  if (nums.length === 0) return new Map();
  return Map.groupBy(
    listLocationStates(reader, { nums: JSON.stringify(nums) }),
    ({ monitorNum }) => monitorNum,
  );
}

/** Sets what the locations of a monitor see. */
function setLocations(
  scheduled: ScheduledMonitor,
  row: ScheduledMonitorRow,
  states: readonly LocationStateRow[] = [],
): void {
  const before = scheduled.multiLocation;
  if (!isCheckedRemotely(row)) {
    scheduled.multiLocation = undefined;
    return;
  }
  const { locations, downWhen } = row;
  const evaluations = new Map<string, Evaluation>();
  for (const state of states) {
    if (!locations.includes(state.locationId)) continue;
    evaluations.set(state.locationId, evaluationOf({ ...state, unreachableVia: null }));
  }
  const isSame =
    before !== undefined &&
    before.evaluation.state !== "paused" &&
    before.downWhen === downWhen &&
    Bun.deepEquals(before.locations, locations);
  scheduled.multiLocation = {
    locations,
    downWhen,
    evaluations,
    evaluation: evaluationOf(row),
    doubtful: before?.doubtful ?? new Map(),
    notBefore: before?.notBefore ?? 0,
    hasChanged: before?.hasChanged === true || !isSame,
  };
  scheduled.evaluation = evaluations.get(LOCAL) ?? scheduled.evaluation;
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
  readonly #checkRemotely: (parent: ScheduledMonitor) => Promise<void>;
  /** Resolve with true when a check of the parent has an outcome, with false if there will be none. */
  readonly #awaited = new Map<ScheduledMonitor, PromiseWithResolvers<boolean>>();
  /** End the waits of monitors for their parents. */
  readonly #ends = new Map<ScheduledMonitor, Set<() => void>>();

  /**
   * `requestCheck` makes a parent's check begin as soon as it can, unless one is running. `checkRemotely` has it
   * checked from its other locations, and resolves when there is nothing to wait for.
   */
  constructor(
    clock: Clock,
    registry: MonitorRegistry,
    requestCheck: (parent: ScheduledMonitor) => void,
    checkRemotely: (parent: ScheduledMonitor) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#registry = registry;
    this.#requestCheck = requestCheck;
    this.#checkRemotely = checkRemotely;
  }

  /** Returns the id of the first failing parent. */
  failingParentOf(scheduled: ScheduledMonitor): string | undefined {
    return this.#parentsOf(scheduled).find(hasFailed)?.id;
  }

  /** Returns the ids of the parents whose check has failed, and is not counted yet. */
  uncountedParentsOf(scheduled: ScheduledMonitor): string[] {
    return this.#parentsOf(scheduled)
      .filter(({ uncounted, multiLocation }) => uncounted !== undefined && !multiLocation)
      .map(({ id }) => id);
  }

  /**
   * Returns the parents to check before a failure of a monitor counts: none if it is down already or a parent
   * is known to fail. Push monitors cannot be checked.
   */
  parentsToCheck(scheduled: ScheduledMonitor): ScheduledMonitor[] {
    if (combinedEvaluation(scheduled).state === "down" || this.failingParentOf(scheduled))
      return [];
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
    const ends = this.#ends.get(scheduled) ?? new Set();
    this.#ends.set(scheduled, ends.add(resolve));
    const checks = parents.map((parent) => this.#checkSince(parent, startedAt));
    await Promise.race([Promise.all(checks), end]);
    ends.delete(resolve);
    if (ends.size === 0) this.#ends.delete(scheduled);
    timer.cancel();
  }

  /** Ends the wait of a monitor for its parents, if any: it was changed, so its failure will not count. */
  endWait(scheduled: ScheduledMonitor): void {
    for (const end of this.#ends.get(scheduled) ?? []) end();
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

  /** Returns true if a monitor waits for the checks of its parents. */
  isWaiting(scheduled: ScheduledMonitor): boolean {
    return this.#ends.has(scheduled);
  }

  /** Returns the unreachable monitors that depend on a monitor. */
  unreachableThrough({ id }: ScheduledMonitor): ScheduledMonitor[] {
    return this.#registry
      .dependentsOf(id)
      .filter((each) => combinedEvaluation(each).state === "unreachable" && !each.isPaused);
  }

  async #checkSince(parent: ScheduledMonitor, startedAt: number): Promise<void> {
    if (hasFailed(parent)) return;
    const remote = parent.multiLocation ? this.#checkRemotely(parent) : undefined;
    // A check that was running when the other one began may have succeeded before.
    const isKnown = () => hasFailed(parent) || (parent.lastStartedAt ?? -Infinity) >= startedAt;
    while (!parent.isRemoteOnly && !isKnown() && (await this.#nextOutcome(parent)));
    await remote;
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

/** Returns the evaluation of a monitor by all that checks it. */
export function combinedEvaluation({ multiLocation, evaluation }: ScheduledMonitor): Evaluation {
  return multiLocation?.evaluation ?? evaluation;
}

/** Returns true if a monitor is failing by the results of this process. */
export function hasFailed(scheduled: ScheduledMonitor): boolean {
  // A failure here that does not count yet says nothing of the other locations.
  if (scheduled.uncounted && !scheduled.multiLocation) return true;
  return isFailing(combinedEvaluation(scheduled), scheduled.lastOutcome);
}
