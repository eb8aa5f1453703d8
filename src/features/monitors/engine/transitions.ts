import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { EventType } from "../../../events/outbox";
import { SYSTEM_ACTOR } from "../../../base/actor";
import type { MonitorState } from "../../../base/status";
import { toIso, toIsoOrNull } from "../../../base/time";
import { endCauses, openCauses } from "../../components/statuses";
import { touchPage } from "../../pages/pages";
import { presentMonitor } from "../model";
import { getMonitorRecord, type MonitorRecord, type AffectedComponent } from "../records";
import type { Evaluation } from "../rules";
import {
  findLastKnown,
  findOutageStart,
  findOpenNoData,
  findUnknownSince,
} from "../evaluation-store";
import { saveReminder } from "../reminder-store";
import { listComponentsOfMonitors, type MonitorRow, saveEvaluation } from "../store";
import {
  deleteSpan,
  endSpan,
  findOpenSpan,
  findSpanBefore,
  reopenSpan,
  type SpanRow,
  insertSpan,
  rewriteSpan,
  endNoData,
  saveNoData,
} from "../checks-store";
import { openIncidents, resolveIncidents } from "./incidents";

/** A state that a monitor enters at `evaluation.since`, and the reason. */
interface StateChange {
  from: MonitorState;
  evaluation: Evaluation;
  message: string | null;
  /** The text that may be published; absent if it is the same as `message`. */
  publicMessage?: string | undefined;
}

/** Last known state of a monitor, with the start of the outage if it was down. */
interface LastKnown {
  state: "up" | "degraded" | "down";
  downSince: number | null;
}

/** Events hold less than 20 KB with their envelope. */
const DATA_MAX_BYTES = 19_000;

/**
 * Records that a monitor entered a state with all consequences, in the transaction of the result
 * that caused it: timeline, component causes, times without data, incidents and event.
 */
export function applyTransition(ctx: Ctx, tx: Tx, monitor: MonitorRow, changes: StateChange): void {
  const last = lastKnown(tx, monitor.num, changes);
  const components = writeState(ctx, tx, monitor, changes);
  const { state, since: at } = changes.evaluation;
  if (state !== "up" && state !== "degraded" && state !== "down") return;
  if (state !== "down") resolveIncidents(ctx, tx, monitor, at);
  else {
    // Also after a pause, at which the outage left its incidents.
    const publicMessage = changes.publicMessage ?? changes.message;
    openIncidents(ctx, tx, monitor, components, { at, publicMessage });
  }
  // Last, since incidents change the component statuses that the event lists.
  if (state !== last.state) recordEvent(ctx, tx, monitor, { last, state, at });
  if (state === "down" && last.state !== "down") {
    // Reminders of this outage follow its event.
    saveReminder(tx, { monitorNum: monitor.num, reminders: 0, remindedAt: ctx.clock.now() });
  }
}

/**
 * Writes the timeline, causes and times without data of a monitor that enters a state, without
 * event and incidents. Enough for actions of people, such as a pause.
 */
export function writeState(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  { from, evaluation, message }: StateChange,
): readonly AffectedComponent[] {
  const { num: monitorNum, id } = monitor;
  const { state, since: at } = evaluation;
  saveEvaluation(tx, { ...evaluation, monitorNum });
  recordState(tx, { monitorNum, state, at, message: isTrouble(state) ? message : null });
  const components = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([id]) });
  applyCauses(ctx, tx, monitor, components, state, at);
  if (isUninformative(from) || isUninformative(state)) refreshNoData(ctx, tx, components, at);
  return components;
}

/**
 * Gives the components of a monitor the status of its state from `at` on (unix ms). A pending
 * monitor or one without data leaves the statuses unchanged.
 */
export function applyCauses(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  components: readonly AffectedComponent[],
  state: MonitorState,
  at: number,
): void {
  const changeReason = { source: "monitor", actor: SYSTEM_ACTOR, reason: monitor.name } as const;
  if (state === "no_data" || state === "pending") return;
  if (state !== "down" && state !== "unreachable" && state !== "degraded") {
    endCauses(ctx, tx, "monitor", monitor.id, at, changeReason);
    return;
  }
  const status = state === "degraded" ? "degraded_performance" : monitor.onDown;
  const componentIds = components.map((component) => component.id);
  openCauses(
    ctx,
    tx,
    { source: "monitor", sourceId: monitor.id, componentIds, status, from: at },
    changeReason,
  );
}

function isTrouble(state: MonitorState): boolean {
  return state === "down" || state === "unreachable" || state === "degraded" || state === "no_data";
}

/**
 * Returns true for states that give no information about components, so that entering or leaving
 * them may start or end a time without data.
 */
function isUninformative(state: MonitorState): boolean {
  return state === "no_data" || state === "paused";
}

/**
 * Returns the last known state. A monitor without one counts as up, so that its first `up` sends no
 * event.
 */
