import type { Reader } from "../../db";
import { countWithin, CUT_COMPONENTS, DOCUMENT_ROWS_MAX, LIST_ROWS_MAX } from "../timeline";
import {
  affectedBy,
  bodiesOf,
  type Found,
  summariesOf,
  type IncidentRecord,
  toRecords,
  type UpdateSummary,
  UPDATES_IN_LISTS,
  withBody,
} from "./records";
import { listFirstNamings, listNewestHeads, listRowCounts, listTextSizes } from "./list-store";
import { listNewestRows, listOpenRows } from "./store";

/** Reads the records of incidents that were found, in their order, each with its 20 newest updates. */
export type ReadRecords = (reader: Reader, found: readonly Found[]) => IncidentRecord[];

/** The published, open incidents of a page, newest start first: 50 at most, each with its 20 newest updates. */
export function listOpenIncidents(
  reader: Reader,
  page: { pageId: string },
  read: ReadRecords = toDocumentRecords,
): IncidentRecord[] {
  return read(reader, listOpenRows(reader, page));
}

/** The published incidents of a page that started last, newest start first, each with its 20 newest updates. */
export function listNewestIncidents(
  reader: Reader,
  desired: { pageId: string; limit: number },
  read: ReadRecords = toDocumentRecords,
): IncidentRecord[] {
  return read(reader, listNewestRows(reader, desired));
}

/** Returns the number of leading incidents, at least 1, that one page of an API list may show. */
export function countForPage(reader: Reader, found: readonly Found[]): number {
  const ids = idsOf(found);
  const desired = JSON.stringify(ids);
  const texts = new Map(
    listTextSizes(reader, { ids: desired, each: UPDATES_IN_LISTS }).map(({ id, bytes }) => [
      id,
      bytes,
    ]),
  );
  const sizes = listRowCounts(reader, { ids: desired, most: LIST_ROWS_MAX + 1 }).map((size) => ({
    ...size,
    textBytes: texts.get(size.id) ?? 0,
  }));
  return Math.max(1, countWithin(ids, sizes, LIST_ROWS_MAX));
}

/** Returns the number of leading incidents that a document of several shows with all components. */
export function countWhole(reader: Reader, incidentIds: readonly string[]): number {
  return countLeading(reader, incidentIds, DOCUMENT_ROWS_MAX);
}

/**
 * Reads the records of a document that lists all of some incidents. Those beyond its budget are cut as
 * by `toCutRecords`.
 */
export const toDocumentRecords: ReadRecords = (reader, found) => {
  const count = countWhole(reader, idsOf(found));
  return [...toRecords(reader, found.slice(0, count)), ...toCutRecords(reader, found.slice(count))];
};

/** The newest updates of an incident, of which only some named components were read. */
interface CutHeads {
  /** Newest first. */
  summaries: UpdateSummary[];
  /** True if the incident may name more components than the updates. */
  isCut: boolean;
}

/**
 * Reads the 20 newest updates of incidents without their texts, and the first 20 components that these
 * name, from the newest update on. Returns them in the order of the ids.
 */
export function listCutHeads(reader: Reader, incidentIds: readonly string[]): CutHeads[] {
  const each = UPDATES_IN_LISTS + 1;
  const read = listNewestHeads(reader, { ids: JSON.stringify(incidentIds), each });
  const byIncident = Map.groupBy(read, (head) => head.incidentId);
  return incidentIds.map((id) => {
    const newest = byIncident.get(id) ?? [];
    const ids = JSON.stringify(newest.map((head) => head.id));
    const namings = listFirstNamings(reader, { ids, most: CUT_COMPONENTS + 1 });
    const named = Map.groupBy(
      namings.slice(0, CUT_COMPONENTS).map(({ naming }) => naming),
      (naming) => naming.updateId,
    );
    const summaries = newest
      .slice(0, UPDATES_IN_LISTS)
      .map((head) => ({ ...head, components: named.get(head.id) ?? [] }));
    const isCut = newest.length > UPDATES_IN_LISTS || namings.length > CUT_COMPONENTS;
    return { summaries, isCut };
  });
}

/**
 * Reads the updates of incidents without their texts, newest first, by the ids of the incidents: all of
 * them, and of incidents beyond the budget of a document those that `listCutHeads` returns.
 */
export function listDocumentHeads(
  reader: Reader,
  incidentIds: readonly string[],
): Map<string, CutHeads> {
  const count = countWhole(reader, incidentIds);
  const whole = summariesOf(reader, incidentIds.slice(0, count));
  const rest = incidentIds.slice(count);
  const cut = rest.length === 0 ? [] : listCutHeads(reader, rest);
  return new Map(
    incidentIds.map((id, index) => [
      id,
      cut[index - count] ?? { summaries: whole.get(id) ?? [], isCut: false },
    ]),
  );
}

/** Reads incidents with their updates as `listCutHeads` does, and the texts of these. */
export const toCutRecords: ReadRecords = (reader, found) => {
  if (found.length === 0) return [];
  const cut = listCutHeads(reader, idsOf(found));
  const bodies = bodiesOf(
    reader,
    cut.flatMap(({ summaries }) => summaries),
  );
  return found.map(({ row, page }, index) => {
    const { summaries = [], isCut = false } = cut[index] ?? {};
    const updates = summaries.map((head) => withBody(head, bodies));
    const components = affectedBy(row, summaries);
    return { row, page, components, updates, ...(isCut ? { isCut } : {}) };
  });
};

function countLeading(reader: Reader, ids: readonly string[], most: number): number {
  return countWithin(
    ids,
    listRowCounts(reader, { ids: JSON.stringify(ids), most: most + 1 }),
    most,
  );
}

function idsOf(found: readonly Found[]): string[] {
  return found.map(({ row }) => row.id);
}
