import type { CheckOutcome, MonitorState } from "../../kernel/monitor-state";

/** Where the rules stand with a monitor: its state, and the streaks that may change it. Unix ms. */
export interface Standing {
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

/** What one check says. */
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

export interface Decision {
  standing: Standing;
  transition?: Transition;
  /** Whether the next check should come sooner: a streak has begun that has not decided yet. */
  isUnsure: boolean;
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
export function freshStanding(state: MonitorState, since: number): Standing {
  return { state, since, ...NO_STREAKS };
}

/**
 * What one more check changes. A monitor is down after `failureThreshold` failures in a row and up
 * again after `successThreshold` successes, each dated from the first of them; slow answers degrade it
 * the same way. What the server could not know says `no_data` at once, and the next that is known
 * counts from nothing. While a component of it is under maintenance, nothing counts.
 *
 * A check that is older than the state is dated at the state's beginning: a clock was set back.
 */
export function decide(
  standing: Standing,
  observation: Observation,
  thresholds: Thresholds,
  isInMaintenance: boolean,
): Decision {
  const at = Math.max(observation.at, standing.since);
  if (isInMaintenance) return enter(standing, "maintenance", at);
  if (observation.outcome === "unknown") return enter(standing, "no_data", at);
  // After maintenance, a pause or a time of not knowing everything begins anew.
  const counted = isWatching(standing.state) ? standing : freshStanding("pending", at);
  const decision = count(counted, { ...observation, at }, thresholds);
  return { ...decision, ...transitionOf(standing.state, decision.standing) };
}

/** Counts a check that says something of the target. */
function count(counted: Standing, observation: Observation, thresholds: Thresholds): Decision {
  const { at } = observation;
  if (observation.outcome === "failed") return countFailure(counted, at, thresholds);
  const { latencyMs } = observation;
  const { degradedAfterMs } = thresholds;
  const isSlow = degradedAfterMs !== null && latencyMs !== null && latencyMs > degradedAfterMs;
  return isSlow ? countSlow(counted, at, thresholds) : countQuick(counted, at, thresholds);
}

function transitionOf(from: MonitorState, { state, since }: Standing): { transition?: Transition } {
  return from === state ? {} : { transition: { from, to: state, at: since } };
}

/** Whether a state is one that checks in a row have decided or may decide. */
function isWatching(state: MonitorState): boolean {
  return state === "pending" || state === "up" || state === "degraded" || state === "down";
}

function enter(standing: Standing, state: MonitorState, at: number): Decision {
  if (standing.state === state) return { standing, isUnsure: false };
  return {
    standing: freshStanding(state, at),
    transition: { from: standing.state, to: state, at },
    isUnsure: false,
  };
}

function countFailure(standing: Standing, at: number, thresholds: Thresholds): Decision {
  const failures = standing.failures + 1;
  const failingSince = standing.failingSince ?? at;
  if (standing.state === "down") {
    return { standing: settled(standing), isUnsure: false };
  }
  if (failures >= thresholds.failureThreshold) return enter(standing, "down", failingSince);
  return {
    standing: { ...standing, ...NO_STREAKS, failures, failingSince },
    isUnsure: true,
  };
}

function countSlow(standing: Standing, at: number, thresholds: Thresholds): Decision {
  const slow = standing.slow + 1;
  const slowSince = standing.slowSince ?? at;
  // It answers: that is enough to be no longer down, and what first answers at all is up.
  if (standing.state === "down")
    return countRecovery(standing, at, thresholds, { slow, slowSince });
  if (standing.state === "degraded") {
    return { standing: settled(standing), isUnsure: false };
  }
  if (slow >= thresholds.failureThreshold) return enter(standing, "degraded", slowSince);
  if (standing.state !== "up") {
    const decision = enter(standing, "up", at);
    return { ...decision, standing: { ...decision.standing, slow, slowSince }, isUnsure: true };
  }
  return { standing: { ...standing, ...NO_STREAKS, slow, slowSince }, isUnsure: true };
}

function countQuick(standing: Standing, at: number, thresholds: Thresholds): Decision {
  if (standing.state === "down" || standing.state === "degraded") {
    return countRecovery(standing, at, thresholds, { slow: 0, slowSince: null });
  }
  if (standing.state !== "up") return enter(standing, "up", at);
  return { standing: settled(standing), isUnsure: false };
}

/** One more check that speaks for the end of an outage or of slowness. */
function countRecovery(
  standing: Standing,
  at: number,
  thresholds: Thresholds,
  streak: Pick<Standing, "slow" | "slowSince">,
): Decision {
  const successes = standing.successes + 1;
  const succeedingSince = standing.succeedingSince ?? at;
  if (successes < thresholds.successThreshold) {
    return {
      standing: { ...standing, ...NO_STREAKS, ...streak, successes, succeedingSince },
      isUnsure: true,
    };
  }
  if (streak.slow >= thresholds.failureThreshold)
    return enter(standing, "degraded", succeedingSince);
  const decision = enter(standing, "up", succeedingSince);
  return {
    ...decision,
    standing: { ...decision.standing, ...streak },
    isUnsure: streak.slow > 0,
  };
}

/** The same standing without streaks; the same object where there are none, so that nothing is written. */
function settled(standing: Standing): Standing {
  const { failures, successes, slow } = standing;
  return failures + successes + slow === 0 ? standing : { ...standing, ...NO_STREAKS };
}
