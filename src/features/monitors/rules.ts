import type { CheckOutcome, MonitorState } from "../../base/status";

/** State of a monitor and the streaks that may change it. Times in unix ms. */
export interface Evaluation {
  state: MonitorState;
  since: number;
  /** Consecutive failed checks, and the time of the first one. */
  failures: number;
  failingSince: number | null;
  /** Consecutive checks that are better than the state, and the time of the first one. */
  successes: number;
  succeedingSince: number | null;
  /** Consecutive slow responses, and the time of the first one. */
  slow: number;
  slowSince: number | null;
  /** Id of the parent through which the monitor is unreachable; null in other states. */
  unreachableVia: string | null;
}

/** Columns of an evaluation, also of that at one location. */
export const EVALUATION_COLUMNS = [
  "state",
  "since",
  "failures",
  "failingSince",
  "successes",
  "succeedingSince",
  "slow",
  "slowSince",
] as const satisfies readonly (keyof Evaluation)[];

/** Observation of one check. */
interface Observation {
  at: number;
  outcome: CheckOutcome;
  latencyMs: number | null;
  /** True for a failure that is held, whose outcome is unknown. */
  isHeld?: boolean | undefined;
  /** True for a success that counts like a slow response. */
  isDegraded?: boolean | undefined;
  /** Time since which it holds what was observed, if that is known. */
  since?: number | undefined;
}

export interface Thresholds {
  failureThreshold: number;
  successThreshold: number;
  /** Response time in ms above which a response is slow; null without a limit. */
  degradedAfterMs: number | null;
}

/** A change of state, dated from the first check of the streak that brought it. */
interface Transition {
  from: MonitorState;
  to: MonitorState;
  at: number;
}

interface EvaluationResult {
  evaluation: Evaluation;
  transition?: Transition;
  /**
   * True if the next check should come sooner, because a streak has begun that has not reached its
   * threshold.
   */
  needsRecheck: boolean;
}

const NO_STREAKS = {
  failures: 0,
  failingSince: null,
  successes: 0,
  succeedingSince: null,
  slow: 0,
  slowSince: null,
} as const;

