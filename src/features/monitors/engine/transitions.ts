import { SYSTEM_ACTOR } from "../../../base/actor";
import type { MonitorState } from "../../../base/status";
import { DAY_MS, HOUR_MS, toIso, toIsoOrNull } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { EventType } from "../../../events/outbox";
import { endCauses, openCauses } from "../../components/statuses";
import { touchPage } from "../../pages/pages";
import { listReceivers } from "../../webhooks/enqueue";
import {
  deleteSpan,
  endNoData,
  endSpan,
  findLastKnown,
  findLiveness,
  findOpenNoData,
  findOpenSpan,
  findOutageStart,
  findSpanBefore,
  findUnknownSince,
  insertSpan,
  rewriteSpan,
  saveNoData,
  type SpanRow,
} from "../spans-store";
import type { SeenCertificate } from "../monitoring";
import type { MonitorConfig } from "../probes";
import { scheduleOf } from "../probes/push";
import { type AffectedComponent, getMonitorRecord, type MonitorRecord } from "../records";
import { type Evaluation, newEvaluation } from "../rules";
import {
  deleteCertificateWarnings,
  endAcknowledgement,
  findCertificateWarning,
  findDueReminder,
  findMonitorState,
  insertCertificateWarning,
  insertMonitorState,
  listComponentsOfMonitors,
  listMonitorStates,
  type MonitorRow,
  saveEvaluation,
  saveReminder,
  type StateRow,
} from "../store";
import { presentMonitor } from "../wire";
import { leaveIncidents, openIncidents, refreshOutages, resolveIncidents } from "./incidents";
import { SERVER_OFFLINE, SERVER_OFFLINE_MS } from "./stalls";

/*
 * The consequences of a new state, in the transaction that records it: by a check, by a person, or by a change of the
 * monitor. Then the events about certificates and outages that go on.
 */

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
  if (state !== "down") {
    endAcknowledgement(tx, { monitorNum: monitor.num });
    resolveIncidents(ctx, tx, monitor, at);
  } else {
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
function applyCauses(
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
 * Returns a monitor as the API shows it, with the statuses of its components, without notes and acknowledgement,
 * which are not for receivers. To fit into an event, the configuration is left out first, then components, with
 * `truncated: true`.
 */
function dataOf(record: MonitorRecord): object {
  const components = record.components.map(({ id, name, status }) => ({ id, name, status }));
  const { notes: _notes, acknowledgement: _seen, ...monitor } = presentMonitor(record);
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
    endSpan(tx, { monitorNum, startedAt: before.startedAt, endedAt: null });
    open = { ...before, endedAt: null };
  }
  return open;
}

/**
 * Starts or ends times without data of components whose monitors changed at `at` (unix ms). A
 * component has no data while none of its running monitors has a known state. Components without
 * monitors are not affected.
 */
function refreshNoData(
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

/** Recipient in the table of warnings that stands for an event, whichever endpoints it had. */
const ANYONE = "";

/** Days before the expiry at which an event is recorded, the last one first. */
const STEPS = [1, 3, 7, 14] as const;

/** Time after which no step of a certificate can be due again, since the first one is 14 days ahead. */
const KEPT_MS = 30 * DAY_MS;

/**
 * Records that the certificate of a monitor's server, or one of its chain, expires soon. Each endpoint gets one event for each
 * certificate and step, of the first monitor to which it subscribes, whatever other endpoints got before.
 * Without any endpoint there is one event. After a time without checks only the nearest step is recorded.
 * `at` is in unix ms.
 */
export function warnOfExpiry(
  ctx: Ctx,
  tx: Tx,
  monitorId: string,
  { host, fingerprint, expiresAt, intermediate = null }: SeenCertificate,
  at: number,
): void {
  const step = stepAt(expiresAt - at);
  if (step === undefined || fingerprint === "") return;
  const subject = `certificate ${fingerprint}`;
  /** Notes a recipient. Returns true if it was not noted for this step before. */
  const isNew = (recipient: string): boolean => {
    if (findCertificateWarning(tx, { subject, step, recipient })) return false;
    insertCertificateWarning(tx, { subject, step, recipient, at });
    return true;
  };
  // The further checks of the monitor end here.
  if (!isNew(monitorId)) return;
  deleteCertificateWarnings(tx, { before: at - KEPT_MS });
  const record = getMonitorRecord(tx, monitorId);
  const topic = {
    type: "monitor.certificate_expiring",
    pageId: pageIdOf(record),
    subjectId: monitorId,
  } as const;
  const receivers = listReceivers(tx, topic).filter(isNew);
  const isFirst = isNew(ANYONE);
  if (!isFirst && receivers.length === 0) return;
  ctx.outbox.record(tx, {
    ...topic,
    receivers,
    data: {
      monitor: dataOf(record),
      host,
      intermediate,
      not_after: toIso(expiresAt),
      days_left: Math.ceil((expiresAt - at) / DAY_MS),
    },
  });
}

/** Returns the step at a time before the expiry; undefined long before, and after it. */
function stepAt(leftMs: number): number | undefined {
  return leftMs > 0 ? STEPS.find((days) => leftMs <= days * DAY_MS) : undefined;
}

/**
 * Records that a monitor is still down, if its reminder is due at `now` (unix ms). None is due during
 * maintenance, without data or while the monitor is unreachable, since it is in another state then.
 */
export function recordReminder(
  ctx: Ctx,
  tx: Tx,
  monitor: { id: string; num: number },
  now: number,
): void {
  const { id, num: monitorNum } = monitor;
  const due = findDueReminder(tx, { monitorNum, now });
  if (!due) return;
  const count = due.reminders + 1;
  saveReminder(tx, { monitorNum, reminders: count, remindedAt: now });
  const record = getMonitorRecord(tx, id);
  const downSince = findOutageStart(tx, { monitorNum })?.startedAt ?? record.state.since;
  ctx.outbox.record(tx, {
    type: "monitor.reminder",
    pageId: pageIdOf(record),
    subjectId: id,
    data: { monitor: dataOf(record), down_since: toIso(downSince), count },
  });
}
