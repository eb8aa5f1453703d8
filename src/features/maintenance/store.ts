import { and, asc, desc, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db";
import { componentCauses, components } from "../../db/tables/components";
import {
  maintenanceComponents,
  maintenances,
  maintenanceUpdates,
} from "../../db/tables/maintenances";
import { pageAddress, pages } from "../../db/tables/pages";
import type { MaintenanceStatus } from "../../kernel/incident-status";
import type { PageAddress } from "../pages";
import { COMPONENT } from "./size-store";

export type MaintenanceRow = typeof maintenances.$inferSelect;
export type MaintenanceUpdateRow = typeof maintenanceUpdates.$inferSelect;

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
export const insertMaintenanceUpdate = insertInto(maintenanceUpdates);

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

/** Filters of a list, of which null lets everything through; the others are 0 or 1. */
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
 * Whether a maintenance has not ended: in the words of the index `maintenances_pending`, which holds these
 * few rows alone. A plus before another column keeps SQLite from walking through all that a page ever
 * planned instead.
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
 * What a page shows at `now` of what it has not ended: all that is under way, then what begins by `until`
 * and whose time is not over; each by its planned beginning. Unix ms.
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
 * What has not ended, of one page or, where `pageId` is null, of every page: all that is under way, then
 * what is scheduled; each by its planned beginning.
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

/** Maintenance of a page that has not ended, in the order of `listPending`, with the time of its last update. */
export const listPendingOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      row: maintenances,
      lastDisplayAt: sql<number | null>`(
        SELECT max(u.display_at) FROM maintenance_updates AS u
        WHERE u.maintenance_id = ${maintenances.id})`,
    })
    .from(maintenances)
    .where(isPendingOfPage($.pageId))
    .orderBy(...pendingOrder),
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

/** The newest updates of some maintenances, at most `each` of one. `ids` is a JSON array. */
export const listUpdatesOfMaintenances = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(getTableColumns(maintenanceUpdates))
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(
      sql`${maintenanceUpdates.id} IN (SELECT id FROM maintenance_updates
        WHERE maintenance_id = i.value ORDER BY display_at DESC, id DESC LIMIT ${$.each})`,
    )
    .orderBy(desc(maintenanceUpdates.displayAt), desc(maintenanceUpdates.id)),
);

export const findUpdate = selectOne((orm, $: { maintenanceId: string; id: string }) =>
  orm
    .select({ id: maintenanceUpdates.id, displayAt: maintenanceUpdates.displayAt })
    .from(maintenanceUpdates)
    .where(
      and(eq(maintenanceUpdates.id, $.id), eq(maintenanceUpdates.maintenanceId, $.maintenanceId)),
    ),
);

/** The updates of a maintenance behind a place, newest first. */
export const listUpdatesBehind = selectMany(
  (orm, $: { maintenanceId: string; beforeAt: number; beforeId: string; limit: number }) =>
    orm
      .select()
      .from(maintenanceUpdates)
      .where(
        and(
          eq(maintenanceUpdates.maintenanceId, $.maintenanceId),
          sql`(${maintenanceUpdates.displayAt}, ${maintenanceUpdates.id}) < (${$.beforeAt}, ${$.beforeId})`,
        ),
      )
      .orderBy(desc(maintenanceUpdates.displayAt), desc(maintenanceUpdates.id))
      .limit($.limit),
);

/** The update that a maintenance was planned with. */
export const findFirstUpdate = selectOne((orm, $: { maintenanceId: string }) =>
  orm
    .select()
    .from(maintenanceUpdates)
    .where(eq(maintenanceUpdates.maintenanceId, $.maintenanceId))
    .orderBy(asc(maintenanceUpdates.id))
    .limit(1),
);

/** What a maintenance marks and marked. */
export const listMarksOf = selectMany((orm, $: { maintenanceId: string }) =>
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
