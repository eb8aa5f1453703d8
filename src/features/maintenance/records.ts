import type { Reader } from "../../db";
import { notFound } from "../../errors";
import { NEWEST } from "../../domain/ids";
import { componentsForDocument, UPDATES_IN_LISTS } from "./lists";
import { type Maintenance, presentMaintenance } from "./model";
import { UPCOMING_MS } from "./rules";
import {
  findMaintenance,
  findNextEdge,
  listComponentsOfMaintenances,
  listMaintenanceBefore,
  listPageMaintenanceBefore,
  listPending,
  listShownOfPage,
  type MaintenanceFilter,
  type MaintenanceRecord,
} from "./store";
import { findUpdate, listUpdatesBehind, listUpdatesOfMaintenances } from "./update-store";

const ALL_UPDATES = Number.MAX_SAFE_INTEGER;
/** A page shows no more of what is under way and to come. */
const SHOWN_MAX = 100;

type Found = Pick<MaintenanceRecord, "row" | "page">;

/** One maintenance with all of its updates. Throws `not_found`, also where its page is gone. */
export function getMaintenanceRecord(reader: Reader, id: string): MaintenanceRecord {
  const record = findMaintenanceRecord(reader, id);
  if (!record) throw notFound("maintenance");
  return record;
}

/** One maintenance with all of its updates; undefined if it, or its page, does not exist. */
export function findMaintenanceRecord(reader: Reader, id: string): MaintenanceRecord | undefined {
  const found = findMaintenance(reader, { id });
  return found ? assemble(reader, [found], ALL_UPDATES)[0] : undefined;
}

/** One maintenance as the API shows it, with all of its updates. Throws `not_found`. */
export function getMaintenance(ctx: { baseUrl: string }, reader: Reader, id: string): Maintenance {
  return presentMaintenance(getMaintenanceRecord(reader, id), ctx.baseUrl);
}

/** Some of a maintenance's updates, newest first, and whether there are older ones. */
export interface MaintenancePart {
  record: MaintenanceRecord;
  isMore: boolean;
}

/**
 * One maintenance with its newest updates, or with those behind the update of the id `before`; `limit`
 * at most. Throws `not_found`, also for that update.
 */
export function getMaintenancePart(
  reader: Reader,
  id: string,
  { before, limit }: { before: string | undefined; limit: number },
): MaintenancePart {
  const found = findMaintenance(reader, { id });
  const [record] = found ? assemble(reader, [found], 0) : [];
  if (!record) throw notFound("maintenance");
  const place =
    before === undefined
      ? { displayAt: Number.MAX_SAFE_INTEGER, id: "" }
      : findUpdate(reader, { maintenanceId: id, id: before });
  if (!place) throw notFound("update");
  const updates = listUpdatesBehind(reader, {
    maintenanceId: id,
    beforeAt: place.displayAt,
    beforeId: place.id,
    limit: limit + 1,
  });
  return {
    record: { ...record, updates: updates.slice(0, limit) },
    isMore: updates.length > limit,
  };
}

/** Filters of the list. An omitted filter matches everything. */
export interface MaintenanceQuery extends Partial<MaintenanceFilter> {
  pageId?: string | undefined;
  /** The id of a maintenance: those older than it. */
  before?: string | undefined;
  limit: number;
}

/** Maintenances, the last planned first, each with its 20 newest updates; cut as a document is. */
export function listMaintenance(reader: Reader, query: MaintenanceQuery): MaintenanceRecord[] {
  return toDocumentRecords(reader, findMaintenances(reader, query));
}

/** Maintenances without components and updates, the last planned first. */
export function findMaintenances(reader: Reader, query: MaintenanceQuery): Found[] {
  const { pageId, before = NEWEST, limit, ...filter } = query;
  const request = {
    status: null,
    componentId: null,
    isUpcoming: null,
    isActive: null,
    isCancelled: null,
    ...filter,
    before,
    limit,
  };
  return pageId === undefined
    ? listMaintenanceBefore(reader, request)
    : listPageMaintenanceBefore(reader, { ...request, pageId });
}

/**
 * Lists the maintenances that a page shows at `now`: those in progress, then those that start by
 * `until` and are not over, each by planned start. At most 100, each with its 20 newest updates,
 * cut to the size of a document. Times in unix ms.
 */
export function listMaintenanceForPage(
  reader: Reader,
  { pageId, now, until }: { pageId: string; now: number; until: number },
): MaintenanceRecord[] {
  const shown = listShownOfPage(reader, { pageId, now, until, limit: SHOWN_MAX });
  return toDocumentRecords(reader, shown);
}

/**
 * Lists the pending maintenances of one page or all: those in progress, then scheduled ones, each
 * by planned start. Each has its 20 newest updates and is cut to the size of a document.
 */
export function listPendingMaintenance(
  reader: Reader,
  { pageId, limit }: { pageId?: string | undefined; limit: number },
): MaintenanceRecord[] {
  const found = listPending(reader, { pageId: pageId ?? null, limit });
  return toDocumentRecords(reader, found);
}

/**
 * The next moment after `now` at which time alone changes what a page shows of its maintenance, both in
 * unix ms: something comes within 30 days, or its planned beginning or end is reached. Undefined if
 * nothing is planned.
 */
export function nextEdge(
  reader: Reader,
  { pageId, now }: { pageId: string; now: number },
): number | undefined {
  return findNextEdge(reader, { pageId, now, ahead: UPCOMING_MS })?.at ?? undefined;
}

/** Maintenances with their components and their 20 newest updates, by two statements. */
export function toRecords(reader: Reader, found: readonly Found[]): MaintenanceRecord[] {
  return assemble(reader, found, UPDATES_IN_LISTS);
}

function toDocumentRecords(reader: Reader, found: readonly Found[]): MaintenanceRecord[] {
  if (found.length === 0) return [];
  const ids = found.map(({ row }) => row.id);
  const chosen = componentsForDocument(reader, ids);
  const updates = updatesOf(reader, ids, UPDATES_IN_LISTS);
  return found.map((one) => {
    const { components = [], isCut = false } = chosen.get(one.row.id) ?? {};
    const own = updates.get(one.row.id) ?? [];
    return { ...one, components, updates: own, ...(isCut ? { isCut } : {}) };
  });
}

function assemble(reader: Reader, found: readonly Found[], each: number): MaintenanceRecord[] {
  if (found.length === 0) return [];
  const ids = found.map(({ row }) => row.id);
  const components = Map.groupBy(
    listComponentsOfMaintenances(reader, { ids: JSON.stringify(ids) }),
    (row) => row.maintenanceId,
  );
  const updates = updatesOf(reader, ids, each);
  return found.map((one) => ({
    ...one,
    components: components.get(one.row.id) ?? [],
    updates: updates.get(one.row.id) ?? [],
  }));
}

/** The newest updates of some maintenances by the ids of these, at most `each` of one. */
export function updatesOf(reader: Reader, maintenanceIds: readonly string[], each: number) {
  const ids = JSON.stringify(maintenanceIds);
  return Map.groupBy(
    listUpdatesOfMaintenances(reader, { ids, each }),
    (update) => update.maintenanceId,
  );
}
