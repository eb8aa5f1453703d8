import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  isNotNull,
  isNull,
  lt,
  or,
  sql,
  type SQL,
} from "drizzle-orm";
import { MAINTENANCE_STATUSES, type MaintenanceStatus } from "../../base/status";
import { declareOrders, type Place, rankAmong } from "../../db/orders";
import { declareParts } from "../../db/parts";
import { deleteBy } from "../../db/rows";
import {
  insertAllInto,
  insertInto,
  isAmong,
  mutate,
  type Orm,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { componentCauses, components } from "../../db/tables/components";
import {
  maintenanceComponents,
  maintenances,
  maintenanceUpdates,
} from "../../db/tables/maintenances";
import { pageAddress, pages } from "../../db/tables/pages";
import type { PartSearch } from "../../db/word-search";
import type { PageAddress } from "../pages/addresses";
import {
  isAmongNewest,
  isFoundOnPages,
  isWithin,
  newestFirst,
  newestStartFirst,
  type SpanParams,
  textSizes,
  type WithinSpan,
} from "../timeline/store";
import { isNextOccurrence } from "./schedules/store";

/* Statements for the updates of maintenances. */

const { id, maintenanceId, body, displayAt, notify } = maintenanceUpdates;

export type MaintenanceUpdateRow = typeof maintenanceUpdates.$inferSelect;

export const insertMaintenanceUpdate = insertInto(maintenanceUpdates);
export const deleteMaintenanceUpdates = deleteBy(maintenanceUpdates, ["maintenanceId"]);
export const insertMaintenanceUpdates = insertAllInto(maintenanceUpdates);

/** Lists the newest updates of maintenances (`ids`: a JSON list), at most `each` of one. */
export const listNewestUpdates = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(getTableColumns(maintenanceUpdates))
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(isAmongNewest(id, maintenanceId, $.each))
    .orderBy(...newestFirst(maintenanceUpdates)),
);

export const findUpdate = selectOne((orm, $: { maintenanceId: string; id: string }) =>
  orm
    .select({ id, displayAt })
    .from(maintenanceUpdates)
    .where(and(eq(id, $.id), eq(maintenanceId, $.maintenanceId))),
);

/** Lists the updates of a maintenance that are older than a cursor, newest first. */
export const listUpdatesBefore = selectMany(
  (orm, $: { maintenanceId: string; beforeAt: number; beforeId: string; limit: number }) =>
    orm
      .select()
      .from(maintenanceUpdates)
      .where(
        and(
          eq(maintenanceId, $.maintenanceId),
          sql`(${displayAt}, ${id}) < (${$.beforeAt}, ${$.beforeId})`,
        ),
      )
      .orderBy(...newestFirst(maintenanceUpdates))
      .limit($.limit),
);

/**
 * Counts updates that Allclear wrote at one of some times. Those of earlier versions are known by
 * their texts. `bodies` and `times` are JSON lists.
 */
export const countWrittenUpdates = selectOne(
  (orm, $: { maintenanceId: string; bodies: string; times: string }) =>
    orm
      .select({ count: count() })
      .from(maintenanceUpdates)
      .where(
        and(
          eq(maintenanceId, $.maintenanceId),
          or(isNotNull(maintenanceUpdates.lang), isAmong(body, $.bodies)),
          isAmong(displayAt, $.times),
        ),
      ),
);

/** Lists the updates that maintenances (`ids`: a JSON list) were planned with. */
export const listFirstUpdates = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ maintenanceId, notify })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(sql`${id} = (SELECT min(id) FROM maintenance_updates WHERE maintenance_id = i.value)`),
);

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

export const deleteMaintenanceComponents = deleteBy(maintenanceComponents, ["maintenanceId"]);

const selectWithPage = (orm: Orm) =>
  orm
    .select({ row: maintenances, page: pageAddress })
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId));

/** Condition: neither the maintenance nor its page was deleted. */
const isThere = and(isNull(maintenances.deletedAt), isNull(pages.deletedAt));

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
const isPending = sql`maintenances.status IN ('scheduled', 'in_progress', 'verifying') AND maintenances.deleted_at IS NULL`;

/** Order of pending maintenances: those in progress first, each by planned start. */
const pendingOrder = [
  sql`maintenances.status = 'scheduled'`,
  asc(maintenances.scheduledFor),
  asc(maintenances.id),
];

/** Condition: a maintenance of a page has not ended. */
const isPendingOfPage = (pageId: string) => and(isPending, sql`+maintenances.page_id = ${pageId}`);

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
    .where(isAmong(maintenances.id, $.ids)),
);

