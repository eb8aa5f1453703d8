import { SYSTEM_ACTOR } from "../../base/actor";
import { notFound } from "../../base/errors";
import { NEWEST } from "../../base/ids";
import { MONITOR_STATES, type MonitorState, type MonitorType } from "../../base/status";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Span } from "../components/rules";
import { openCauses } from "../components/statuses";
import {
  type CheckRow,
  deleteSpans,
  insertSpan,
  listLastChecks,
  type SpanRow,
} from "./checks-store";
import { listParents } from "./dependency-store";
import { newEvaluation } from "./rules";
import {
  findMonitorByRef,
  findMonitorWithState,
  listComponentsOfMonitors,
  listMonitorRows,
  type MonitorRow,
  saveEvaluation,
  saveHeartbeat,
  saveReminder,
  type StateRow,
} from "./store";

/** A component of a monitor. */
export type AffectedComponent = ReturnType<typeof listComponentsOfMonitors>[number];

/** A monitor on which another depends, with its state. */
type ParentMonitor = Omit<ReturnType<typeof listParents>[number], "monitorId">;

/** A monitor with its state, components, parents and last result. */
export interface MonitorRecord {
  row: MonitorRow;
  state: StateRow;
  /** In the order of their pages. */
  components: readonly AffectedComponent[];
  /** Monitors on which it depends, in their order. */
  parents: readonly ParentMonitor[];
  /** Undefined before the first check, and after its result was deleted. */
  lastCheck: CheckRow | undefined;
}

/** Filters of the list. An omitted filter matches everything. */
interface MonitorQuery {
  pageId?: string | undefined;
  componentId?: string | undefined;
  state?: MonitorState | undefined;
  type?: MonitorType | undefined;
  tag?: string | undefined;
  group?: string | undefined;
  /** Text within the name. */
  search?: string | undefined;
  /** Only ids below this one. */
  before?: string | undefined;
  limit: number;
}

/** Returns the parameter that finds a tag in the stored list: see `hasTag`. */
export function tagParam(tag: string | undefined): string | null {
  return tag === undefined ? null : `,${JSON.stringify(tag)}`;
}

/** Returns a monitor. Throws `not_found`. */
export function getMonitorRecord(reader: Reader, id: string): MonitorRecord {
  const found = findMonitorWithState(reader, { id });
  const [record] = found ? assembleRecords(reader, [found]) : [];
  if (!record) throw notFound("monitor");
  return record;
}

/** Returns the id of the monitor that an id or a ref names. An unknown reference is returned unchanged. */
export function resolveMonitorId(reader: Reader, reference: string): string {
  // Ids contain an underscore, refs do not.
  return findMonitorByRef(reader, { ref: reference })?.id ?? reference;
}

/** Returns the monitor that an id or a ref names. Throws `not_found`. */
export function getMonitorByReference(reader: Reader, reference: string): MonitorRecord {
  return getMonitorRecord(reader, resolveMonitorId(reader, reference));
}

/** Lists monitors with their states, newest first, by four statements for any number. */
export function listMonitors(reader: Reader, query: MonitorQuery): MonitorRecord[] {
  const { pageId, componentId, state, type, tag, group, search, before = NEWEST, limit } = query;
  const rows = listMonitorRows(reader, {
    pageId: pageId ?? null,
    componentId: componentId ?? null,
    state: state ?? null,
    type: type ?? null,
    tag: tagParam(tag),
    group: group ?? null,
    search: search ?? null,
    before,
    limit,
  });
  return assembleRecords(reader, rows);
}

/** Adds components, parents and last results to monitors, by three statements for any number. */
export function assembleRecords(
  reader: Reader,
  found: readonly Pick<MonitorRecord, "row" | "state">[],
): MonitorRecord[] {
  if (found.length === 0) return [];
  const monitorIds = JSON.stringify(found.map(({ row }) => row.id));
  const nums = JSON.stringify(found.map(({ row }) => row.num));
  const components = Map.groupBy(
    listComponentsOfMonitors(reader, { monitorIds }),
    ({ monitorId }) => monitorId,
  );
  const parents = Map.groupBy(listParents(reader, { monitorIds }), ({ monitorId }) => monitorId);
  const checks = new Map(listLastChecks(reader, { nums }).map(({ row }) => [row.monitorNum, row]));
  return found.map((one) => ({
    ...one,
    components: components.get(one.row.id) ?? [],
    parents: parents.get(one.row.id) ?? [],
    lastCheck: checks.get(one.row.num),
  }));
}

