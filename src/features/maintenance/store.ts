import { and, asc, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db";
import { componentCauses, components } from "../../db/tables/components";
import { maintenanceComponents, maintenances } from "../../db/tables/maintenances";
import { pageAddress, pages } from "../../db/tables/pages";
import type { MaintenanceStatus } from "../../domain/incident-status";
import type { PageAddress } from "../pages";
import { COMPONENT } from "./list-store";
import type { MaintenanceUpdateRow } from "./update-store";

export type MaintenanceRow = typeof maintenances.$inferSelect;

/** A maintenance with all that is shown of it. */
export interface MaintenanceRecord {
  row: MaintenanceRow;
  page: PageAddress;
  /** In the page's order, with the names from when they were chosen. */
  components: readonly { id: string; name: string }[];
  /** Newest first. */
  updates: readonly MaintenanceUpdateRow[];
  /** True if components are left out because a document has no room for all of them. */
  isCut?: boolean;
}

export const insertMaintenance = insertInto(maintenances);
export const updateMaintenanceRow = updateById(maintenances);
export const insertMaintenanceComponent = insertInto(maintenanceComponents);

export const deleteMaintenanceComponents = mutate((orm, $: { maintenanceId: string }) =>
  orm.delete(maintenanceComponents).where(eq(maintenanceComponents.maintenanceId, $.maintenanceId)),
);

const COLUMNS = { row: maintenances, page: pageAddress };

/** A maintenance whose page is gone is gone with it. */
const isThere = () => and(isNull(maintenances.deletedAt), isNull(pages.deletedAt));

export const findMaintenance = selectOne((orm, $: { id: string }) =>
  orm
    .select(COLUMNS)
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(and(eq(maintenances.id, $.id), isThere())),
);

/** Filters of a list; null matches everything. The flags are 0 or 1. */
export interface MaintenanceFilter {
  status: MaintenanceStatus | null;
  componentId: string | null;
  isUpcoming: number | null;
  isActive: number | null;
  isCancelled: number | null;
}

interface ListRequest extends MaintenanceFilter {
  before: string;
  limit: number;
}

const passes = ($: ListRequest): SQL => sql`maintenances.id < ${$.before}
  AND (${$.status} IS NULL OR maintenances.status = ${$.status})
  AND (${$.isUpcoming} IS NULL OR (maintenances.status = 'scheduled') = ${$.isUpcoming})
  AND (${$.isActive} IS NULL OR (maintenances.status IN ('in_progress', 'verifying')) = ${$.isActive})
  AND (${$.isCancelled} IS NULL OR (maintenances.status = 'cancelled') = ${$.isCancelled})
  AND (${$.componentId} IS NULL OR EXISTS (SELECT 1 FROM maintenance_components AS c
    WHERE c.maintenance_id = maintenances.id AND c.component_id = ${$.componentId}))`;

/** Of every page, newest first; those older than `before`. */
export const listMaintenanceBefore = selectMany((orm, $: ListRequest) =>
  orm
    .select(COLUMNS)
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(and(passes($), isThere()))
    .orderBy(desc(maintenances.id))
    .limit($.limit),
);

/** The same, of one page. */
export const listPageMaintenanceBefore = selectMany((orm, $: ListRequest & { pageId: string }) =>
  orm
    .select(COLUMNS)
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(and(eq(maintenances.pageId, $.pageId), passes($), isThere()))
    .orderBy(desc(maintenances.id))
    .limit($.limit),
);

/**
 * Condition: a maintenance has not ended, written as in the partial index `maintenances_pending`. A
 * plus before another column keeps SQLite from scanning all maintenances of a page instead.
 */
export const isPending = sql`maintenances.status IN ('scheduled', 'in_progress', 'verifying') AND maintenances.deleted_at IS NULL`;

/** Maintenance under way first, each by its planned beginning. */
const pendingOrder = [
  sql`maintenances.status = 'scheduled'`,
  asc(maintenances.scheduledFor),
  asc(maintenances.id),
];

const isPendingOfPage = (pageId: string) => and(isPending, sql`+maintenances.page_id = ${pageId}`);

/**
 * Lists the pending maintenances that a page shows at `now`: those in progress, then those that
 * start by `until` and are not over, each by planned start. Unix ms.
 */
export const listShownOfPage = selectMany(
  (orm, $: { pageId: string; now: number; until: number; limit: number }) =>
    orm
      .select(COLUMNS)
      .from(maintenances)
      .innerJoin(pages, eq(pages.id, maintenances.pageId))
      .where(
        and(
          isPendingOfPage($.pageId),
          sql`(maintenances.status <> 'scheduled'
            OR (maintenances.scheduled_for <= ${$.until} AND maintenances.scheduled_until > ${$.now}))`,
          isThere(),
        ),
      )
      .orderBy(...pendingOrder)
      .limit($.limit),
);

/**
 * Lists the pending maintenances of one page, or of all if `pageId` is null: those in progress,
 * then scheduled ones, each by planned start.
 */
export const listPending = selectMany((orm, $: { pageId: string | null; limit: number }) =>
  orm
    .select(COLUMNS)
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(
      and(isPending, sql`(${$.pageId} IS NULL OR +maintenances.page_id = ${$.pageId})`, isThere()),
    )
    .orderBy(...pendingOrder)
    .limit($.limit),
);

/** The number of maintenances of a page that have not ended. */
export const countPendingOfPage = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(maintenances)
    .where(isPendingOfPage($.pageId)),
);

/** Cancels some maintenances (`ids`: a JSON array) at a moment (unix ms), each at a new version. */
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

/**
 * The first moment after `now` at which something that a page has not ended comes within `ahead`, is
 * planned to begin, or to end. Null if there is none. All in ms.
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

/** The components of some maintenances, in the order of their page. `ids` is a JSON array. */
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
