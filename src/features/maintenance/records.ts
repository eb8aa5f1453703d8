import { notFound } from "../../base/errors";
import { NEWEST } from "../../base/ids";
import type { MaintenanceStatus } from "../../base/status";
import { type Order, partOf, readPlace } from "../../db/orders";
import type { Reader } from "../../db/statements";
import { spanParams, type SummarySpan } from "../timeline/store";
import { listLimits, TRUNCATED_COMPONENTS_MAX, UPDATES_IN_LISTS } from "../timeline/updates";
import { UPCOMING_MS } from "./rules";
import {
  countRows,
  findFirstSummary,
  findMaintenance,
  findNextEdge,
  findUpdate,
  listComponentsOfMaintenances,
  listEndedSummaries,
  listFirstComponents,
  listIdsInOrder,
  listMaintenanceRows,
  listNewestUpdates,
  listPending,
  listRowCounts,
  listShownOfPage,
  listSummariesBetween,
  listTextSizes,
  listUpdatesBefore,
  type MaintenanceFilter,
  type MaintenanceRecord,
} from "./store";
import { type Maintenance, presentMaintenance } from "./wire";

const ALL_UPDATES = Number.MAX_SAFE_INTEGER;

/** Returns one maintenance with all of its updates. Throws `not_found`, also if its page was deleted. */
export function getMaintenanceRecord(reader: Reader, id: string): MaintenanceRecord {
  const record = findMaintenanceRecord(reader, id);
  if (!record) throw notFound("maintenance");
  return record;
}

/** Finds one maintenance, with all or the newest of its updates, unless its page was deleted. */
export function findMaintenanceRecord(
  reader: Reader,
  id: string,
  updates = ALL_UPDATES,
): MaintenanceRecord | undefined {
  const maintenance = findMaintenance(reader, { id });
  return maintenance && readRecords(reader, [maintenance], { updates })[0];
}

/** Returns one maintenance as the API shows it, with all of its updates. Throws `not_found`. */
export function getMaintenance(ctx: { baseUrl: string }, reader: Reader, id: string): Maintenance {
  return presentMaintenance(getMaintenanceRecord(reader, id), ctx.baseUrl);
}

/**
 * Returns a maintenance with at most `limit` updates: the newest, or those that are older than the
 * update `before`. Throws `not_found`, also for that update.
 */
export function getMaintenancePart(
  reader: Reader,
  id: string,
  { before, limit }: { before: string | undefined; limit: number },
): { record: MaintenanceRecord; isMore: boolean } {
  const record = findMaintenanceRecord(reader, id, 0);
  if (!record) throw notFound("maintenance");
  const cursor =
    before === undefined
      ? { displayAt: Number.MAX_SAFE_INTEGER, id: "" }
      : findUpdate(reader, { maintenanceId: id, id: before });
  if (!cursor) throw notFound("update");
  const updates = listUpdatesBefore(reader, {
    maintenanceId: id,
    beforeAt: cursor.displayAt,
    beforeId: cursor.id,
    limit: limit + 1,
  });
  return {
    record: { ...record, updates: updates.slice(0, limit) },
    isMore: updates.length > limit,
  };
}

/** Maximum number of maintenances that a page shows as in progress or upcoming. */
const SHOWN_MAX = 100;

type MaintenanceWithPage = Pick<MaintenanceRecord, "row" | "page">;

/** Filters of the list. An omitted filter matches everything. */
interface MaintenanceQuery extends Partial<MaintenanceFilter> {
  pageId?: string | undefined;
  /** Id of a maintenance: only older ones match. */
  before?: string | undefined;
  limit: number;
}

/** Lists maintenances, the last planned first, within the size limit of a document. */
export function listMaintenance(reader: Reader, query: MaintenanceQuery): MaintenanceRecord[] {
  return toDocumentRecords(reader, findMaintenances(reader, query));
}

