import type { Reader } from "../../db/statements";
import { NEWEST } from "../../domain/ids";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import { listLimits, TRUNCATED_COMPONENTS_MAX, UPDATES_IN_LISTS } from "../timeline/list-size";
import {
  countAllRows,
  countRows,
  listFirstNamings,
  listNewestUpdates,
  listRowCounts,
  listTextSizes,
} from "./list-store";
import {
  affectedBy,
  automationsOf,
  bodiesOf,
  type IncidentWithPage,
  type IncidentRecord,
  summariesOf,
  type UpdateSummary,
  withBody,
} from "./records";
import { findIncident, listIncidentRows, listNewestRows, listOpenRows } from "./store";

/** Function that reads the records of incidents, in their order, each with its 20 newest updates. */
export type ReadRecords = (
  reader: Reader,
  incidents: readonly IncidentWithPage[],
) => IncidentRecord[];

/** Lists the published open incidents of a page, newest start first: at most 50. */
export function listOpenIncidents(
  reader: Reader,
  page: { pageId: string },
  read: ReadRecords = toDocumentRecords,
): IncidentRecord[] {
  return read(reader, listOpenRows(reader, page));
}

/** Lists incidents in the order of their ids. Deleted ones are left out. */
export function listIncidentsById(
  reader: Reader,
  ids: readonly string[],
  read: ReadRecords = toDocumentRecords,
): IncidentRecord[] {
  return read(
    reader,
    ids.flatMap((id) => findIncident(reader, { id }) ?? []),
  );
}

/** Lists the published incidents of a page that started last, newest start first. */
export function listNewestIncidents(
  reader: Reader,
  query: { pageId: string; limit: number },
  read: ReadRecords = toDocumentRecords,
): IncidentRecord[] {
  return read(reader, listNewestRows(reader, query));
}

/** Longer than any name. */
const SEARCH_MAX = 1_000;

/** Filters of the list of incidents. An omitted filter matches everything. */
export interface IncidentQuery {
  pageId?: string | undefined;
  status?: IncidentStatus | undefined;
  /** True for incidents that are not resolved, false for resolved ones. */
  isOpen?: boolean | undefined;
  /** True for drafts only, false for published incidents. */
  isDraft?: boolean | undefined;
  impact?: Impact | undefined;
  /** Id of a component that the incident names. */
  componentId?: string | undefined;
  /** Part of the name, or of the name of such a component. The case of ASCII letters is ignored. */
  search?: string | undefined;
  /** Id of an incident: only older ones match. */
  before?: string | undefined;
  limit: number;
}

/** Lists incidents of every page, including drafts, newest first, within the size limit of a document. */
export function listIncidents(reader: Reader, query: IncidentQuery): IncidentRecord[] {
  const incidents = listIncidentRows(reader, {
    pageId: query.pageId ?? null,
    componentId: query.componentId ?? null,
    status: query.status ?? null,
    open: query.isOpen,
    since: null,
    until: null,
    draftsToo: query.isDraft === false ? 0 : 1,
    draftsOnly: query.isDraft === true ? 1 : 0,
    impact: query.impact ?? null,
    search: searchOf(query),
    before: query.before ?? NEWEST,
    limit: query.limit,
  });
  return toDocumentRecords(reader, incidents);
}

/** Number of incidents up to which the matches of a search are counted, which takes about 20 ms. */
const COUNTED_MAX = 20_000;

/**
 * Counts the incidents of `listIncidents`, drafts apart. Undefined for a search or a component among so
 * many incidents that counting takes too long.
 */
export function countIncidents(
  reader: Reader,
  query: Pick<IncidentQuery, "pageId" | "impact" | "componentId" | "search">,
): { open: number; drafts: number; resolved: number } | undefined {
  const search = searchOf(query);
  const { pageId = null, componentId = null, impact = null } = query;
  const isSlow = search !== null || componentId !== null;
  if (isSlow && (countAllRows(reader, {})?.count ?? 0) > COUNTED_MAX) return undefined;
  return countRows(reader, { pageId, componentId, impact, search });
}

