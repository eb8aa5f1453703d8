/*
 * Locations of monitors: those that bodies name, the evaluation at each, and what readers see of them. A monitor that
 * only the server checks has no evaluation besides its own.
 */
import { invalidParameter } from "../../base/errors";
import { isPassive, LOCAL, type MonitorType } from "../../base/status";
import { HOUR_MS } from "../../base/time";
import type { FieldErrors } from "../../base/validation";
import type { Reader, Tx } from "../../db/statements";
import type { Step } from "../../egress/steps";
import { findLocation, findLocationByRef, listLocationNames } from "../locations/store";
import { type CheckRow, ofMonitors } from "./checks-store";
import { seriesOf } from "./latency";
import {
  deleteLocationState,
  findNextStateNum,
  insertLocationStates,
  listLastLocationChecks,
  listLocationStates,
  type LocationStateRow,
  resetLocationStatesOf,
  saveAtLocation,
} from "./location-store";
import type { LocationCheck, CheckNowResult } from "./monitoring";
import { evaluationOf, newEvaluation } from "./rules";
import { findMonitorState, type MonitorRow } from "./store";

/** A location of a monitor. */
export interface MonitorLocation {
  id: string;
  ref: string;
  name: string;
}

/** The server as a location. */
const SERVER: MonitorLocation = { id: LOCAL, ref: LOCAL, name: LOCAL };

/** Returns true for types that are checked from somewhere: others wait for reports, or cannot be checked. */
export function hasLocations(type: MonitorType): boolean {
  return !isPassive(type) && type !== "unsupported";
}

/** Returns true if other locations than the server check a monitor. */
export function isCheckedRemotely({ locations }: Pick<MonitorRow, "locations">): boolean {
  return locations.length > 1 || locations[0] !== LOCAL;
}

/**
 * Returns the ids of the locations that a body names by id or ref, in their order. Adds an error for each that does not
 * exist or occurs twice, and for those that the type does not allow.
 */
export function readLocations(
  reader: Reader,
  errors: FieldErrors,
  references: readonly string[],
  type: MonitorType | undefined,
): string[] {
  const ids: string[] = [];
  for (const [index, reference] of references.entries()) {
    // An empty reference stands for an entry that breaks the schema and has its error already.
    if (reference === "") continue;
    const id = findLocationId(reader, reference);
    if (id === undefined) errors.add(["locations", index], "does not exist");
    else if (ids.includes(id)) errors.add(["locations", index], "names the same location twice");
    else ids.push(id);
  }
  const isOnlyServer = ids.every((id) => id === LOCAL);
  if (type !== undefined && !hasLocations(type)) {
    if (!isOnlyServer) errors.add(["locations"], `must be empty for the type ${type}`);
    return [LOCAL];
  }
  if (references.length === 0) errors.add(["locations"], "must have at least one entry");
  if (type === "docker" && !isOnlyServer) {
    errors.add(
      ["locations"],
      "must be local for the type docker: only the server is connected to its Docker hosts",
    );
  }
  return ids;
}

/** Returns the id of the location that an id or a ref names; undefined for an unknown reference. */
function findLocationId(reader: Reader, reference: string): string | undefined {
  if (reference === LOCAL) return LOCAL;
  const found =
    findLocationByRef(reader, { ref: reference }) ?? findLocation(reader, { id: reference });
  return found?.id;
}

/**
 * Returns the locations of monitors by their ids, in one statement for any number; none if only the server checks them.
 */
export function readMonitorLocations(
  reader: Reader,
  rows: readonly Pick<MonitorRow, "type" | "locations">[],
): (row: Pick<MonitorRow, "type" | "locations">) => readonly MonitorLocation[] {
  const ids = new Set(rows.flatMap(({ locations }) => locations));
  ids.delete(LOCAL);
  const byId = new Map([[LOCAL, SERVER]]);
  for (const location of listLocationNames(reader, [...ids])) byId.set(location.id, location);
  return ({ type, locations }) =>
    hasLocations(type) ? locations.map((id) => byId.get(id) ?? { id, ref: id, name: id }) : [];
}

