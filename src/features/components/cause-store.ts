import { and, asc, desc, eq, gt, isNotNull, isNull, lt, sql, type SQL } from "drizzle-orm";
import { type CauseSource, COMPONENT_STATUSES } from "../../base/status";
import { areEqual, deleteBy, listBy } from "../../db/rows";
import {
  insertAllInto,
  insertInto,
  isAmong,
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
import { pages } from "../../db/tables/pages";

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
    .where(and(isAmong(componentCauses.componentId, $.ids), gt(componentCauses.endedAt, $.since))),
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
export const listCausesOfSource = listBy(componentCauses, ["source", "sourceId"]);

/** Lists all causes that a source gave a component, unordered. */
export const listCausesOfSourceAndComponent = listBy(componentCauses, [
  "source",
  "sourceId",
  "componentId",
]);

/** Sums the times in ms for which one source gave components each status, without open causes. */
export const sumEndedCauses = selectMany((orm, $: { source: CauseSource; sourceId: string }) =>
  orm
    .select({
      componentId: componentCauses.componentId,
      status: componentCauses.status,
      ms: sql<number>`sum(${componentCauses.endedAt} - ${componentCauses.startedAt})`,
    })
    .from(componentCauses)
    .where(areEqual(componentCauses, ["source", "sourceId"], $, isNotNull(componentCauses.endedAt)))
    .groupBy(componentCauses.componentId, componentCauses.status),
);

/** Lists the open causes of one source. */
export const listOpenCausesOfSource = listBy(componentCauses, ["source", "sourceId"], {
  where: isNull(componentCauses.endedAt),
  order: [asc(componentCauses.id)],
});

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

export const deleteCause = deleteBy(componentCauses, ["id"]);

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

/* Causes of all pages, for the overview. Those of each component are found by the index `component_causes_by_time`. */

/** Position of a cause's status among all statuses, from the best to the worst. */
const severity = sql.raw(
  `CASE component_causes.status ${COMPONENT_STATUSES.map(
    (name, index) => `WHEN '${name}' THEN ${index}`,
  ).join(" ")} END`,
);

const inSpan = ($: { since: number; now: number }) =>
  sql`${CAUSE.status} <> 'operational' AND ${CAUSE.startedAt} < ${$.now}
    AND (${CAUSE.endedAt} IS NULL OR ${CAUSE.endedAt} > ${$.since})`;

/**
 * Lists the components, except those of the sample page, that were not operational between `since`
 * and `now` (unix ms), worst status first, then longest time. Simultaneous causes each add their
 * time. `total` is the number of components without the limit.
 */
export const listTroubledComponents = selectMany(
  (orm, $: { since: number; now: number; limit: number }) =>
    orm
      .select({ id: sql<string>`t.component_id`, total: sql<number>`count(*) OVER ()` })
      .from(sql`(${troubleOf("IS NULL", $)} UNION ALL ${troubleOf(sql`> ${$.since}`, $)}) AS t`)
      .groupBy(sql`t.component_id`)
      .orderBy(
        desc(sql`max(t.severity)`),
        desc(
          sql`sum(min(coalesce(t.ended_at, ${$.now}), ${$.now}) - max(t.started_at, ${$.since}))`,
        ),
        sql`t.component_id`,
      )
      .limit($.limit),
);

/** Selects causes by their end. Each condition uses its own part of the index. */
function troubleOf(end: SQL | "IS NULL", $: { now: number }) {
  return sql`SELECT component_causes.component_id, component_causes.started_at,
      component_causes.ended_at, ${severity} AS severity
    FROM pages CROSS JOIN components CROSS JOIN component_causes
    WHERE pages.deleted_at IS NULL AND pages.is_sample = 0
      AND components.page_id = pages.id AND components.deleted_at IS NULL
      AND component_causes.component_id = components.id
      AND component_causes.ended_at ${end === "IS NULL" ? sql.raw(end) : end}
      AND component_causes.status <> 'operational' AND component_causes.started_at < ${$.now}`;
}

/**
 * Lists the causes of components (`ids`: a JSON list) between `since` and `now` (unix ms), except
 * operational ones.
 */
export const listCausesBetween = selectMany((orm, $: { ids: string; since: number; now: number }) =>
  orm
    .select({
      componentId: componentCauses.componentId,
      status: componentCauses.status,
      startedAt: componentCauses.startedAt,
      endedAt: componentCauses.endedAt,
    })
    .from(sql`json_each(${$.ids}) AS j`)
    .crossJoin(componentCauses)
    .where(and(sql`${componentCauses.componentId} = j.value`, inSpan($))),
);

/**
 * Finds the latest end of an outage or a degraded time of any component, in unix ms, except on the
 * sample page.
 */
export const findLastTrouble = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({
      endedAt: sql<number | null>`max((
        SELECT cc.ended_at FROM component_causes AS cc
        WHERE cc.component_id = ${components.id} AND cc.ended_at IS NOT NULL
          AND cc.status IN ('degraded_performance', 'partial_outage', 'major_outage')
        ORDER BY cc.ended_at DESC LIMIT 1))`,
    })
    .from(pages)
    .crossJoin(components)
    .where(
      and(
        isNull(pages.deletedAt),
        eq(pages.isSample, false),
        eq(components.pageId, pages.id),
        isNull(components.deletedAt),
      ),
    ),
);