/** Lists maintenances without components and updates, the last planned first. */
export function findMaintenances(reader: Reader, query: MaintenanceQuery): MaintenanceWithPage[] {
  const { pageId = null, before = NEWEST, ...rest } = query;
  return listMaintenanceRows(reader, {
    status: null,
    componentId: null,
    isUpcoming: null,
    isActive: null,
    isCancelled: null,
    isOccurrence: null,
    search: null,
    ...rest,
    pageId,
    before,
  });
}

/**
 * Lists the maintenances that a page shows at `now`: those in progress, then those that start by
 * `until` and are not over, each by planned start. At most 100, within the size limit of a document.
 * Times in unix ms.
 */
export function listMaintenanceForPage(
  reader: Reader,
  page: { pageId: string; now: number; until: number },
): MaintenanceRecord[] {
  return toDocumentRecords(reader, listShownOfPage(reader, { ...page, limit: SHOWN_MAX }));
}

/**
 * Lists the pending maintenances of one page or all: those in progress, then scheduled ones, each
 * by planned start. With `nextAt` (unix ms), of each schedule only the next one then.
 */
export function listPendingMaintenance(
  reader: Reader,
  query: { pageId?: string | undefined; search?: string | null; nextAt?: number; limit: number },
): MaintenanceRecord[] {
  const { pageId = null, search = null, nextAt = null, limit } = query;
  return toDocumentRecords(reader, listPending(reader, { pageId, search, nextAt, limit }));
}

/** Columns by which the list can be ordered. */
export const ORDER_KEYS = ["name", "status", "planned", "duration"] as const;

export type MaintenanceOrder = Order<(typeof ORDER_KEYS)[number]>;

/**
 * Lists maintenances with some statuses in the order of a column, after the place `before`. Returns the place of the
 * last one if more follow.
 */
export function listMaintenanceInOrder(
  reader: Reader,
  query: {
    pageId: string | undefined;
    search: string | null;
    statuses: readonly MaintenanceStatus[];
    order: MaintenanceOrder;
    before: string | undefined;
    limit: number;
  },
): { records: MaintenanceRecord[]; nextBefore: string | undefined } {
  const { pageId = null, search, statuses, order, before, limit } = query;
  const ids = listIdsInOrder[order](reader, {
    pageId,
    search,
    statuses: JSON.stringify(statuses),
    ...readPlace(before),
    limit: limit + 1,
  });
  const { shown, nextBefore } = partOf(ids, limit, ({ id }) => id);
  const rows = shown.flatMap(({ id }) => findMaintenance(reader, { id }) ?? []);
  return { records: toDocumentRecords(reader, rows), nextBefore };
}

/** Counts the maintenances of one page or all, for the tabs of the list. */
export function countMaintenance(
  reader: Reader,
  { pageId = null, search }: { pageId: string | undefined | null; search: string | null },
): { inProgress: number; upcoming: number; past: number } {
  return countRows(reader, { pageId, search }) ?? { inProgress: 0, upcoming: 0, past: 0 };
}

/**
 * Returns the first time after `now` at which a page shows its maintenance differently without a change:
 * one is 30 days away, or its planned start or end is reached. Undefined without one. Unix ms.
 */
export function nextEdge(
  reader: Reader,
  page: { pageId: string; now: number },
): number | undefined {
  return findNextEdge(reader, { ...page, ahead: UPCOMING_MS })?.at ?? undefined;
}

export const { countForPage, countComplete } = listLimits({ listRowCounts, listTextSizes });

/** Reads records within the size limit of a document: the first ones complete, the others truncated. */
export function toDocumentRecords(
  reader: Reader,
  maintenances: readonly MaintenanceWithPage[],
  updates = UPDATES_IN_LISTS,
): MaintenanceRecord[] {
  return readRecords(reader, maintenances, {
    count: countComplete(reader, idsOf(maintenances)),
    updates,
  });
}

/**
 * Reads the records of maintenances in their order, each with at most `updates` of its newest updates:
 * the first `count` with all components, the others with at most 20.
 */