/**
 * Begins the evaluations of a monitor at locations that it did not have in `before`; undefined for a new monitor. The
 * server goes on where the monitor was while only the server checked it.
 */
export function saveLocationStates(
  tx: Tx,
  monitor: Pick<MonitorRow, "num" | "locations" | "paused">,
  at: number,
  before?: Pick<MonitorRow, "locations">,
): void {
  if (!isCheckedRemotely(monitor)) return;
  const { num: monitorNum, paused } = monitor;
  const state = paused ? "paused" : "pending";
  const wasAlone = before !== undefined && !isCheckedRemotely(before);
  const stored = new Map(
    listLocationStates(tx, { nums: JSON.stringify([monitorNum]) }).map((row) => [
      row.locationId,
      row,
    ]),
  );
  const local = stored.get(LOCAL);
  // Without results of its own, which are those of the monitor.
  if (wasAlone && local) {
    deleteLocationState(tx, { num: local.num });
    stored.delete(LOCAL);
  }
  const joined = monitor.locations.filter((id) => wasAlone || !before?.locations.includes(id));
  const begun = newEvaluation(state, at);
  for (const { num } of joined.flatMap((id) => stored.get(id) ?? [])) {
    saveAtLocation(tx, { ...begun, num });
  }
  const { num: first = 1 } = findNextStateNum(tx, {}) ?? {};
  insertLocationStates(
    tx,
    joined
      .filter((id) => !stored.has(id))
      .map((locationId, index) => ({
        ...begun,
        ...(wasAlone && locationId === LOCAL && !paused ? serverState(tx, monitorNum) : {}),
        num: first + index,
        monitorNum,
        locationId,
        rolledUntil: at - (at % HOUR_MS),
      })),
  );
}

/** Begins the evaluations of monitors at all their locations again, at a time (unix ms). */
export function restartLocationStates(
  tx: Tx,
  monitors: readonly Pick<MonitorRow, "num" | "locations">[],
  state: "paused" | "pending",
  at: number,
): void {
  const remote = monitors.filter(isCheckedRemotely);
  if (remote.length === 0) return;
  const monitorNums = JSON.stringify(remote.map(({ num }) => num));
  resetLocationStatesOf(tx, { monitorNums, state, at });
}

/** Returns the evaluation that a monitor had while only the server checked it. A location knows no parents. */
function serverState(tx: Tx, monitorNum: number): Partial<LocationStateRow> {
  const found = findMonitorState(tx, { monitorNum });
  return !found || found.state === "unreachable" ? {} : evaluationOf(found);
}

/** Evaluation of a monitor at one of its locations, with the last result from there. */
export interface StateAtLocation {
  location: MonitorLocation;
  state: LocationStateRow;
  /** Undefined before the first check, and after its result was deleted. */
  lastCheck: CheckRow | undefined;
}

/** Lists the evaluations of a monitor at its locations, in their order; none if only the server checks it. */
export function listStatesAtLocations(
  reader: Reader,
  { row, locations }: { row: MonitorRow; locations: readonly MonitorLocation[] },
): StateAtLocation[] {
  if (!isCheckedRemotely(row)) return [];
  const nums = JSON.stringify([row.num]);
  const checks = new Map([
    ...ofMonitors.listLastChecks(reader, { nums }).map((own) => [LOCAL, own.row] as const),
    ...lastRemoteChecks(reader, nums).map((own) => [own.locationId, own.check] as const),
  ]);
  const states = new Map(listLocationStates(reader, { nums }).map((own) => [own.locationId, own]));
  return locations.flatMap((location) => {
    const state = states.get(location.id);
    return state ? [{ location, state, lastCheck: checks.get(location.id) }] : [];
  });
}

