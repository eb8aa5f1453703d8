import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { MonitorState } from "../../../base/status";
import { HOUR_MS } from "../../../base/time";
import { findLiveness, saveNoData } from "../checks-store";
import { type MonitorConfig, scheduleOf } from "../probes";
import type { AffectedComponent } from "../records";
import { newEvaluation } from "../rules";
import { findOpenNoData } from "../evaluation-store";
import {
  findMonitorState,
  insertMonitorState,
  listComponentsOfMonitors,
  listMonitorStates,
  type MonitorRow,
  saveEvaluation,
  type StateRow,
} from "../store";
import { recordState, applyCauses, writeState, refreshNoData } from "./transitions";
import { leaveIncidents, refreshOutages } from "./incidents";
import { SERVER_OFFLINE, SERVER_OFFLINE_MS } from "./liveness";

/* Transitions by people and by commands. They send no event, and outages leave their incidents. */

/** Starts the timeline of a new monitor, whose row exists, at `at` (unix ms). */
export function beginTimeline(tx: Tx, monitor: MonitorRow, at: number): void {
  const state = monitor.paused ? "paused" : "pending";
  insertMonitorState(tx, {
    ...newEvaluation(state, at),
    monitorNum: monitor.num,
    heartbeatAt: null,
    certificateExpiresAt: null,
    rolledUntil: at - (at % HOUR_MS),
    reminders: 0,
    remindedAt: null,
  });
  recordState(tx, { monitorNum: monitor.num, state, at, message: null });
}

/**
 * Pauses or resumes the checks of a monitor at `at` (unix ms); `paused` is also for a deleted one.
 * The statuses of its components end. Its row is already changed. Its outage leaves its incidents, which other
 * monitors or people resolve.
 */
export function applyManualTransition(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  state: "paused" | "pending",
  at: number,
): void {
  const before = findMonitorState(tx, { monitorNum: monitor.num });
  if (!before || before.state === state) return;
  const from = recordGap(ctx, tx, monitor, before, at);
  const evaluation = newEvaluation(state, afterState(before, at));
  writeState(ctx, tx, monitor, { from, evaluation, message: null });
  if (state === "paused") leaveIncidents(ctx, tx, monitor, evaluation.since);
}

/**
 * Pauses monitors without components at `at` (unix ms). Their rows are already paused. Without
 * components there are no causes or times without data to end.
 */
export function pauseUnwatching(tx: Tx, monitors: readonly MonitorRow[], at: number): void {
  const byNum = new Map(monitors.map((monitor) => [monitor.num, monitor]));
  const seenAt = findLiveness(tx, {})?.at;
  for (const before of listMonitorStates(tx, { nums: JSON.stringify([...byNum.keys()]) })) {
    if (before.state === "paused") continue;
    const { monitorNum } = before;
    const gapAt = gapStart(byNum.get(monitorNum), before, seenAt, at);
    if (gapAt !== undefined) {
      recordState(tx, { monitorNum, state: "no_data", at: gapAt, message: SERVER_OFFLINE });
    }
    const evaluation = newEvaluation("paused", afterState(before, at));
    saveEvaluation(tx, { ...evaluation, monitorNum });
    recordState(tx, { monitorNum, state: "paused", at: evaluation.since, message: null });
  }
}

/**
 * Returns the time at which a monitor leaves a state (unix ms). It is later than the start of a known state,
 * even if the clock was set back, since otherwise the timeline would lose that state.
 */
function afterState({ state, since }: Pick<StateRow, "state" | "since">, at: number): number {
  const isKnown = state === "up" || state === "degraded" || state === "down";
  return Math.max(at, isKnown ? since + 1 : since);
}

/** Records a time without data if no server has run for a while, which happens before a command. */
function recordGap(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  before: Pick<StateRow, "state" | "since">,
  at: number,
): MonitorState {
  const { state } = before;
  const startedAt = gapStart(monitor, before, findLiveness(tx, {})?.at, at);
  if (startedAt === undefined) return state;
  const evaluation = newEvaluation("no_data", startedAt);
  const components = writeState(ctx, tx, monitor, {
    from: state,
    evaluation,
    message: SERVER_OFFLINE,
  });
  for (const { id: componentId } of components) {
    if (findOpenNoData(tx, { componentId })) continue;
    saveNoData(tx, { componentId, startedAt, endedAt: at });
  }
  return "no_data";
}

/**
 * Returns the start of the time in which no server has checked a monitor (unix ms); undefined if a
 * server runs, and for a push monitor without a deadline, whose state only reports change.
 */
function gapStart(
  monitor: MonitorRow | undefined,
  { state, since }: Pick<StateRow, "state" | "since">,
  seenAt: number | undefined,
  at: number,
): number | undefined {
  if (state === "paused" || state === "no_data" || seenAt === undefined) return undefined;
  if (monitor?.intervalSeconds === null && !scheduleOf(monitor.config as MonitorConfig)) {
    return undefined;
  }
  const startedAt = Math.max(seenAt, since);
  return at - startedAt <= SERVER_OFFLINE_MS ? undefined : startedAt;
}

/**
 * Updates the component statuses of a changed monitor from `at` on (unix ms). `before` are its
 * earlier components. A status that it keeps during `no_data` follows with the next known state.
 */
export function refreshAfterChange(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  before: readonly AffectedComponent[],
  at: number,
): void {
  const last = findMonitorState(tx, { monitorNum: monitor.num });
  if (!last) return;
  const now = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([monitor.id]) });
  const { state } = last;
  if (state === "down" || state === "unreachable" || state === "degraded") {
    applyCauses(ctx, tx, monitor, now, state, Math.max(at, last.since));
  }
  refreshOutages(ctx, tx, monitor, { before, now }, Math.max(at, last.since));
  refreshNoData(ctx, tx, [...before, ...now], at);
}
