import type { CheckOutcome, MonitorState } from "../../domain/monitor-state";

/** State of a monitor and the streaks that may change it. Times in unix ms. */
export interface Evaluation {
  state: MonitorState;
  since: number;
  /** Failed checks in a row, and when the first of them was. */
  failures: number;
  failingSince: number | null;
  /** Checks in a row that say better than the state does, and when the first of them was. */
  successes: number;
  succeedingSince: number | null;
  /** Slow answers in a row, and when the first of them came. */
  slow: number;
  slowSince: number | null;
}

/** Observation of one check. */
export interface Observation {
  at: number;
  outcome: CheckOutcome;
  latencyMs: number | null;
}

export interface Thresholds {
  failureThreshold: number;
  successThreshold: number;
  /** Answers that take longer are slow; null where none is. */
  degradedAfterMs: number | null;
}

/** A change of state, dated from the first check of the streak that brought it. */
export interface Transition {
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

/** The standing of a monitor in a state in which no check has counted yet. */
export function newEvaluation(state: MonitorState, since: number): Evaluation {
  return { state, since, ...NO_STREAKS };
}

/**
 * Evaluates one more check. A monitor is down after `failureThreshold` failures in a row and up
 * again after `successThreshold` successes, each dated from the first of them; slow answers degrade
 * it the same way. A check that the server could not perform gives `no_data` at once, and the next
 * result starts new streaks. During maintenance of one of its components nothing counts. * A check
 * that is older than the state is dated at the state's beginning: a clock was set back.
 */
export function evaluateCheck(
  evaluation: Evaluation,
  observation: Observation,
  thresholds: Thresholds,
  isInMaintenance: boolean,
): EvaluationResult {
  const at = Math.max(observation.at, evaluation.since);
  if (isInMaintenance) return enter(evaluation, "maintenance", at);
  if (observation.outcome === "unknown") return enter(evaluation, "no_data", at);
  // After maintenance, a pause or a time of not knowing everything begins anew.
  const counted = isWatching(evaluation.state) ? evaluation : newEvaluation("pending", at);
  const result = count(counted, { ...observation, at }, thresholds);
  return { ...result, ...transitionOf(evaluation.state, result.evaluation) };
}

/** Counts a check that says something of the target. */
function count(
  counted: Evaluation,
  observation: Observation,
  thresholds: Thresholds,
): EvaluationResult {
  const { at } = observation;
  if (observation.outcome === "failed") return countFailure(counted, at, thresholds);
  const { latencyMs } = observation;
  const { degradedAfterMs } = thresholds;
  const isSlow = degradedAfterMs !== null && latencyMs !== null && latencyMs > degradedAfterMs;
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
  return state === "pending" || state === "up" || state === "degraded" || state === "down";
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

function countSlow(evaluation: Evaluation, at: number, thresholds: Thresholds): EvaluationResult {
  const slow = evaluation.slow + 1;
  const slowSince = evaluation.slowSince ?? at;
  // It answers: that is enough to be no longer down, and what first answers at all is up.
  if (evaluation.state === "down")
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
  if (evaluation.state === "down" || evaluation.state === "degraded") {
    return countRecovery(evaluation, at, thresholds, { slow: 0, slowSince: null });
  }
  if (evaluation.state !== "up") return enter(evaluation, "up", at);
  return { evaluation: settled(evaluation), needsRecheck: false };
}

/** One more check that speaks for the end of an outage or of slowness. */
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

/** The same standing without streaks; the same object where there are none, so that nothing is written. */
function settled(evaluation: Evaluation): Evaluation {
  const { failures, successes, slow } = evaluation;
  return failures + successes + slow === 0 ? evaluation : { ...evaluation, ...NO_STREAKS };
}
