/* Monitors as every reader gets them: with their state, components, parents and last result. */
import { notFound } from "../../base/errors";
import { NEWEST } from "../../base/ids";
import type { MonitorState, MonitorType } from "../../base/status";
import type { Reader } from "../../db/statements";
import { type CheckRow, ofMonitors } from "./checks-store";
import { listParents } from "./dependency-store";
import {
  isCheckedRemotely,
  lastRemoteChecks,
  type MonitorLocation,
  readMonitorLocations,
} from "./monitor-locations";
import {
  findMonitorByRef,
  findMonitorWithState,
  listComponentsOfMonitors,
  listMonitorRows,
  type MonitorRow,
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
  /** Locations that check it, in their order; none for types that wait for reports. */
  locations: readonly MonitorLocation[];
  /** Newest of all locations; undefined before the first check, and after its result was deleted. */
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

/** Lists monitors with their states, newest first, by a few statements for any number. */
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

/**
 * Adds components, parents, locations and last results to monitors, by three statements for any number, or five if
 * other locations than the server check some of them.
 */
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
  const checks = new Map(
    ofMonitors.listLastChecks(reader, { nums }).map(({ row }) => [row.monitorNum, row]),
  );
  const remote = found.filter(({ row }) => isCheckedRemotely(row)).map(({ row }) => row.num);
  if (remote.length > 0) {
    for (const { monitorNum, check } of lastRemoteChecks(reader, JSON.stringify(remote))) {
      if (check.at > (checks.get(monitorNum)?.at ?? 0)) checks.set(monitorNum, check);
    }
  }
  const locationsOf = readMonitorLocations(
    reader,
    found.map(({ row }) => row),
  );
  return found.map((one) => ({
    ...one,
    components: components.get(one.row.id) ?? [],
    parents: parents.get(one.row.id) ?? [],
    locations: locationsOf(one.row),
    lastCheck: checks.get(one.row.num),
  }));
}