function lastKnown(tx: Tx, monitorNum: number, { from, evaluation }: StateChange): LastKnown {
  const isKnown = from === "up" || from === "degraded" || from === "down";
  const state = isKnown ? from : (findLastKnown(tx, { monitorNum })?.state ?? "up");
  if (state !== "down") return { state: state === "degraded" ? state : "up", downSince: null };
  const downSince = findOutageStart(tx, { monitorNum })?.startedAt ?? evaluation.since;
  return { state, downSince };
}

function recordEvent(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  { last, state, at }: { last: LastKnown; state: "up" | "degraded" | "down"; at: number },
): void {
  const record = getMonitorRecord(tx, monitor.id);
  const type: EventType = `monitor.${state}`;
  ctx.outbox.record(tx, {
    type,
    pageId: pageIdOf(record),
    subjectId: monitor.id,
    data: { ...dataOf(record), outage: outageOf(last, state, at) },
  });
}

/** Returns the page of a monitor's events. A monitor of several pages belongs to none of them. */
export function pageIdOf({ components }: Pick<MonitorRecord, "components">): string | null {
  const [pageId, ...others] = new Set(components.map((component) => component.pageId));
  return pageId !== undefined && others.length === 0 ? pageId : null;
}

function outageOf({ downSince }: LastKnown, state: MonitorState, at: number) {
  const startedAt = state === "down" ? at : downSince;
  if (startedAt === null) return null;
  const endedAt = state === "down" ? null : Math.max(at, startedAt);
  return {
    started_at: toIso(startedAt),
    ended_at: toIsoOrNull(endedAt),
    duration_ms: endedAt === null ? null : endedAt - startedAt,
  };
}

/**
 * Returns a monitor as the API shows it, with the statuses of its components and without notes, which are not
 * for receivers. To fit into an event, the configuration is left out first, then components, with
 * `truncated: true`.
 */
export function dataOf(record: MonitorRecord): object {
  const components = record.components.map(({ id, name, status }) => ({ id, name, status }));
  const { notes: _notes, ...monitor } = presentMonitor(record);
  const whole = { ...monitor, components };
  if (isSmall(whole)) return whole;
  for (let count = components.length; ; count = Math.floor(count / 2)) {
    const shown = components.slice(0, count);
    const data = { ...monitor, config: {}, components: shown, truncated: true };
    if (count === 0 || isSmall(data)) return data;
  }
}

function isSmall(data: object): boolean {
  return Buffer.byteLength(JSON.stringify(data)) <= DATA_MAX_BYTES;
}

/** A state of the timeline that a monitor enters at `at` (unix ms), and the reason. */
interface EnteredState {
  monitorNum: number;
  state: MonitorState;
  at: number;
  message: string | null;
}

/**
 * Records that a monitor entered a state: the open span ends and the next one starts, so that the
 * timeline has no gaps or overlaps. A state entered at or before the start of the open span
 * replaces that span, so that time never goes back and no span is empty. The current state
 * continues.
 */
export function recordState(tx: Tx, { monitorNum, state, at, message }: EnteredState): void {
  let open = findOpenSpan(tx, { monitorNum });
  if (state === "down" && open) open = dropHeldSpans(tx, open, at);
  if (open?.state === state) return;
  if (open && at <= open.startedAt) {
    rewriteSpan(tx, { monitorNum, startedAt: open.startedAt, state, message });
    return;
  }
  if (open) endSpan(tx, { monitorNum, startedAt: open.startedAt, endedAt: at });
  insertSpan(tx, { monitorNum, startedAt: at, endedAt: null, state, message });
}

/**
 * Removes the spans in which failures of an outage that began at `at` (unix ms) were held, or waited for further ones.
 * Returns the span that the outage ends or replaces.
 */
function dropHeldSpans(tx: Tx, newest: SpanRow, at: number): SpanRow {
  let open = newest;
  while (at < open.startedAt && (open.state === "no_data" || open.state === "pending")) {
    const { monitorNum, startedAt } = open;
    const before = findSpanBefore(tx, { monitorNum, startedAt });
    if (!before) break;
    deleteSpan(tx, { monitorNum, startedAt });
    reopenSpan(tx, { monitorNum, startedAt: before.startedAt });
    open = { ...before, endedAt: null };
  }
  return open;
}

/**
 * Starts or ends times without data of components whose monitors changed at `at` (unix ms). A
 * component has no data while none of its running monitors has a known state. Components without
 * monitors are not affected.
 */
export function refreshNoData(
  ctx: Ctx,
  tx: Tx,
  components: Iterable<{ id: string; pageId: string }>,
  at: number,
): void {
  for (const { id: componentId, pageId } of components) {
    const since = findUnknownSince(tx, { componentId })?.since ?? null;
    const isWritten = findOpenNoData(tx, { componentId }) !== undefined;
    if (isWritten === (since !== null)) continue;
    if (since === null) endNoData(tx, { componentId, endedAt: at });
    else saveNoData(tx, { componentId, startedAt: Math.max(since, at), endedAt: null });
    touchPage(ctx, tx, pageId);
  }
}
