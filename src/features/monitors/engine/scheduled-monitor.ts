import type { CheckOutcome, MonitorType } from "../../../base/status";
import type { OutsideAddress } from "../../../egress/policy";
import { SECOND_MS } from "../../../base/time";
import type { CheckRow } from "../checks-store";
import { graceSecondsOf, type MonitorConfig, occurrencesOf } from "../probes";
import { invertResult, type ProbeResult } from "../probe";
import { type Evaluation, isHeldStreak, type Thresholds } from "../rules";
import type { ScheduledMonitorRow } from "../evaluation-store";
import type { Due } from "./due-heap";
import { type Job, newJob, runsOf } from "./job";

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
export function renew(scheduled: ScheduledMonitor, row: ScheduledMonitorRow): void {
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