/** Columns of a component of a maintenance. */
const COMPONENT = {
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
    .where(isAmong(maintenanceComponents.maintenanceId, $.ids))
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

/* Statements for lists of maintenance. */

const chosen = maintenanceComponents;

/**
 * Counts the components of maintenances (`ids`: a JSON list), in its order; 1 for one without
 * components. Counting stops after `most` rows in total.
 */
export const listRowCounts = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ id: sql<string>`id`, rows: sql<number>`count(*)` })
    .from(
      sql`(SELECT i.value AS id FROM json_each(${$.ids}) AS i
        LEFT JOIN maintenance_components AS c ON c.maintenance_id = i.value
        LIMIT ${$.most})`,
    )
    .groupBy(sql`id`),
);

/** Returns the bytes of the texts of the newest updates of maintenances. */
export const listTextSizes = textSizes(maintenanceUpdates.maintenanceId);

/** Lists at most `each` components of each maintenance (`ids`: a JSON list), in the order of the page. */
export const listFirstComponents = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(COMPONENT)
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(chosen)
    .crossJoin(components)
    .where(
      sql`${chosen.maintenanceId} = i.value AND ${components.id} = ${chosen.componentId}
        AND ${chosen.componentId} IN (SELECT component_id FROM maintenance_components
          WHERE maintenance_id = i.value ORDER BY component_id LIMIT ${$.each})`,
    )
    .orderBy(asc(components.position), asc(components.id)),
);

const SUMMARY = {
  id: maintenances.id,
  name: maintenances.name,
  status: maintenances.status,
  startedAt: maintenances.startedAt,
  endedAt: sql<number | null>`CASE WHEN maintenances.status IN ('completed', 'cancelled')
    THEN coalesce(maintenances.completed_at, maintenances.updated_at) END`,
};

/** Lists maintenances that started within a span, newest start first. */
export const listSummariesBetween = selectMany((orm, $: SpanParams) =>
  orm
    .select(SUMMARY)
    .from(maintenances)
    .where(and(...isWithin(maintenances, $), isNull(maintenances.deletedAt)))
    .orderBy(...newestStartFirst(maintenances))
    .limit($.limit),
);

/** Lists maintenances that were in progress within a span, newest start first. */
export const listSummariesWithin = selectMany((orm, $: WithinSpan) =>
  orm
    .select(SUMMARY)
    .from(maintenances)
    .where(
      and(
        eq(maintenances.pageId, $.pageId),
        lt(maintenances.startedAt, $.to),
        sql`coalesce(${SUMMARY.endedAt}, ${$.from}) >= ${$.from}`,
        isNull(maintenances.deletedAt),
      ),
    )
    .orderBy(...newestStartFirst(maintenances))
    .limit($.limit),
);

/**
 * Lists maintenances of a page that started at `from` or later and ended at `since` or later (unix
 * ms), newest start first.
 */
export const listEndedSummaries = selectMany(
  (orm, $: { pageId: string; from: number; since: number; limit: number }) =>
    orm
      .select(SUMMARY)
      .from(maintenances)
      .where(
        and(
          eq(maintenances.pageId, $.pageId),
          sql`maintenances.started_at >= ${$.from}`,
          sql`${SUMMARY.endedAt} >= ${$.since}`,
          isNull(maintenances.deletedAt),
        ),
      )
      .orderBy(...newestStartFirst(maintenances))
      .limit($.limit),
);

/**
 * Finds the names by id of the maintenances of a page that started at `from` (unix ms) or later, at most
 * `limit`, as a JSON object.
 */
export const findMaintenanceNames = selectOne(
  (orm, $: { pageId: string; from: number; limit: number }) =>
    orm.select({ names: sql<string>`json_group_object(id, name)` }).from(
      sql`(SELECT id, name FROM maintenances
          WHERE page_id = ${$.pageId} AND started_at >= ${$.from} AND deleted_at IS NULL
          ORDER BY started_at DESC LIMIT ${$.limit})`,
    ),
);

/** Finds the maintenance of a page that started first. */
export const findFirstSummary = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ startedAt: maintenances.startedAt })
    .from(maintenances)
    .where(
      and(
        eq(maintenances.pageId, $.pageId),
        isNotNull(maintenances.startedAt),
        isNull(maintenances.deletedAt),
      ),
    )
    .orderBy(asc(maintenances.startedAt))
    .limit(1),
);

/**
 * Finds the first time after `now` at which a pending maintenance of a page is `ahead` from its start, or
 * its planned start or end is reached. Null if there is none. All in ms.
 */
