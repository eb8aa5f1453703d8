import { and, asc, count, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import {
  insertAllInto,
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import type { Orm } from "../../db/statement-cache";
import { componentCauses, components } from "../../db/tables/components";
import { maintenanceComponents, maintenances } from "../../db/tables/maintenances";
import { pageAddress, pages } from "../../db/tables/pages";
import type { MaintenanceStatus } from "../../base/status";
import type { PageAddress } from "../pages/address";
import { isNextOccurrence } from "./schedules/store";
import { isSearched } from "./search-store";
import type { MaintenanceUpdateRow } from "./update-store";

export type MaintenanceRow = typeof maintenances.$inferSelect;

/** A maintenance with its components and all or the newest updates. */
export interface MaintenanceRecord {
  row: MaintenanceRow;
  page: PageAddress;
  /** In the order of the page, with the names from when they were chosen. */
  components: readonly { id: string; name: string }[];
  /** Newest first. */
  updates: readonly MaintenanceUpdateRow[];
  /** True if components are left out because a document has no room for all of them. */
  isTruncated?: boolean;
}

export const insertMaintenance = insertInto(maintenances);
export const updateMaintenanceRow = updateById(maintenances);
export const insertMaintenanceComponent = insertInto(maintenanceComponents);
export const insertMaintenanceComponents = insertAllInto(maintenanceComponents);

export const deleteMaintenanceComponents = mutate((orm, $: { maintenanceId: string }) =>
  orm.delete(maintenanceComponents).where(eq(maintenanceComponents.maintenanceId, $.maintenanceId)),
);

export const selectWithPage = (orm: Orm) =>
  orm
    .select({ row: maintenances, page: pageAddress })
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId));

/** Condition: neither the maintenance nor its page was deleted. */
export const isThere = and(isNull(maintenances.deletedAt), isNull(pages.deletedAt));

export const findMaintenance = selectOne((orm, $: { id: string }) =>
  selectWithPage(orm).where(and(eq(maintenances.id, $.id), isThere)),
);

/** Filters of a list; null matches everything. The flags are 0 or 1. */
export interface MaintenanceFilter {
  status: MaintenanceStatus | null;
  componentId: string | null;
  isUpcoming: number | null;
  isActive: number | null;
  isCancelled: number | null;
  /** A flag: scheduled maintenance that a schedule made. */
  isOccurrence: number | null;
  /** Part of the name of the maintenance, or of one of its components. */
  search: string | null;
}

interface ListRequest extends MaintenanceFilter {
  pageId: string | null;
  /** Only ids lower than this one match. */
  before: string;
  limit: number;
}

const passes = ($: ListRequest): SQL => sql`maintenances.id < ${$.before}
  AND ${isSearched($)}
  AND (${$.status} IS NULL OR maintenances.status = ${$.status})
  AND (${$.isUpcoming} IS NULL OR (maintenances.status = 'scheduled') = ${$.isUpcoming})
  AND (${$.isActive} IS NULL OR (maintenances.status IN ('in_progress', 'verifying')) = ${$.isActive})
  AND (${$.isCancelled} IS NULL OR (maintenances.status = 'cancelled') = ${$.isCancelled})
  AND (${$.isOccurrence} IS NULL
    OR (maintenances.status = 'scheduled' AND maintenances.schedule_id IS NOT NULL) = ${$.isOccurrence})
  AND (${$.componentId} IS NULL OR EXISTS (SELECT 1 FROM maintenance_components AS c
    WHERE c.maintenance_id = maintenances.id AND c.component_id = ${$.componentId}))`;

/** Builds the list statement for one page or all, since the filter by page decides which index is read. */
const listStatement = (isOfPage: boolean) =>
  selectMany((orm, $: ListRequest) =>
    selectWithPage(orm)
      .where(
        and(isOfPage ? sql`${maintenances.pageId} = ${$.pageId}` : undefined, passes($), isThere),
      )
      .orderBy(desc(maintenances.id))
      .limit($.limit),
  );

const listOfAllPages = listStatement(false);
const listOfPage = listStatement(true);

/** Lists maintenances of one page, or of all if `pageId` is null, newest first. */
export function listMaintenanceRows(reader: Reader, request: ListRequest) {
  return (request.pageId === null ? listOfAllPages : listOfPage)(reader, request);
}

/**
 * Condition: a maintenance has not ended, written as in the partial index `maintenances_pending`. A
 * plus before another column keeps SQLite from scanning all maintenances of a page instead.
 */
export const isPending = sql`maintenances.status IN ('scheduled', 'in_progress', 'verifying') AND maintenances.deleted_at IS NULL`;

/** Order of pending maintenances: those in progress first, each by planned start. */
const pendingOrder = [
  sql`maintenances.status = 'scheduled'`,
  asc(maintenances.scheduledFor),
  asc(maintenances.id),
];