export function readRecords(
  reader: Reader,
  maintenances: readonly MaintenanceWithPage[],
  { count = maintenances.length, updates: each = UPDATES_IN_LISTS } = {},
): MaintenanceRecord[] {
  if (maintenances.length === 0) return [];
  const ids = idsOf(maintenances);
  const chosen = componentsOf(reader, ids, count);
  const updates = updatesOf(reader, ids, each);
  return maintenances.map(({ row, page }, index) => ({
    row,
    page,
    components: chosen[index]?.components ?? [],
    updates: updates.get(row.id) ?? [],
    ...(chosen[index]?.isTruncated ? { isTruncated: true } : {}),
  }));
}

/**
 * Reads the components of maintenances in the order of the ids: all of the first `count`, and at most 20
 * of each other. `isTruncated` is true if components are left out.
 */
function componentsOf(
  reader: Reader,
  ids: readonly string[],
  count: number,
): Pick<Required<MaintenanceRecord>, "components" | "isTruncated">[] {
  const complete = JSON.stringify(ids.slice(0, count));
  const truncated = JSON.stringify(ids.slice(count));
  const byId = Map.groupBy(
    [
      ...listComponentsOfMaintenances(reader, { ids: complete }),
      ...(count < ids.length
        ? listFirstComponents(reader, { ids: truncated, each: TRUNCATED_COMPONENTS_MAX + 1 })
        : []),
    ],
    ({ maintenanceId }) => maintenanceId,
  );
  return ids.map((id, index) => {
    const components = byId.get(id) ?? [];
    const isTruncated = index >= count && components.length > TRUNCATED_COMPONENTS_MAX;
    return {
      components: isTruncated ? components.slice(0, TRUNCATED_COMPONENTS_MAX) : components,
      isTruncated,
    };
  });
}

/** Reads at most `each` of the newest updates of maintenances, by maintenance id. */
function updatesOf(reader: Reader, maintenanceIds: readonly string[], each: number) {
  const ids = JSON.stringify(maintenanceIds);
  return Map.groupBy(
    listNewestUpdates(reader, { ids, each }),
    ({ maintenanceId }) => maintenanceId,
  );
}

/** A maintenance that has started, in a list of the past, without its updates. Times in unix ms. */
export interface MaintenanceSummary {
  id: string;
  name: string;
  status: MaintenanceStatus;
  startedAt: number;
  /** Time of its completion or cancellation; null while it is in progress. */
  endedAt: number | null;
  /** Names of its components from when they were chosen, in the order of the page. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isTruncated: boolean;
}

/** Lists maintenances of a page that started within a span, newest start first. */
export function listMaintenanceBetween(reader: Reader, span: SummarySpan): MaintenanceSummary[] {
  return withNames(reader, listSummariesBetween(reader, spanParams(span)));
}

/**
 * Lists maintenances of a page that started at `from` or later and ended at `since` or later (unix
 * ms), newest start first.
 */
export function listEndedMaintenance(
  reader: Reader,
  query: { pageId: string; from: number; since: number; limit: number },
): MaintenanceSummary[] {
  return withNames(reader, listEndedSummaries(reader, query));
}

/** Finds the start of a page's first maintenance, in unix ms; undefined without one. */
export function findFirstMaintenanceStart(
  reader: Reader,
  page: { pageId: string },
): number | undefined {
  return findFirstSummary(reader, page)?.startedAt ?? undefined;
}

function withNames(
  reader: Reader,
  rows: ReturnType<typeof listSummariesBetween>,
): MaintenanceSummary[] {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const chosen = componentsOf(reader, ids, countComplete(reader, ids));
  return rows.map((row, index) => ({
    ...row,
    startedAt: row.startedAt ?? 0,
    components: (chosen[index]?.components ?? []).map(({ name }) => name),
    isTruncated: chosen[index]?.isTruncated ?? false,
  }));
}

function idsOf(maintenances: readonly MaintenanceWithPage[]): string[] {
  return maintenances.map(({ row }) => row.id);
}
