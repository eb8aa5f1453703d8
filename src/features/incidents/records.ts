import type { Reader } from "../../db";
import { notFound } from "../../errors";
import type { ComponentStatus } from "../../domain/component-status";
import type { PageAddress } from "../pages";
import { inOrder, timelineOf } from "./rules";
import {
  findIncident,
  type IncidentRow,
  listNamings,
  listUpdateBodies,
  listUpdateHeads,
  type NamingRow,
  type UpdateRow,
} from "./store";

/** Number of updates per incident in lists. */
export const UPDATES_IN_LISTS = 20;

/** An update without its text: what the reckoning of an incident needs of it. */
export interface UpdateSummary extends Omit<UpdateRow, "body"> {
  components: NamingRow[];
}

export interface UpdateRecord extends UpdateSummary {
  body: string;
}

/** An incident with what it says of components, and its updates, newest first: all, or the newest. */
export interface IncidentRecord {
  row: IncidentRow;
  page: PageAddress;
  components: { id: string; name: string; status: ComponentStatus }[];
  updates: UpdateRecord[];
  /** True if components are left out because a document has no room for all of them. */
  isCut?: boolean;
}

export interface Found {
  row: IncidentRow;
  page: PageAddress;
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
  return toRecord(reader, found, listUpdateSummaries(reader, id));
}

/** Some of an incident's updates, newest first, and whether there are older ones. */
export interface IncidentPart {
  record: IncidentRecord;
  isMore: boolean;
}

/**
 * One published incident with its newest updates, or with those behind the update of the id `before`;
 * `limit` at most, of which alone the texts are read. Throws `not_found`, also for that update.
 */
export function getIncidentPart(
  reader: Reader,
  id: string,
  { before, limit }: { before: string | undefined; limit: number },
): IncidentPart {
  const found = getIncidentRow(reader, id, false);
  const summaries = listUpdateSummaries(reader, id);
  const place = before === undefined ? -1 : summaries.findIndex((head) => head.id === before);
  if (before !== undefined && place < 0) throw notFound("update");
  const shown = summaries.slice(place + 1, place + 1 + limit);
  const { updates } = toRecord(reader, found, shown);
  return {
    record: { ...found, components: affectedBy(found.row, summaries), updates },
    isMore: place + 1 + limit < summaries.length,
  };
}

/** All updates of one incident without their texts, newest first. */
export function listUpdateSummaries(reader: Reader, incidentId: string): UpdateSummary[] {
  return summariesOf(reader, [incidentId]).get(incidentId) ?? [];
}

/** Some incidents with their 20 newest updates each, by three statements however many there are. */
export function toRecords(reader: Reader, found: readonly Found[]): IncidentRecord[] {
  const ids = found.map(({ row }) => row.id);
  const summaries = summariesOf(reader, ids);
  const shown = new Map(ids.map((id) => [id, summaries.get(id)?.slice(0, UPDATES_IN_LISTS) ?? []]));
  const bodies = bodiesOf(reader, [...shown.values()].flat());
  return found.map(({ row, page }) => ({
    row,
    page,
    components: affectedBy(row, summaries.get(row.id) ?? []),
    updates: (shown.get(row.id) ?? []).map((head) => withBody(head, bodies)),
  }));
}

/** An incident with all of the updates that are given. */
export function toRecord(
  reader: Reader,
  { row, page }: Found,
  summaries: readonly UpdateSummary[],
): IncidentRecord {
  const bodies = bodiesOf(reader, summaries);
  const updates = summaries.map((head) => withBody(head, bodies));
  return { row, page, components: affectedBy(row, summaries), updates };
}

/** Every component that an incident ever named, by its last name, with what the incident says of it. */
export function affectedBy(
  row: IncidentRow,
  summaries: readonly UpdateSummary[],
): IncidentRecord["components"] {
  const { components } = timelineOf(row, summaries);
  const names = new Map(
    inOrder(summaries).flatMap((head) =>
      head.components.map((each) => [each.componentId, each.name]),
    ),
  );
  return [...components].map(([id, status]) => ({ id, name: names.get(id) ?? "", status }));
}

/** All updates of some incidents without their texts, newest first, by the ids of the incidents. */
export function summariesOf(
  reader: Reader,
  incidentIds: readonly string[],
): Map<string, UpdateSummary[]> {
  const ids = JSON.stringify(incidentIds);
  const namings = Map.groupBy(
    listNamings(reader, { ids }).map(({ naming }) => naming),
    (naming) => naming.updateId,
  );
  const summaries = listUpdateHeads(reader, { ids }).map((head) => ({
    ...head,
    components: namings.get(head.id) ?? [],
  }));
  return Map.groupBy(inOrder(summaries).reverse(), (head) => head.incidentId);
}

export function bodiesOf(
  reader: Reader,
  summaries: readonly UpdateSummary[],
): ReadonlyMap<string, string> {
  const ids = JSON.stringify(summaries.map((head) => head.id));
  return new Map(listUpdateBodies(reader, { ids }).map(({ id, body }) => [id, body]));
}

export function withBody(head: UpdateSummary, bodies: ReadonlyMap<string, string>): UpdateRecord {
  return { ...head, body: bodies.get(head.id) ?? "" };
}
