import type { Tx } from "../../db";
import { SYSTEM_ACTOR } from "../../domain/actor";
import { openCauses } from "../components";
import type { Services } from "./changes";
import { insertSpan, type SpanRow } from "./checks-store";
import { deleteSpans } from "./past-store";
import { saveReminder } from "./reminder-store";
import { newEvaluation } from "./rules";
import { listComponentsOfMonitors, type MonitorRow, saveEvaluation, saveHeartbeat } from "./store";

/** What is known of a monitor from before its creation here, at which its checks go on. Times in unix ms. */
export interface PastState {
  state: "up" | "down";
  /** Start of the state, no later than the creation. */
  since: number;
  /** Text of an outage. */
  message: string | null;
  /** Last beat. */
  at: number;
}

/**
 * Lets a new monitor that is not paused go on in a state, so that an outage that is known is not told again, and its
 * end is. Its components get the status of the state, and people are not notified.
 */
export function continueFrom(ctx: Services, tx: Tx, monitor: MonitorRow, past: PastState): void {
  const { num: monitorNum, id: sourceId, name, onDown } = monitor;
  const { state, since, at } = past;
  replaceSpans(tx, monitorNum, [{ startedAt: since, endedAt: null, state, message: past.message }]);
  saveEvaluation(tx, { ...newEvaluation(state, since), monitorNum });
  if (state === "up") {
    if (monitor.type === "push") saveHeartbeat(tx, { monitorNum, at });
    return;
  }
  const components = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([sourceId]) });
  const componentIds = components.map(({ id }) => id);
  const reason = { source: "monitor", actor: SYSTEM_ACTOR, reason: name, notify: false } as const;
  const causes = {
    source: "monitor",
    sourceId,
    componentIds,
    status: onDown,
    from: since,
  } as const;
  openCauses(ctx, tx, causes, reason);
  saveReminder(tx, { monitorNum, reminders: 0, remindedAt: ctx.clock.now() });
}

/**
 * Gives a new monitor that is not paused a state that was last known when the source was stopped. Nothing is known from
 * `heldUntil` on (unix ms), and its first check decides.
 */
export function rememberState(
  tx: Tx,
  { num, createdAt }: MonitorRow,
  { state, since, message }: PastState,
  heldUntil: number,
): void {
  replaceSpans(tx, num, [
    { startedAt: since, endedAt: heldUntil, state, message },
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