/*
 * Times by state, uptime and outages of a monitor's timeline. Pure: time is an argument, in unix
 * ms. An open span continues; a timeline has no overlaps and is passed oldest first.
 */

/** A span of a monitor's timeline. */
export interface StateSpan {
  state: MonitorState;
  startedAt: number;
  endedAt: number | null;
  message: string | null;
}

/** Duration of each state, in ms. */
export type StateTimes = Readonly<Record<MonitorState, number>>;

/** Time in which a monitor was down, slow or unreachable. */
export interface Trouble {
  state: "down" | "degraded" | "unreachable";
  startedAt: number;
  /** Null while it continues. */
  endedAt: number | null;
  /** Duration so far, if it continues. */
  durationMs: number;
  message: string | null;
}

/** Returns the time in each state within a span; the time before the first span has no state. */
export function timesByState(spans: readonly StateSpan[], within: Span): StateTimes {
  const [times] = timesByInterval(spans, [within]);
  return times ?? noTimes();
}

/** Returns the time in each state for consecutive intervals, oldest first, in one pass. */
export function timesByInterval(
  spans: readonly StateSpan[],
  intervals: readonly Span[],
): StateTimes[] {
  let first = 0;
  return intervals.map(({ from, to }) => {
    const times = noTimes();
    while (first < spans.length && endOf(spans[first]) <= from) first += 1;
    for (let i = first; i < spans.length; i++) {
      const span = spans[i];
      if (!span || span.startedAt >= to) break;
      times[span.state] += Math.max(0, Math.min(endOf(span), to) - Math.max(span.startedAt, from));
    }
    return times;
  });
}

/** Returns the sum of the times of several monitors or intervals. */
export function addTimes(all: Iterable<StateTimes>): StateTimes {
  const total = noTimes();
  for (const times of all) for (const state of MONITOR_STATES) total[state] += times[state];
  return total;
}

/**
 * Returns the time in which the monitor was known to be up, degraded or down. Of a time in which it was
 * unreachable through another monitor, its own state is not known.
 */
export function knownTime(times: StateTimes): number {
  return times.up + times.degraded + times.down;
}

/**
 * Returns a monitor's uptime by time: 1 − down ÷ (up + degraded + down); null without known time.
 * Rounded down to six decimals, so that no outage is lost by rounding.
 */
export function uptimeOf(times: StateTimes): number | null {
  const known = knownTime(times);
  return known === 0 ? null : Math.floor(((known - times.down) * 1e6) / known) / 1e6;
}

/**
 * Returns the outages, slow and unreachable times that overlap a span, uncut, oldest first. The
 * duration of one that continues ends at `now`.
 */
export function troublesOf(spans: readonly StateSpan[], within: Span, now: number): Trouble[] {
  return joined(spans).flatMap(({ state, startedAt, endedAt, message }) => {
    if (startedAt >= within.to || (endedAt ?? now) <= within.from) return [];
    const durationMs = Math.max(0, (endedAt ?? now) - startedAt);
    return [{ state, startedAt, endedAt, durationMs, message }];
  });
}

type TroubleSpan = StateSpan & Pick<Trouble, "state">;

/**
 * Returns the spans in which the monitor was down, slow or unreachable. Joins adjacent spans of one
 * state, which exist if the clock was set back, or if an outage went on after an unreachable time.
 */
function joined(spans: readonly StateSpan[]): TroubleSpan[] {
  const troubles: TroubleSpan[] = [];
  for (const span of spans) {
    const { state } = span;
    if (state !== "down" && state !== "degraded" && state !== "unreachable") continue;
    const before = troubles.at(-1);
    if (before?.endedAt === span.startedAt && before.state === state)
      troubles[troubles.length - 1] = { ...before, endedAt: span.endedAt };
    else troubles.push({ ...span, state });
  }
  return troubles;
}

function endOf(span: StateSpan | undefined): number {
  return span?.endedAt ?? Number.POSITIVE_INFINITY;
}

/** Returns zero time for each state. */
export function noTimes(): Record<MonitorState, number> {
  return {
    pending: 0,
    up: 0,
    degraded: 0,
    down: 0,
    maintenance: 0,
    paused: 0,
    no_data: 0,
    unreachable: 0,
  };
}

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
