/*
 * Reads incidents as records: a row with its page, updates and components, which are computed from the updates. One
 * incident first, then lists within the size of a document, summaries for histories, and the cache of records.
 */
import { LRUCache } from "lru-cache";
import { notFound } from "../../base/errors";
import { NEWEST } from "../../base/ids";
import type { ComponentStatus, Impact, IncidentStatus } from "../../base/status";
import { type Order, partOf, readPlace } from "../../db/orders";
import type { Reader } from "../../db/statements";
import type { PageAddress } from "../pages/addresses";
import { spanParams, type SummaryCursor, type SummarySpan } from "../timeline/store";
import {
  listLimits,
  requireUpdate,
  TRUNCATED_COMPONENTS_MAX,
  UPDATES_IN_LISTS,
} from "../timeline/updates";
import { automationOf, automationsOf } from "./outage-store";
import { type Automation, componentsOf, inOrder, timelineOf } from "./rules";
import {
  countAllRows,
  countRows,
  findFirstSummary,
  findIncident,
  type IncidentRow,
  listEndedSummaries,
  listFirstNamings,
  listIdsInOrder,
  listIncidentRows,
  listNames,
  listNamings,
  listNewestRows,
  listNewestUpdates,
  listOpenRows,
  listOpenSummaries,
  listRowCounts,
  listSummariesBetween,
  listTextSizes,
  listUpdateBodies,
  listUpdatesWithoutBody,
  type NamingRow,
  type UpdateRow,
} from "./store";

/** An update without its text. The status, times and causes of an incident are computed from these. */
export interface UpdateSummary extends Omit<UpdateRow, "body"> {
  components: NamingRow[];
}

export interface UpdateRecord extends UpdateSummary {
  body: string;
}

export interface IncidentWithPage {
  row: IncidentRow;
  page: PageAddress;
}

/** An incident with all of its updates, newest first, without their texts. */
export interface IncidentWithUpdates extends IncidentWithPage {
  updates: readonly UpdateSummary[];
}

/** An update and its incident. */
export interface UpdateOfIncident {
  row: IncidentRow;
  update: UpdateRecord;
}

/** An incident with the components that it names, and all or the newest updates, newest first. */
export interface IncidentRecord extends IncidentWithPage {
  components: { id: string; name: string; status: ComponentStatus }[];
  updates: UpdateRecord[];
  /** True if components are left out because a document has no room for all of them. */
  isTruncated?: boolean;
}

/** Returns one incident. Throws `not_found`, also for a draft unless `canSeeDrafts`. */
export function getIncidentRow(
  reader: Reader,
  id: string,
  canSeeDrafts: boolean,
): IncidentWithPage {
  const incident = findIncident(reader, { id });
  if (!incident || (incident.row.draft && !canSeeDrafts)) throw notFound("incident");
  return incident;
}

/** Returns one incident with all of its updates and their texts. Throws as `getIncidentRow` does. */
export function getIncident(reader: Reader, id: string, canSeeDrafts: boolean): IncidentRecord {
  const incident = getIncidentWithUpdates(reader, id, canSeeDrafts);
  const { row, updates } = incident;
  const components = affectedBy(row, updates, automationOf(reader, row));
  return { ...incident, components, updates: withTexts(reader, updates) };
}

/** Returns one incident with all of its updates, without their texts. Throws as `getIncidentRow` does. */
export function getIncidentWithUpdates(
  reader: Reader,
  id: string,
  canSeeDrafts: boolean,
): IncidentWithUpdates {
  const incident = getIncidentRow(reader, id, canSeeDrafts);
  return { ...incident, updates: listUpdateSummaries(reader, id) };
}

/**
 * Returns a published incident with at most `limit` updates: the newest, or those that are older than
 * the update `before`. Reads only the texts of these. Throws `not_found`, also for that update.
 */
export function getIncidentPart(
  reader: Reader,
  id: string,
  { before, limit }: { before: string | undefined; limit: number },
): { record: IncidentRecord; isMore: boolean } {
  const incident = getIncidentWithUpdates(reader, id, false);
  const { row, updates } = incident;
  const start = before === undefined ? 0 : updates.indexOf(requireUpdate(updates, before)) + 1;
  return {
    record: {
      ...incident,
      components: affectedBy(row, updates, automationOf(reader, row)),
      updates: withTexts(reader, updates.slice(start, start + limit)),
    },
    isMore: start + limit < updates.length,
  };
}