/** Returns the evaluation of a monitor in a state in which no check has counted yet. */
export function newEvaluation(state: MonitorState, since: number): Evaluation {
  return { state, since, ...NO_STREAKS, unreachableVia: null };
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

/**
 * Returns true if monitors that depend on this one are unreachable while their checks fail: it is down,
 * unreachable itself, or failing. During maintenance, in which no check counts, the last one decides.
 */
export function isFailing(
  { state, failures }: Pick<Evaluation, "state" | "failures">,
  lastOutcome: CheckOutcome | undefined,
): boolean {
  if (state === "maintenance") return lastOutcome === "failed";
  return state === "down" || state === "unreachable" || failures > 0;
}

/**
 * Evaluates one more check. A monitor is down after `failureThreshold` consecutive failures and up again after
 * `successThreshold` successes, each dated from the first of them. Slow responses degrade it the same way. A check that
 * the server could not perform gives `no_data` at once, and the next result starts new streaks. After failures that
 * were held, a failure continues their streak. During maintenance of one of its components nothing counts. A check that
 * is older than the state, since the clock was set back, is dated at the start of the state. A trouble that is known to
 * have begun before the check is dated from its beginning.
 *
 * `failingParent` is the id of a parent for which `isFailing` is true. While there is one, a failed
 * check makes the monitor unreachable at once. Its failures are counted from zero when there is none,
 * and an outage that they confirm starts with the first failed check of all.
 */
export function evaluateCheck(
  evaluation: Evaluation,
  observation: Observation,
  thresholds: Thresholds,
  isInMaintenance: boolean,
  failingParent?: string,
): EvaluationResult {
  const at = Math.max(beginningOf(evaluation, observation), evaluation.since);
  if (isInMaintenance) return enter(evaluation, "maintenance", at);
  if (observation.outcome === "unknown") {
    return observation.isHeld
      ? holdFailure(evaluation, at)
      : enter(settled(evaluation), "no_data", at);
  }
  // After maintenance, a pause or a time without data, new streaks start. Held failures are such a streak.
  const { failures, failingSince } = evaluation;
  const counted = isWatching(evaluation.state)
    ? evaluation
    : { ...newEvaluation("pending", at), failures, failingSince };
  const result = count(counted, { ...observation, at }, thresholds, failingParent);
  return { ...result, ...transitionOf(evaluation.state, result.evaluation) };
}

/**
 * Returns the time from which an observation counts. What began during maintenance or without data counts from its end.
 */
function beginningOf({ state }: Evaluation, { at, since = at, outcome }: Observation): number {
  const isWorse = outcome === "failed" ? isWatching(state) : state === "up" || state === "pending";
  return isWorse ? Math.min(at, since) : at;
}

/** Counts a check with a known outcome. */
function count(
  counted: Evaluation,
  observation: Observation,
  thresholds: Thresholds,
  failingParent: string | undefined,
): EvaluationResult {
  const { at } = observation;
  if (observation.outcome === "failed") {
    return failingParent === undefined
      ? countFailure(counted, at, thresholds)
      : countUnreachable(counted, at, failingParent);
  }
  const { latencyMs, isDegraded = false } = observation;
  const { degradedAfterMs } = thresholds;
  const isSlow =
    isDegraded || (degradedAfterMs !== null && latencyMs !== null && latencyMs > degradedAfterMs);
  return isSlow ? countSlow(counted, at, thresholds) : countQuick(counted, at, thresholds);
}

function transitionOf(
  from: MonitorState,
  { state, since }: Evaluation,
): { transition?: Transition } {
  return from === state ? {} : { transition: { from, to: state, at: since } };
}

/** Returns true for states that consecutive check results can change. */
function isWatching(state: MonitorState): boolean {
  return state === "pending" || state === "up" || state === "degraded" || isOut(state);
}

/** Returns true for states that end after consecutive successes. */
function isOut(state: MonitorState): boolean {
  return state === "down" || state === "unreachable";
}

function enter(evaluation: Evaluation, state: MonitorState, at: number): EvaluationResult {
  if (evaluation.state === state) return { evaluation, needsRecheck: false };
  return {
    evaluation: newEvaluation(state, at),
    transition: { from: evaluation.state, to: state, at },
    needsRecheck: false,
  };
}

function countFailure(
  evaluation: Evaluation,
  at: number,
  thresholds: Thresholds,
): EvaluationResult {
  const failures = evaluation.failures + 1;
  const failingSince = evaluation.failingSince ?? at;
  if (evaluation.state === "down") {
    return { evaluation: settled(evaluation), needsRecheck: false };
  }
  if (failures >= thresholds.failureThreshold) return enter(evaluation, "down", failingSince);
  return {
    evaluation: { ...evaluation, ...NO_STREAKS, failures, failingSince },
    needsRecheck: true,
  };
}

/** Adds a failure to a streak that does not count yet. */
function holdFailure(evaluation: Evaluation, at: number): EvaluationResult {
  const { state, since, failures, failingSince } = evaluation;
  const held = {
    ...newEvaluation("no_data", state === "no_data" ? since : at),
    failures: failures + 1,
    failingSince: failingSince ?? at,
  };
  return { evaluation: held, needsRecheck: true, ...transitionOf(state, held) };
}

/** Returns true for failures that were held, and did not count since. */
export function isHeldStreak({ state, failures }: Pick<Evaluation, "state" | "failures">): boolean {
  return state === "no_data" && failures > 0;
}

/** Returns the evaluation after held failures count: down if they are enough, else the same. */
export function countHeldFailures(
  evaluation: Evaluation,
  { failureThreshold }: Pick<Thresholds, "failureThreshold">,
): EvaluationResult {
  const { state, failures, failingSince } = evaluation;
  return state === "no_data" && failingSince !== null && failures >= failureThreshold
    ? enter(evaluation, "down", failingSince)
    : { evaluation, needsRecheck: false };
}

/** Counts a failure while a parent is failing. */
function countUnreachable(evaluation: Evaluation, at: number, parent: string): EvaluationResult {
  const { state, since, failures, successes, slow, failingSince, unreachableVia } = evaluation;
  const isSame = unreachableVia === parent && failures + successes + slow === 0;
  if (isSame) return { evaluation, needsRecheck: false };
  const startedAt = failingSince ?? at;
  return {
    evaluation: {
      ...newEvaluation("unreachable", state === "unreachable" ? since : startedAt),
      failingSince: startedAt,
      unreachableVia: parent,
    },
    needsRecheck: false,
  };
}

function countSlow(evaluation: Evaluation, at: number, thresholds: Thresholds): EvaluationResult {
  const slow = evaluation.slow + 1;
  const slowSince = evaluation.slowSince ?? at;
  // A slow response still ends an outage, and brings a new monitor up.
  if (isOut(evaluation.state))
    return countRecovery(evaluation, at, thresholds, { slow, slowSince });
  if (evaluation.state === "degraded") {
    return { evaluation: settled(evaluation), needsRecheck: false };
  }
  if (slow >= thresholds.failureThreshold) return enter(evaluation, "degraded", slowSince);
  if (evaluation.state !== "up") {
    const result = enter(evaluation, "up", at);
    return { ...result, evaluation: { ...result.evaluation, slow, slowSince }, needsRecheck: true };
  }
  return { evaluation: { ...evaluation, ...NO_STREAKS, slow, slowSince }, needsRecheck: true };
}

function countQuick(evaluation: Evaluation, at: number, thresholds: Thresholds): EvaluationResult {
  if (isOut(evaluation.state) || evaluation.state === "degraded") {
    return countRecovery(evaluation, at, thresholds, { slow: 0, slowSince: null });
  }
  if (evaluation.state !== "up") return enter(evaluation, "up", at);
  return { evaluation: settled(evaluation), needsRecheck: false };
}

/** Counts a check towards the end of an outage or of slowness. */
function countRecovery(
  evaluation: Evaluation,
  at: number,
  thresholds: Thresholds,
  streak: Pick<Evaluation, "slow" | "slowSince">,
): EvaluationResult {
  const successes = evaluation.successes + 1;
  const succeedingSince = evaluation.succeedingSince ?? at;
  if (successes < thresholds.successThreshold) {
    return {
      evaluation: { ...evaluation, ...NO_STREAKS, ...streak, successes, succeedingSince },
      needsRecheck: true,
    };
  }
  if (streak.slow >= thresholds.failureThreshold)
    return enter(evaluation, "degraded", succeedingSince);
  const result = enter(evaluation, "up", succeedingSince);
  return {
    ...result,
    evaluation: { ...result.evaluation, ...streak },
    needsRecheck: streak.slow > 0,
  };
}

/**
 * Returns the evaluation without streaks, or the same object if it has none, so that nothing is
 * written.
 */
function settled(evaluation: Evaluation): Evaluation {
  const { failures, successes, slow } = evaluation;
  return failures + successes + slow === 0 ? evaluation : { ...evaluation, ...NO_STREAKS };
}
