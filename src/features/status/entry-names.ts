import type { Reader } from "../../db";
import { sha256Hex } from "../../kernel/hash";
import { lazy } from "../../kernel/lazy";
import { DAY_MS, startOfDay } from "../../kernel/time";
import { findIncidentNames } from "../incidents";
import { findMaintenanceNames } from "../maintenance";
import { type HistoryEntry, LONGEST_MAINTENANCE_MS } from "./history";

/** Maximum number of names each of resolved incidents and of maintenances, newest first. */
const NAMES_MAX = 2_000;

/** Kind and name of an incident or a maintenance. */
export interface EntryName {
  kind: HistoryEntry["subject"]["kind"];
  name: string;
}

/** Names of the incidents and maintenances in the charts of a page. */
export interface EntryNames {
  /** Hash of all names. */
  version: string;
  /** Finds an incident or a maintenance by its id. Drafts, deleted and older ones are missing. */
  find(id: string): EntryName | undefined;
}

/** Reads the names of the incidents and maintenances of the last `days` UTC days up to `now` (unix ms). */
export function readEntryNames(
  reader: Reader,
  { pageId, days, now }: { pageId: string; days: number; now: number },
): EntryNames {
  const since = startOfDay(now) - (days - 1) * DAY_MS;
  const query = { pageId, limit: NAMES_MAX };
  const incidents = findIncidentNames(reader, { ...query, since })?.names ?? "{}";
  const from = since - LONGEST_MAINTENANCE_MS;
  const maintenance = findMaintenanceNames(reader, { ...query, from })?.names ?? "{}";
  // Most pages are made of cached rows, which only need the version.
  const names = lazy(
    () => new Map([...namesIn(incidents, "incident"), ...namesIn(maintenance, "maintenance")]),
  );
  return { version: sha256Hex(incidents + maintenance), find: (id) => names().get(id) };
}

function namesIn(json: string, kind: EntryName["kind"]): [string, EntryName][] {
  return Object.entries<string>(JSON.parse(json)).map(([id, name]) => [id, { kind, name }]);
}
