import { and, asc, desc, eq, gt, isNull, lt, sql } from "drizzle-orm";
import {
  insertAllInto,
  insertInto,
  mutate,
  mutateByIds,
  selectByIds,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { componentCauses, componentChanges, components } from "../../db/tables/components";
import { incidents } from "../../db/tables/incidents";
import { maintenances } from "../../db/tables/maintenances";
import { monitors } from "../../db/tables/monitors";
import type { CauseSource } from "../../base/status";

/* Causes of component statuses, and changes of statuses. */

export type CauseRow = typeof componentCauses.$inferSelect;
export type ChangeRow = typeof componentChanges.$inferSelect;

export const insertCause = insertInto(componentCauses);
export const updateCauseRow = updateById(componentCauses);
export const insertCauses = insertAllInto(componentCauses);
export const insertChanges = insertAllInto(componentChanges);

/** Lists the open causes of components, oldest first. */
export const listOpenCausesOf = selectByIds((orm, isOneOf) =>
  orm
    .select()
    .from(componentCauses)
    .where(and(isOneOf(componentCauses.componentId), isNull(componentCauses.endedAt)))
    .orderBy(asc(componentCauses.id)),
);

/** Lists the open causes of incidents that components have. */
export const listIncidentCausesOf = selectByIds((orm, isOneOf) =>
  orm
    .select({
      componentId: componentCauses.componentId,
      status: componentCauses.status,
      incidentId: componentCauses.sourceId,
    })
    .from(componentCauses)
    .where(
      and(
        isOneOf(componentCauses.componentId),
        isNull(componentCauses.endedAt),
        eq(componentCauses.source, "incident"),
      ),
    ),
);

/** Condition of open causes of a page's components. */
const isOpenOnPage = ($: { pageId: string }) =>
  and(
    eq(components.pageId, $.pageId),
    isNull(components.deletedAt),
    isNull(componentCauses.endedAt),
  );

const CAUSE = {
  componentId: componentCauses.componentId,
  status: componentCauses.status,
  source: componentCauses.source,
  sourceId: componentCauses.sourceId,
  startedAt: componentCauses.startedAt,
  endedAt: componentCauses.endedAt,
};

/** Lists the causes of components (`ids`: a JSON array) that ended after `since` (unix ms). */
export const listEndedCausesOf = selectMany((orm, $: { ids: string; since: number }) =>
  orm
    .select(CAUSE)
    .from(componentCauses)
    .where(
      and(
        sql`${componentCauses.componentId} IN (SELECT value FROM json_each(${$.ids}))`,
        gt(componentCauses.endedAt, $.since),
      ),
    ),
);

/** Lists the open causes of a page's components, oldest first. */
export const listOpenCausesOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select(CAUSE)
    .from(componentCauses)
    .innerJoin(components, eq(components.id, componentCauses.componentId))
    .where(isOpenOnPage($))
    .orderBy(asc(componentCauses.id)),
);

/**
 * Lists the open causes of a page's components with the names of their incidents, maintenance or
 * monitors.
 */
export const listNamedCausesOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      cause: componentCauses,
      name: sql<string | null>`coalesce(${incidents.name}, ${maintenances.name}, ${monitors.name})`,
    })
    .from(componentCauses)
    .innerJoin(components, eq(components.id, componentCauses.componentId))
    .leftJoin(
      incidents,
      and(eq(componentCauses.source, "incident"), eq(incidents.id, componentCauses.sourceId)),
    )
    .leftJoin(
      maintenances,
      and(eq(componentCauses.source, "maintenance"), eq(maintenances.id, componentCauses.sourceId)),
    )
    .leftJoin(
      monitors,
      and(eq(componentCauses.source, "monitor"), eq(monitors.id, componentCauses.sourceId)),
    )
    .where(isOpenOnPage($))
    .orderBy(asc(componentCauses.id)),
);

/** Lists all causes of one source, unordered, since sorting costs more than reading. */
export const listCausesOfSource = selectMany((orm, $: { source: CauseSource; sourceId: string }) =>
  orm
    .select()
    .from(componentCauses)
    .where(and(eq(componentCauses.source, $.source), eq(componentCauses.sourceId, $.sourceId))),
);

