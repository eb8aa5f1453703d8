import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { components } from "../../db/tables/components";
import {
  maintenanceComponents,
  maintenances,
  maintenanceUpdates,
} from "../../db/tables/maintenances";
import { isWithin, newestStartFirst, type SpanParams, textSizes } from "../timeline/store";
import { isSearched } from "./search-store";
import { COMPONENT, isPending, isPendingOfPage, isThere, selectWithPage } from "./store";

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

/** Counts the maintenances of the dashboard's list by part; null matches everything. */
export const countRows = selectOne((orm, $: { pageId: string | null; search: string | null }) =>
  orm
    .select({
      inProgress: sql<number>`count(*) FILTER (WHERE maintenances.status IN ('in_progress', 'verifying'))`,
      upcoming: sql<number>`count(*) FILTER (WHERE maintenances.status = 'scheduled')`,
      past: sql<number>`count(*) FILTER (WHERE maintenances.status IN ('completed', 'cancelled'))`,
    })
    .from(maintenances)
    .where(
      and(
        isNull(maintenances.deletedAt),
        sql`maintenances.page_id IN (SELECT id FROM pages WHERE deleted_at IS NULL)`,
        sql`(${$.pageId} IS NULL OR maintenances.page_id = ${$.pageId})`,
        isSearched($),
      ),
    ),
);