/** Result of a check that was made at once at one of a monitor's locations. */
export interface NamedLocationCheck extends LocationCheck {
  location: MonitorLocation;
}

/**
 * Returns the results of a check that was made at once for each location of a monitor, in their order, also for those
 * without one; undefined if only the server checks it. `steps` are those of the server.
 */
export function checksByLocation(
  requested: CheckNowResult,
  steps: readonly Step[],
  locations: readonly MonitorLocation[],
): NamedLocationCheck[] | undefined {
  const { locations: others, ...own } = requested;
  if (!others) return undefined;
  return locations.map((location) => {
    const locationId = location.id;
    const found = others.find((each) => each.locationId === locationId);
    if (found) return { ...found, location };
    return locationId === LOCAL
      ? { location, locationId, check: own, steps }
      : { location, locationId, steps: [], error: "The location was not asked." };
  });
}

/** A result of a monitor. */
export interface LocatedCheck extends CheckRow {
  /** Undefined for a monitor that only the server checks. */
  location: MonitorLocation | undefined;
  /** Position in the list, which is lower for older results. */
  position: number;
}

/** Number of positions of one millisecond: one for each location of a monitor. */
const POSITIONS_PER_MS = 16;

/**
 * Lists results of a monitor older than a position, newest first: from one location, or from all that check it now. The
 * position is their time (unix ms) for one location.
 */
export function listChecksAt(
  reader: Reader,
  { row, locations }: { row: MonitorRow; locations: readonly MonitorLocation[] },
  query: {
    location?: MonitorLocation | undefined;
    before?: number | undefined;
    limit: number;
  },
): LocatedCheck[] {
  const { location, before = Number.MAX_SAFE_INTEGER, limit } = query;
  const monitorNum = row.num;
  const only = location?.id ?? (isCheckedRemotely(row) ? undefined : LOCAL);
  const series = seriesOf(reader, [monitorNum], only).get(monitorNum) ?? [];
  const read = (id: string, olderThan: number) =>
    series
      .filter(({ locationId }) => locationId === id)
      .flatMap(({ results, num }) =>
        results.listChecksBefore(reader, { monitorNum: num, before: olderThan, limit }),
      )
      .map((check) => ({ ...check, monitorNum }));
  if (only !== undefined) {
    return read(only, before).map((check) => ({ ...check, location, position: check.at }));
  }
  // Several locations may have a result of the same millisecond.
  return locations
    .flatMap((each, index) => {
      const rank = POSITIONS_PER_MS - 1 - index;
      const olderThan = Math.ceil((before - rank) / POSITIONS_PER_MS);
      return read(each.id, olderThan).map((check) => ({
        ...check,
        location: each,
        position: check.at * POSITIONS_PER_MS + rank,
      }));
    })
    .sort((a, b) => b.position - a.position)
    .slice(0, limit);
}

/**
 * Returns the location that the query parameter `location` names by id or ref; undefined without the parameter. Throws
 * `invalid_request` for an unknown one.
 */
export function readLocationFilter(
  reader: Reader,
  { location }: { location?: string | undefined },
): MonitorLocation | undefined {
  if (location === undefined) return undefined;
  const id = findLocationId(reader, location);
  if (id === undefined) throw invalidParameter("location", "names no location");
  if (id === LOCAL) return SERVER;
  const found = findLocation(reader, { id });
  return found && { id, ref: found.ref, name: found.name };
}

/** Lists the last results from other locations of monitors (`nums`: a JSON list), as those of the server. */
export function lastRemoteChecks(reader: Reader, nums: string) {
  return listLastLocationChecks(reader, { nums }).map(({ monitorNum, locationId, row }) => {
    const { at, outcome, latencyMs, message } = row;
    const check: CheckRow = { monitorNum, at, outcome, latencyMs, message };
    return { monitorNum, locationId, check };
  });
}