/** Condition: a maintenance of a page has not ended. */
export const isPendingOfPage = (pageId: string) =>
  and(isPending, sql`+maintenances.page_id = ${pageId}`);

/**
 * Lists the pending maintenances that a page shows at `now`: those in progress, then those that
 * start by `until` and are not over, each by planned start. Of a schedule only the next. Unix ms.
 */
export const listShownOfPage = selectMany(
  (orm, $: { pageId: string; now: number; until: number; limit: number }) =>
    selectWithPage(orm)
      .where(
        and(
          isPendingOfPage($.pageId),
          sql`(maintenances.status <> 'scheduled'
            OR (maintenances.scheduled_for <= ${$.until} AND maintenances.scheduled_until > ${$.now}))`,
          isNextOccurrence($.now),
          isThere,
        ),
      )
      .orderBy(...pendingOrder)
      .limit($.limit),
);

/**
 * Lists the pending maintenances of one page, or of all if `pageId` is null: those in progress, then scheduled
 * ones, each by planned start. With `nextAt` (unix ms), of each schedule only the next one then.
 */
export const listPending = selectMany(
  (
    orm,
    $: { pageId: string | null; search: string | null; nextAt: number | null; limit: number },
  ) =>
    selectWithPage(orm)
      .where(
        and(
          isPending,
          sql`(${$.nextAt} IS NULL OR ${isNextOccurrence($.nextAt)})`,
          isSearched($),
          sql`(${$.pageId} IS NULL OR +maintenances.page_id = ${$.pageId})`,
          isThere,
        ),
      )
      .orderBy(...pendingOrder)
      .limit($.limit),
);

/** Counts the maintenances of a page that have not ended. */
export const countPendingOfPage = selectOne((orm, $: { pageId: string }) =>
  orm.select({ count: count() }).from(maintenances).where(isPendingOfPage($.pageId)),
);

/** Cancels maintenances (`ids`: a JSON list) at a time (unix ms), each with a new version. */
export const cancelMaintenanceRows = mutate((orm, $: { ids: string; at: number }) =>
  orm
    .update(maintenances)
    .set({
      status: "cancelled",
      completedAt: null,
      version: sql`${maintenances.version} + 1`,
      updatedAt: $.at,
    })
    .where(sql`${maintenances.id} IN (SELECT value FROM json_each(${$.ids}))`),
);

/** Columns of a component of a maintenance. */
export const COMPONENT = {
  maintenanceId: maintenanceComponents.maintenanceId,
  id: maintenanceComponents.componentId,
  name: maintenanceComponents.name,
};

/** Lists the components of maintenances (`ids`: a JSON list), in the order of the page. */
export const listComponentsOfMaintenances = selectMany((orm, $: { ids: string }) =>
  orm
    .select(COMPONENT)
    .from(maintenanceComponents)
    .innerJoin(components, eq(components.id, maintenanceComponents.componentId))
    .where(sql`${maintenanceComponents.maintenanceId} IN (SELECT value FROM json_each(${$.ids}))`)
    .orderBy(asc(components.position), asc(components.id)),
);

/** Lists the open and ended causes of a maintenance. */
export const listCausesOf = selectMany((orm, $: { maintenanceId: string }) =>
  orm
    .select({
      componentId: componentCauses.componentId,
      from: componentCauses.startedAt,
      to: componentCauses.endedAt,
    })
    .from(componentCauses)
    .where(
      and(eq(componentCauses.source, "maintenance"), eq(componentCauses.sourceId, $.maintenanceId)),
    )
    .orderBy(asc(componentCauses.id)),
);

/**
 * Lists maintenances with a transition due at `now` (unix ms), the longest due first. The condition
 * equals `dueTransitions` in rules.ts.
 */
export const listDue = selectMany((orm, $: { now: number; limit: number }) =>
  orm
    .select({ row: maintenances })
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(
      and(
        isPending,
        isNull(pages.deletedAt),
        sql`CASE maintenances.status
          WHEN 'scheduled' THEN (maintenances.auto_start = 1 AND maintenances.scheduled_for <= ${$.now})
            OR (maintenances.reminded_at IS NULL AND maintenances.scheduled_for > ${$.now}
              AND maintenances.scheduled_for - maintenances.remind_minutes_before * 60000 <= ${$.now})
          ELSE maintenances.auto_complete = 1 AND maintenances.scheduled_until <= ${$.now}
            AND maintenances.started_at < maintenances.scheduled_until
          END`,
      ),
    )
    .orderBy(
      sql`CASE
        WHEN maintenances.status <> 'scheduled' THEN maintenances.scheduled_until
        WHEN maintenances.scheduled_for <= ${$.now} THEN maintenances.scheduled_for
        ELSE maintenances.scheduled_for - maintenances.remind_minutes_before * 60000
        END`,
      asc(maintenances.id),
    )
    .limit($.limit),
);