/** Returns one update of an incident. Throws `not_found`. */
export function getUpdate(
  reader: Reader,
  incidentId: string,
  updateId: string,
  canSeeDrafts: boolean,
): UpdateOfIncident {
  const { row, updates } = getIncident(reader, incidentId, canSeeDrafts);
  return { row, update: requireUpdate(updates, updateId) };
}

/** Lists all updates of one incident without their texts, newest first. */
export function listUpdateSummaries(reader: Reader, incidentId: string): UpdateSummary[] {
  return summariesOf(reader, [incidentId]).get(incidentId) ?? [];
}

/** Returns all components that an incident ever named or that joined, each with its last name and status. */
export function affectedBy(
  row: IncidentRow,
  summaries: readonly UpdateSummary[],
  automation: Automation | undefined,
): IncidentRecord["components"] {
  return componentsOf(timelineOf(row, summaries, automation), summaries, automation);
}

/** Lists all updates of several incidents without their texts, newest first, by incident id. */
function summariesOf(reader: Reader, incidentIds: readonly string[]): Map<string, UpdateSummary[]> {
  const ids = JSON.stringify(incidentIds);
  const namings = Map.groupBy(
    listNamings(reader, { ids }).map(({ naming }) => naming),
    (naming) => naming.updateId,
  );
  const summaries = listUpdatesWithoutBody(reader, { ids }).map((update) => ({
    ...update,
    components: namings.get(update.id) ?? [],
  }));
  return Map.groupBy(inOrder(summaries).reverse(), (update) => update.incidentId);
}

/** Returns updates with their texts. */
export function withTexts(reader: Reader, summaries: readonly UpdateSummary[]): UpdateRecord[] {
  const bodies = bodiesOf(reader, summaries);
  return summaries.map((update) => withBody(update, bodies));
}

/** Reads the texts of updates, by update id. */
export function bodiesOf(
  reader: Reader,
  summaries: readonly UpdateSummary[],
): ReadonlyMap<string, string> {
  const ids = JSON.stringify(summaries.map(({ id }) => id));
  return new Map(listUpdateBodies(reader, { ids }).map(({ id, body }) => [id, body]));
}

export function withBody(update: UpdateSummary, bodies: ReadonlyMap<string, string>): UpdateRecord {
  return { ...update, body: bodies.get(update.id) ?? "" };
}

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

/** Columns by which the list can be ordered. */
export const ORDER_KEYS = ["name", "impact", "status", "duration", "started"] as const;

export type IncidentOrder = Order<(typeof ORDER_KEYS)[number]>;

/** Number of incidents that are read to count the matches of a search or to order them, which takes about 20 ms. */
const COUNTED_MAX = 20_000;

/** Returns true if there are few enough incidents to read all of them. */
export function canReadAll(reader: Reader): boolean {
  return (countAllRows(reader, {})?.count ?? 0) <= COUNTED_MAX;
}

/**
 * Lists incidents in the order of a column, those of drafts too, after the place `before`. Returns the place of the
 * last one if more follow. `now` is in unix ms. Only for as few as `canReadAll` allows.
 */