function searchOf({ search }: Pick<IncidentQuery, "search">): string | null {
  return search?.trim().slice(0, SEARCH_MAX) || null;
}

/** Lists the incidents of a component, drafts included, newest first, without their updates. */
export function listIncidentsOfComponent(
  reader: Reader,
  query: { componentId: string; limit: number },
): IncidentWithPage[] {
  return listIncidentRows(reader, {
    ...query,
    pageId: null,
    status: null,
    open: undefined,
    since: null,
    until: null,
    draftsToo: 1,
    before: NEWEST,
  });
}

export const { countForPage, countComplete } = listLimits({ listRowCounts, listTextSizes });

/** Reads records within the size limit of a document: the first ones complete, the others truncated. */
const toDocumentRecords: ReadRecords = (reader, incidents) =>
  readRecords(reader, incidents, countComplete(reader, idsOf(incidents)));

/**
 * Reads the records of incidents, in their order, each with its 20 newest updates. Those of the first
 * `completeCount` name all components, the others as many as `listTruncatedUpdates` returns.
 */
export function readRecords(
  reader: Reader,
  incidents: readonly IncidentWithPage[],
  completeCount = incidents.length,
): IncidentRecord[] {
  const read = listUpdates(reader, idsOf(incidents), completeCount);
  const shown = read.map(({ updates }) => updates.slice(0, UPDATES_IN_LISTS));
  const bodies = bodiesOf(reader, shown.flat());
  const complete = incidents.slice(0, completeCount);
  const automations = automationsOf(
    reader,
    complete.map(({ row }) => row),
  );
  return incidents.map(({ row, page }, index) => ({
    row,
    page,
    components: affectedBy(row, read[index]?.updates ?? [], automations.get(row.id)),
    updates: (shown[index] ?? []).map((update) => withBody(update, bodies)),
    ...(read[index]?.isTruncated ? { isTruncated: true } : {}),
  }));
}

/** The updates of one incident without their texts, newest first. */
export interface UpdateList {
  updates: readonly UpdateSummary[];
  /** True if updates or components that they name are left out. */
  isTruncated: boolean;
}

/** Reads the updates of incidents in the order of the ids: all of the first `count`, then truncated lists. */
export function listUpdates(reader: Reader, ids: readonly string[], count: number): UpdateList[] {
  const complete = ids.slice(0, count);
  const updates = summariesOf(reader, complete);
  return [
    ...complete.map((id) => ({ updates: updates.get(id) ?? [], isTruncated: false })),
    ...listTruncatedUpdates(reader, ids.slice(count)),
  ];
}

/**
 * Reads the 20 newest updates of incidents in the order of the ids, and the first 20 components that
 * these name, starting at the newest update.
 */
export function listTruncatedUpdates(reader: Reader, incidentIds: readonly string[]): UpdateList[] {
  if (incidentIds.length === 0) return [];
  const each = UPDATES_IN_LISTS + 1;
  const read = listNewestUpdates(reader, { ids: JSON.stringify(incidentIds), each });
  const byIncident = Map.groupBy(read, (update) => update.incidentId);
  return incidentIds.map((id) => {
    const newest = byIncident.get(id) ?? [];
    const ids = JSON.stringify(newest.map((update) => update.id));
    const namings = listFirstNamings(reader, { ids, most: TRUNCATED_COMPONENTS_MAX + 1 });
    const named = Map.groupBy(
      namings.slice(0, TRUNCATED_COMPONENTS_MAX).map(({ naming }) => naming),
      (naming) => naming.updateId,
    );
    return {
      updates: newest
        .slice(0, UPDATES_IN_LISTS)
        .map((update) => ({ ...update, components: named.get(update.id) ?? [] })),
      isTruncated: newest.length > UPDATES_IN_LISTS || namings.length > TRUNCATED_COMPONENTS_MAX,
    };
  });
}

function idsOf(incidents: readonly IncidentWithPage[]): string[] {
  return incidents.map(({ row }) => row.id);
}
