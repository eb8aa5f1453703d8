import type { Reader } from "../../db";
import { notFound } from "../../errors";
import type { ComponentStatus } from "../../kernel/component-status";
import { inOrder, timelineOf } from "./rules";
import {
  findIncident,
  type IncidentRow,
  listEndedRows,
  listNamings,
  listNewestRows,
  listOpenRows,
  listRowsBetween,
  listUpdateBodies,
  listUpdateHeads,
  type NamingRow,
  type UpdateRow,
} from "./store";

/** How many updates of each incident lists carry. */
export const UPDATES_IN_LISTS = 20;

/** An update without its text: what the reckoning of an incident needs of it. */
export interface UpdateHead extends Omit<UpdateRow, "body"> {
  components: NamingRow[];
}

export interface UpdateRecord extends UpdateHead {
  body: string;
}

/** An incident with what it says of components, and its updates, newest first: all, or the newest. */
export interface IncidentRecord {
  row: IncidentRow;
  pageSlug: string;
  components: { id: string; name: string; status: ComponentStatus }[];
  updates: UpdateRecord[];
}

export interface Found {
  row: IncidentRow;
  pageSlug: string;
}

/** One incident. A draft is there only for those who see drafts. Throws `not_found`. */
export function getIncidentRow(reader: Reader, id: string, maySeeDrafts: boolean): Found {
  const found = findIncident(reader, { id });
  if (!found || (found.row.draft && !maySeeDrafts)) throw notFound("incident");
  return found;
}

/** One incident with all of its updates. Throws `not_found`. */
export function getIncident(reader: Reader, id: string, maySeeDrafts: boolean): IncidentRecord {
  const found = getIncidentRow(reader, id, maySeeDrafts);
  return toRecord(reader, found, listHeads(reader, id));
}

/** The published, open incidents of a page, newest start first: 50 at most, each with its 20 newest updates. */
export function listOpenIncidents(reader: Reader, page: { pageId: string }): IncidentRecord[] {
  return toRecords(reader, listOpenRows(reader, page));
}

/**
 * The published incidents of a page that started at `from` or later and before `to` (unix ms), newest
 * start first, each with its 20 newest updates.
 */
export function listIncidentsBetween(
  reader: Reader,
  span: { pageId: string; from: number; to: number },
): IncidentRecord[] {
  return toRecords(reader, listRowsBetween(reader, span));
}

/**
 * The published incidents of a page that were resolved at `since` (unix ms) or later, newest start first:
 * of more than `limit` those that were resolved last. Each has its 20 newest updates.
 */
export function listEndedIncidents(
  reader: Reader,
  wanted: { pageId: string; since: number; limit: number },
): IncidentRecord[] {
  const found = listEndedRows(reader, wanted);
  return toRecords(
    reader,
    found.toSorted((a, b) => b.row.startedAt - a.row.startedAt || (a.row.id < b.row.id ? 1 : -1)),
  );
}

/** The published incidents of a page that started last, newest start first, each with its 20 newest updates. */
export function listNewestIncidents(
  reader: Reader,
  wanted: { pageId: string; limit: number },
): IncidentRecord[] {
  return toRecords(reader, listNewestRows(reader, wanted));
}

/** All updates of one incident without their texts, newest first. */
export function listHeads(reader: Reader, incidentId: string): UpdateHead[] {
  return headsOf(reader, [incidentId]).get(incidentId) ?? [];
}

/** Some incidents with their 20 newest updates each, by three statements however many there are. */
export function toRecords(reader: Reader, found: readonly Found[]): IncidentRecord[] {
  const ids = found.map(({ row }) => row.id);
  const heads = headsOf(reader, ids);
  const shown = new Map(ids.map((id) => [id, heads.get(id)?.slice(0, UPDATES_IN_LISTS) ?? []]));
  const bodies = bodiesOf(reader, [...shown.values()].flat());
  return found.map(({ row, pageSlug }) => ({
    row,
    pageSlug,
    components: affectedBy(row, heads.get(row.id) ?? []),
    updates: (shown.get(row.id) ?? []).map((head) => withBody(head, bodies)),
  }));
}

/** An incident with all of the updates that are given. */
export function toRecord(
  reader: Reader,
  { row, pageSlug }: Found,
  heads: readonly UpdateHead[],
): IncidentRecord {
  const bodies = bodiesOf(reader, heads);
  const updates = heads.map((head) => withBody(head, bodies));
  return { row, pageSlug, components: affectedBy(row, heads), updates };
}

/** Every component that an incident ever named, by its last name, with what the incident says of it. */
export function affectedBy(
  row: IncidentRow,
  heads: readonly UpdateHead[],
): IncidentRecord["components"] {
  const { components } = timelineOf(row, heads);
  const names = new Map(
    inOrder(heads).flatMap((head) => head.components.map((each) => [each.componentId, each.name])),
  );
  return [...components].map(([id, status]) => ({ id, name: names.get(id) ?? "", status }));
}

function headsOf(reader: Reader, incidentIds: readonly string[]): Map<string, UpdateHead[]> {
  const ids = JSON.stringify(incidentIds);
  const namings = Map.groupBy(
    listNamings(reader, { ids }).map(({ naming }) => naming),
    (naming) => naming.updateId,
  );
  const heads = listUpdateHeads(reader, { ids }).map((head) => ({
    ...head,
    components: namings.get(head.id) ?? [],
  }));
  const byIncident = Map.groupBy(inOrder(heads).reverse(), (head) => head.incidentId);
  return byIncident;
}

function bodiesOf(reader: Reader, heads: readonly UpdateHead[]): ReadonlyMap<string, string> {
  const ids = JSON.stringify(heads.map((head) => head.id));
  return new Map(listUpdateBodies(reader, { ids }).map(({ id, body }) => [id, body]));
}

function withBody(head: UpdateHead, bodies: ReadonlyMap<string, string>): UpdateRecord {
  return { ...head, body: bodies.get(head.id) ?? "" };
}
