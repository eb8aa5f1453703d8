import { SYSTEM_ACTOR } from "../../base/actor";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { openCauses } from "../components/statuses";
import { deleteSpans, insertSpan, type SpanRow } from "./checks-store";
import { newEvaluation } from "./rules";
import {
  listComponentsOfMonitors,
  type MonitorRow,
  saveEvaluation,
  saveHeartbeat,
  saveReminder,
} from "./store";

/** State of a monitor before its creation here. Times in unix ms. */
interface PastState {
  state: "up" | "down";
  /** Start of the state, no later than the creation. */
  since: number;
  /** Text of an outage. */
  message: string | null;
  /** Last beat. */
  at: number;
}

/**
 * Lets a new monitor that is not paused go on in a state, so that people are notified of the end of a known outage,
 * and not of its start. This itself notifies nobody, and gives its components the status.
 */
export function continueFrom(ctx: Ctx, tx: Tx, monitor: MonitorRow, past: PastState): void {
  const { num: monitorNum, id: sourceId, name, onDown: status, createdAt: from } = monitor;
  const { state, since, at, message } = past;
  replaceSpans(tx, monitorNum, [{ startedAt: from, endedAt: null, state, message }]);
  saveEvaluation(tx, { ...newEvaluation(state, since), monitorNum });
  if (state === "up") {
    if (monitor.type === "push") saveHeartbeat(tx, { monitorNum, at });
    return;
  }
  const components = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([sourceId]) });
  const componentIds = components.map(({ id }) => id);
  const reason = { source: "monitor", actor: SYSTEM_ACTOR, reason: name, notify: false } as const;
  openCauses(ctx, tx, { source: "monitor", sourceId, componentIds, status, from }, reason);
  saveReminder(tx, { monitorNum, reminders: 0, remindedAt: ctx.clock.now() });
}

/**
 * Gives a new monitor that is not paused a state that was known when the source was stopped. Nothing is known from
 * `heldUntil` on (unix ms), and its first check decides.
 */
export function rememberState(
  tx: Tx,
  { num, createdAt }: MonitorRow,
  { state, at, message }: PastState,
  heldUntil: number,
): void {
  replaceSpans(tx, num, [
    { startedAt: at, endedAt: heldUntil, state, message },
    { startedAt: heldUntil, endedAt: createdAt, state: "no_data", message: null },
    { startedAt: createdAt, endedAt: null, state: "pending", message: null },
  ]);
}

/** Replaces the timeline of a new monitor. */
function replaceSpans(
  tx: Tx,
  monitorNum: number,
  spans: readonly Omit<SpanRow, "monitorNum">[],
): void {
  deleteSpans(tx, { monitorNum });
  for (const span of spans) insertSpan(tx, { monitorNum, ...span });
}
