import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import type { EventType } from "../../../events";
import { SYSTEM_ACTOR } from "../../../domain/actor";
import type { MonitorState } from "../../../domain/monitor-state";
import { toIso, toIsoOrNull } from "../../../kernel/time";
import { endCauses, openCauses } from "../../components";
import { touchPage } from "../../pages";
import { presentMonitor } from "../model";
import { getMonitorRecord, type MonitorRecord, type AffectedComponent } from "../records";
import type { Evaluation } from "../rules";
import {
  findLastKnown,
  findOutageStart,
  findOpenNoData,
  findUnknownSince,
} from "../evaluation-store";
import { listComponentsOfMonitors, type MonitorRow, saveEvaluation } from "../store";
import {
  endSpan,
  findOpenSpan,
  insertSpan,
  rewriteSpan,
  endNoData,
  saveNoData,
} from "../checks-store";
import { openIncidents, resolveIncidents } from "./incidents";

export type Services = Pick<AppContext, "baseUrl" | "clock" | "newId" | "outbox" | "signals">;

/** A state that a monitor enters at `standing.since`, and in words why. */
export interface StateChange {
  from: MonitorState;
  evaluation: Evaluation;
  message: string | null;
  /** The text that may be published; absent if it is the same as `message`. */
  publicMessage?: string | undefined;
}

/** Last known state of a monitor, with the start of the outage if it was down. */
interface Known {
  state: "up" | "degraded" | "down";
  downSince: number | null;
}

/** Events hold less than 20 KB with their envelope. */
const DATA_MAX_BYTES = 19_000;

/**
 * Writes down that a monitor entered a state, with all that follows from it, in the transaction of the
 * result that brought it: the timeline, marks on components, what nothing is known of, events and incidents.
 */
export function applyTransition(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  changes: StateChange,
): void {
  const known = lastKnown(tx, monitor.num, changes);
  const components = writeState(ctx, tx, monitor, changes);
  const { state, since: at } = changes.evaluation;
  if (state !== "up" && state !== "degraded" && state !== "down") return;
  if (state !== "down") resolveIncidents(ctx, tx, monitor, at);
  else if (known.state !== "down") {
    const publicMessage = changes.publicMessage ?? changes.message;
    openIncidents(ctx, tx, monitor, components, { at, publicMessage });
  }
  // Incidents change component statuses too, and the event lists these as they are at last.
  if (state !== known.state) tell(ctx, tx, monitor, { known, state, at });
}

/**
 * The timeline, the marks and the gaps of a monitor that enters a state. Nobody is told: enough for what
 * people do, such as a pause.
 */
export function writeState(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  { from, evaluation, message }: StateChange,
): readonly AffectedComponent[] {
  const { num: monitorNum, id } = monitor;
  const { state, since: at } = evaluation;
  saveEvaluation(tx, { ...evaluation, monitorNum });
  recordState(tx, { monitorNum, state, at, message: isTrouble(state) ? message : null });
  const components = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([id]) });
  cause(ctx, tx, monitor, components, state, at);
  if (isSilent(from) || isSilent(state)) refreshNoData(ctx, tx, components, at);
  return components;
}

/**
 * Marks the components of a monitor as its state says, from `at` on (unix ms). A monitor that cannot be
 * known, or that failed once since, leaves its mark as it is.
 */
export function cause(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  components: readonly AffectedComponent[],
  state: MonitorState,
  at: number,
): void {
  const why = { source: "monitor", actor: SYSTEM_ACTOR, reason: monitor.name } as const;
  if (state === "no_data" || state === "pending") return;
  if (state !== "down" && state !== "degraded") {
    endCauses(ctx, tx, "monitor", monitor.id, at, why);
    return;
  }
  const status = state === "down" ? monitor.onDown : "degraded_performance";
  const componentIds = components.map((component) => component.id);
  openCauses(
    ctx,
    tx,
    { source: "monitor", sourceId: monitor.id, componentIds, status, from: at },
    why,
  );
}

function isTrouble(state: MonitorState): boolean {
  return state === "down" || state === "degraded" || state === "no_data";
}

/** States that say nothing of a component, or come after one that did not. */
function isSilent(state: MonitorState): boolean {
  return state === "no_data" || state === "paused";
}

/** A monitor of which nothing was known yet is taken to have been up: nothing is told when it is. */
function lastKnown(tx: Tx, monitorNum: number, { from, evaluation }: StateChange): Known {
  const isKnown = from === "up" || from === "degraded" || from === "down";
  const state = isKnown ? from : (findLastKnown(tx, { monitorNum })?.state ?? "up");
  if (state !== "down") return { state: state === "degraded" ? state : "up", downSince: null };
  const downSince = findOutageStart(tx, { monitorNum })?.startedAt ?? evaluation.since;
  return { state, downSince };
}

function tell(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  { known, state, at }: { known: Known; state: "up" | "degraded" | "down"; at: number },
): void {
  const record = getMonitorRecord(tx, monitor.id);
  const pageIds = new Set(record.components.map(({ pageId }) => pageId));
  const [pageId] = pageIds;
  const type: EventType = `monitor.${state}`;
  ctx.outbox.record(tx, {
    type,
    // One that is watched for several pages belongs to none of them.
    pageId: pageIds.size === 1 && pageId !== undefined ? pageId : null,
    subjectId: monitor.id,
    data: { ...dataOf(record), outage: outageOf(known, state, at) },
  });
}

function outageOf({ downSince }: Known, state: MonitorState, at: number) {
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
 * Returns a monitor as the API shows it, with what its components show. Where that is more than an event
 * may hold, the configuration is left out first, then components; `truncated` says so.
 */
function dataOf(record: MonitorRecord): object {
  const components = record.components.map(({ id, name, status }) => ({ id, name, status }));
  const monitor = presentMonitor(record);
  const whole = { ...monitor, components };
  if (isSmall(whole)) return whole;
  for (let most = components.length; ; most = Math.floor(most / 2)) {
    const shown = components.slice(0, most);
    const data = { ...monitor, config: {}, components: shown, truncated: true };
    if (most === 0 || isSmall(data)) return data;
  }
}

function isSmall(data: object): boolean {
  return Buffer.byteLength(JSON.stringify(data)) <= DATA_MAX_BYTES;
}

/** A state that a monitor enters, from when on (unix ms), and in words why. */
interface Entry {
  monitorNum: number;
  state: MonitorState;
  at: number;
  message: string | null;
}

/**
 * Writes down that a monitor entered a state: its open span ends there and the next begins, so that the
 * timeline has neither gap nor overlap. What is entered when the open span began, or before, takes its
 * place: time never runs backwards, and no span is empty. The state that it is in already goes on.
 */
export function recordState(tx: Tx, { monitorNum, state, at, message }: Entry): void {
  const open = findOpenSpan(tx, { monitorNum });
  if (open?.state === state) return;
  if (open && at <= open.startedAt) {
    rewriteSpan(tx, { monitorNum, startedAt: open.startedAt, state, message });
    return;
  }
  if (open) endSpan(tx, { monitorNum, startedAt: open.startedAt, endedAt: at });
  insertSpan(tx, { monitorNum, startedAt: at, endedAt: null, state, message });
}

/**
 * Writes down, of components whose monitors have changed at `at` (unix ms), whether anything is known of
 * them: nothing is while no monitor that is not paused could say anything. Where nobody watches, people say
 * how it is.
 */
export function refreshNoData(
  ctx: Pick<AppContext, "clock" | "signals">,
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