export function listIncidentsInOrder(
  reader: Reader,
  query: IncidentQuery & { order: IncidentOrder; now: number },
): { records: IncidentRecord[]; nextBefore: string | undefined } {
  const flagOf = (is: boolean | undefined) => (is === undefined ? null : is ? 1 : 0);
  const ids = listIdsInOrder[query.order](reader, {
    pageId: query.pageId ?? null,
    componentId: query.componentId ?? null,
    impact: query.impact ?? null,
    search: searchOf(query),
    status: query.status ?? null,
    isDraft: flagOf(query.isDraft),
    isOpen: flagOf(query.isOpen),
    now: query.now,
    ...readPlace(query.before),
    limit: query.limit + 1,
  });
  const { shown, nextBefore } = partOf(ids, query.limit, ({ id }) => id);
  const records = listIncidentsById(
    reader,
    shown.map(({ id }) => id),
  );
  return { records, nextBefore };
}

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
  if (isSlow && !canReadAll(reader)) return undefined;
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
function listTruncatedUpdates(reader: Reader, incidentIds: readonly string[]): UpdateList[] {
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

/** Incident in a list, without its updates. Times in unix ms. */
export interface IncidentSummary {
  id: string;
  name: string;
  status: IncidentStatus;
  impact: Impact;
  startedAt: number;
  resolvedAt: number | null;
  /** Language of the name if Allclear wrote it; null for a name of a person. */
  nameLang: string | null;
  /** Time at which its post-mortem was published; null without one. */
  postmortemPublishedAt: number | null;
  /** Last names of all components that it ever named. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isTruncated: boolean;
}

/** Lists the published incidents of a page that started within a span, newest start first. */
export function listIncidentsBetween(reader: Reader, span: SummarySpan): IncidentSummary[] {
  return withNames(reader, listSummariesBetween(reader, spanParams(span)));
}

/** Lists the published incidents of a page that were resolved at `since` (unix ms) or later, latest first. */
export function listEndedIncidents(
  reader: Reader,
  query: { pageId: string; since: number; limit: number },
): IncidentSummary[] {
  return withNames(reader, listEndedSummaries(reader, query));
}

/** Lists the published open incidents of a page after a position, newest start first. */
export function listOpenSummariesOf(
  reader: Reader,
  query: { pageId: string; before: SummaryCursor; limit: number },
): IncidentSummary[] {
  const { pageId, before, limit } = query;
  const rows = listOpenSummaries(reader, {
    pageId,
    beforeAt: before.at,
    beforeId: before.id,
    limit,
  });
  return withNames(reader, rows);
}

/** Finds the start of a page's first published incident, in unix ms; undefined without one. */
export function findFirstIncidentStart(
  reader: Reader,
  page: { pageId: string },
): number | undefined {
  return findFirstSummary(reader, page)?.startedAt;
}

/** Adds the names of components. Beyond the budget of a document, only those of `listTruncatedUpdates`. */
function withNames(
  reader: Reader,
  rows: readonly Omit<IncidentSummary, "components" | "isTruncated">[],
): IncidentSummary[] {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const count = countComplete(reader, ids);
  const truncated = listTruncatedUpdates(reader, ids.slice(count));
  const named = [
    ...listNames(reader, { ids: JSON.stringify(ids.slice(0, count)) }),
    ...truncated.flatMap(({ updates }) =>
      updates.toReversed().flatMap((update) => update.components),
    ),
  ];
  const names = new Map(ids.map((id) => [id, new Map<string, string>()]));
  // In the order of the updates: a later name replaces an earlier one.
  for (const { incidentId, componentId, name } of named) {
    names.get(incidentId)?.set(componentId, name);
  }
  return rows.map((row, index) => ({
    ...row,
    components: [...(names.get(row.id)?.values() ?? [])],
    isTruncated: truncated[index - count]?.isTruncated ?? false,
  }));
}

/** Maximum size of the cache in UTF-16 units: several thousand updates of usual length. */
const SIZE_MAX = 4_000_000;

/** Estimated size, in UTF-16 units, of an update without its text and of each component that it names. */
const ITEM_SIZE = 500;

interface CachedIncident {
  version: number;
  content: Omit<IncidentRecord, "row" | "page">;
}

/**
 * Creates a function that reads records of incidents like `toDocumentRecords`, and caches them by the version
 * of their incident. Use it only for committed data, since a version that was rolled back is used again.
 *
 * Without this cache, `incidents.json` after a change takes 1.38 times the processor time (200 components,
 * 1,000 incidents).
 */
export function createIncidentCache(): ReadRecords {
  const cache = new LRUCache<string, CachedIncident>({
    maxSize: SIZE_MAX,
    sizeCalculation: sizeOf,
  });
  return (reader, incidents) => {
    const ids = incidents.map(({ row }) => row.id);
    const completeCount = countComplete(reader, ids);
    const entries = incidents.map(({ row, page }, index) => {
      const isComplete = index < completeCount;
      const key = `${isComplete ? "complete" : "truncated"} ${row.id}`;
      const cached = cache.get(key);
      const content = cached?.version === row.version ? cached.content : undefined;
      return { row, page, isComplete, key, content };
    });
    const missing = entries.filter(({ content }) => content === undefined);
    if (missing.length > 0) {
      // Complete incidents come first, also among the missing ones.
      const missingComplete = missing.filter(({ isComplete }) => isComplete).length;
      for (const [index, record] of readRecords(reader, missing, missingComplete).entries()) {
        const { row, page: _, ...content } = record;
        const entry = missing[index];
        if (!entry) continue;
        entry.content = content;
        cache.set(entry.key, { version: row.version, content });
      }
    }
    return entries.flatMap(({ row, page, content }) =>
      content ? [{ row, page, ...content }] : [],
    );
  };
}

function sizeOf({ content: { components, updates } }: CachedIncident): number {
  let size = (1 + components.length) * ITEM_SIZE;
  for (const { body, components: named } of updates) {
    size += body.length + (1 + named.length) * ITEM_SIZE;
  }
  return size;
}