export const findNextEdge = selectOne((orm, $: { pageId: string; now: number; ahead: number }) =>
  orm
    .select({
      at: sql<number | null>`min(CASE
          WHEN scheduled_for - ${$.ahead} > ${$.now} THEN scheduled_for - ${$.ahead}
          WHEN scheduled_for > ${$.now} THEN scheduled_for
          WHEN scheduled_until > ${$.now} THEN scheduled_until
          END)`,
    })
    .from(maintenances)
    .where(isPendingOfPage($.pageId)),
);

/**
 * Lists the maintenances of one page, or of all if `pageId` is null, whose planned time overlaps a span (unix
 * ms), by planned start.
 */
export const listPlannedBetween = selectMany(
  (orm, $: { pageId: string | null; from: number; to: number; limit: number }) =>
    selectWithPage(orm)
      .where(
        and(
          sql`maintenances.scheduled_for < ${$.to} AND maintenances.scheduled_until > ${$.from}
            AND (${$.pageId} IS NULL OR maintenances.page_id = ${$.pageId})`,
          isThere,
        ),
      )
      .orderBy(asc(maintenances.scheduledFor), asc(maintenances.id))
      .limit($.limit),
);

/** Finds the first time after `now` (unix ms) at which a maintenance can have a due transition; null without one. */
export const findNextDue = selectOne((orm, $: { now: number }) =>
  orm
    .select({
      at: sql<number | null>`min(CASE
        WHEN status <> 'scheduled' THEN iif(scheduled_until > ${$.now}, scheduled_until, NULL)
        WHEN scheduled_for <= ${$.now} THEN NULL
        WHEN reminded_at IS NULL AND scheduled_for - remind_minutes_before * 60000 > ${$.now}
          THEN scheduled_for - remind_minutes_before * 60000
        ELSE scheduled_for END)`,
    })
    .from(maintenances)
    .where(isPending),
);

/** Filters of the dashboard's list; null matches everything. */
interface ListFilters {
  pageId: string | null;
  search: string | null;
}

const isListed = ($: ListFilters) =>
  and(
    isNull(maintenances.deletedAt),
    sql`maintenances.page_id IN (SELECT id FROM pages WHERE deleted_at IS NULL)`,
    sql`(${$.pageId} IS NULL OR maintenances.page_id = ${$.pageId})`,
    isSearched($),
  );

/** Counts the maintenances of the dashboard's list by part. */
export const countRows = selectOne((orm, $: ListFilters) =>
  orm
    .select({
      inProgress: sql<number>`count(*) FILTER (WHERE maintenances.status IN ('in_progress', 'verifying'))`,
      upcoming: sql<number>`count(*) FILTER (WHERE maintenances.status = 'scheduled')`,
      past: sql<number>`count(*) FILTER (WHERE maintenances.status IN ('completed', 'cancelled'))`,
    })
    .from(maintenances)
    .where(isListed($)),
);

/**
 * Lists the ids of maintenances with some statuses (a JSON list) in the order of a column, after the place of another
 * one. Reads all of them once.
 */
export const listIdsInOrder = declareOrders(
  maintenances.id,
  {
    name: sql`lower(maintenances.name)`,
    status: rankAmong(maintenances.status, MAINTENANCE_STATUSES),
    planned: sql`maintenances.scheduled_for`,
    duration: sql`maintenances.scheduled_until - maintenances.scheduled_for`,
  },
  ({ value, isAfter, by }) =>
    selectMany((orm, $: ListFilters & Place & { statuses: string; limit: number }) =>
      orm
        .select({ id: maintenances.id, value })
        .from(maintenances)
        .where(and(isListed($), isAmong(maintenances.status, $.statuses), isAfter($)))
        .orderBy(...by)
        .limit($.limit),
    ),
);

/* Search of maintenances on all pages. Not hot: at most every maintenance is read once, in parts. */

/** Condition: the name of a maintenance, or of one of its components, contains a text; null matches all. */
const isSearched = ($: { search: string | null }) =>
  sql`(${$.search} IS NULL OR instr(lower(maintenances.name), lower(${$.search})) > 0
    OR EXISTS (SELECT 1 FROM maintenance_components AS n WHERE n.maintenance_id = maintenances.id
      AND instr(lower(n.name), lower(${$.search})) > 0))`;

const searchPart = selectMany((orm, $: PartSearch) =>
  orm
    .select({
      id: maintenances.id,
      name: maintenances.name,
      status: maintenances.status,
      scheduledFor: maintenances.scheduledFor,
      pageName: pages.name,
    })
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(isFoundOnPages(maintenances, $))
    .orderBy(desc(maintenances.id))
    .limit($.limit),
);

/**
 * Lists the maintenances whose name, page or id contains the words (`wordsOf`), newest first, in several turns.
 */
export const searchMaintenances = declareParts(maintenances, searchPart);
