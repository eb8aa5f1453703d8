import type { Reader } from "../../db";
import { notFound } from "../../errors";
import type { ComponentStatus } from "../../kernel/component-status";
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
  return toRecord(reader, found, listHeads(reader, id));
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
  const heads = listHeads(reader, id);
  const place = before === undefined ? -1 : heads.findIndex((head) => head.id === before);
  if (before !== undefined && place < 0) throw notFound("update");
  const shown = heads.slice(place + 1, place + 1 + limit);
  const { updates } = toRecord(reader, found, shown);
  return {
    record: { ...found, components: affectedBy(found.row, heads), updates },
    isMore: place + 1 + limit < heads.length,
  };
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
  return found.map(({ row, page }) => ({
    row,
    page,
    components: affectedBy(row, heads.get(row.id) ?? []),
    updates: (shown.get(row.id) ?? []).map((head) => withBody(head, bodies)),
  }));
}

/** An incident with all of the updates that are given. */
export function toRecord(
  reader: Reader,
  { row, page }: Found,
  heads: readonly UpdateHead[],
): IncidentRecord {
  const bodies = bodiesOf(reader, heads);
  const updates = heads.map((head) => withBody(head, bodies));
  return { row, page, components: affectedBy(row, heads), updates };
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

/** All updates of some incidents without their texts, newest first, by the ids of the incidents. */
export function headsOf(reader: Reader, incidentIds: readonly string[]): Map<string, UpdateHead[]> {
  const ids = JSON.stringify(incidentIds);
  const namings = Map.groupBy(
    listNamings(reader, { ids }).map(({ naming }) => naming),
    (naming) => naming.updateId,
  );
  const heads = listUpdateHeads(reader, { ids }).map((head) => ({
    ...head,
    components: namings.get(head.id) ?? [],
  }));
  return Map.groupBy(inOrder(heads).reverse(), (head) => head.incidentId);
}

export function bodiesOf(
  reader: Reader,
  heads: readonly UpdateHead[],
): ReadonlyMap<string, string> {
  const ids = JSON.stringify(heads.map((head) => head.id));
  return new Map(listUpdateBodies(reader, { ids }).map(({ id, body }) => [id, body]));
}

export function withBody(head: UpdateHead, bodies: ReadonlyMap<string, string>): UpdateRecord {
  return { ...head, body: bodies.get(head.id) ?? "" };
}