/** Lists all causes that a source gave a component, unordered. */
export const listCausesOfSourceAndComponent = selectMany(
  (orm, $: { source: CauseSource; sourceId: string; componentId: string }) =>
    orm
      .select()
      .from(componentCauses)
      .where(
        and(
          eq(componentCauses.source, $.source),
          eq(componentCauses.sourceId, $.sourceId),
          eq(componentCauses.componentId, $.componentId),
        ),
      ),
);

/** Finds an imported cause of a component by its source and its times. */
export const findImportCause = selectOne(
  (orm, $: { componentId: string; sourceId: string; startedAt: number; endedAt: number }) =>
    orm
      .select({ id: componentCauses.id })
      .from(componentCauses)
      .where(
        and(
          eq(componentCauses.componentId, $.componentId),
          eq(componentCauses.endedAt, $.endedAt),
          eq(componentCauses.startedAt, $.startedAt),
          eq(componentCauses.source, "import"),
          // The plus leaves the index by time, since a flapping monitor has thousands of causes.
          sql`+${componentCauses.sourceId} = ${$.sourceId}`,
        ),
      ),
);

export const deleteCause = mutate((orm, $: { id: number }) =>
  orm.delete(componentCauses).where(eq(componentCauses.id, $.id)),
);

/** Returns the end of a cause, never before its start, even if the wall clock was set back. */
const endAt = (endedAt: number) => sql<number>`max(${componentCauses.startedAt}, ${endedAt})`;

/** Ends the statuses that people or API keys set on some components. */
export const endManualCauses = mutateByIds((orm, isOneOf, $: { endedAt: number }) =>
  orm
    .update(componentCauses)
    .set({ endedAt: endAt($.endedAt) })
    .where(
      sql`${isOneOf(componentCauses.componentId)}
        AND ${componentCauses.source} IN ('manual', 'api') AND ${componentCauses.endedAt} IS NULL`,
    ),
);

export const endAllCauses = mutate((orm, $: { componentId: string; endedAt: number }) =>
  orm
    .update(componentCauses)
    .set({ endedAt: endAt($.endedAt) })
    .where(and(eq(componentCauses.componentId, $.componentId), isNull(componentCauses.endedAt))),
);

/** Ends every open cause of a page's components. A deleted component has none. */
export const endCausesOfPage = mutate((orm, $: { pageId: string; endedAt: number }) =>
  orm
    .update(componentCauses)
    .set({ endedAt: endAt($.endedAt) })
    .where(
      and(
        sql`${componentCauses.componentId} IN (
          SELECT id FROM components WHERE page_id = ${$.pageId} AND deleted_at IS NULL)`,
        isNull(componentCauses.endedAt),
      ),
    ),
);

/** Lists the status changes of a component before the change `before`, newest first. */
export const listChanges = selectMany(
  (orm, $: { componentId: string; before: number; limit: number }) =>
    orm
      .select()
      .from(componentChanges)
      .where(
        and(eq(componentChanges.componentId, $.componentId), lt(componentChanges.id, $.before)),
      )
      .orderBy(desc(componentChanges.id))
      .limit($.limit),
);

/** Lists the open causes of one source. */
export const listOpenCausesOfSource = selectMany(
  (orm, $: { source: CauseSource; sourceId: string }) =>
    orm
      .select()
      .from(componentCauses)
      .where(
        and(
          eq(componentCauses.source, $.source),
          eq(componentCauses.sourceId, $.sourceId),
          isNull(componentCauses.endedAt),
        ),
      )
      .orderBy(asc(componentCauses.id)),
);

export const endOpenCausesOfSource = mutate(
  (orm, $: { componentId: string; source: CauseSource; sourceId: string; endedAt: number }) =>
    orm
      .update(componentCauses)
      .set({ endedAt: endAt($.endedAt) })
      .where(
        and(
          eq(componentCauses.componentId, $.componentId),
          eq(componentCauses.source, $.source),
          eq(componentCauses.sourceId, $.sourceId),
          isNull(componentCauses.endedAt),
        ),
      ),
);
