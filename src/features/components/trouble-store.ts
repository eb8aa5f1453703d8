/*
 * Components of all pages and their causes, for the overview. The causes of each component are found
 * by the index `component_causes_by_time`.
 */
import { and, asc, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { componentCauses, components } from "../../db/tables/components";
import { pages } from "../../db/tables/pages";
import { COMPONENT_STATUSES } from "../../base/status";

const { status, startedAt, endedAt } = componentCauses;

/** Position of a cause's status among all statuses, from the best to the worst. */
const severity = sql.raw(
  `CASE component_causes.status ${COMPONENT_STATUSES.map(
    (name, index) => `WHEN '${name}' THEN ${index}`,
  ).join(" ")} END`,
);

const inSpan = ($: { since: number; now: number }) =>
  sql`${status} <> 'operational' AND ${startedAt} < ${$.now}
    AND (${endedAt} IS NULL OR ${endedAt} > ${$.since})`;

/** Lists the components of all pages except the sample page, by page, in the order of the page. */
export const listWatchedComponents = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      id: components.id,
      pageId: components.pageId,
      groupId: components.groupId,
      name: components.name,
      status: components.status,
      updatedAt: components.updatedAt,
    })
    .from(pages)
    .innerJoin(components, eq(components.pageId, pages.id))
    .where(and(isNull(pages.deletedAt), eq(pages.isSample, false), isNull(components.deletedAt)))
    .orderBy(asc(pages.id), asc(components.position), asc(components.id)),
);

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
    .select({ componentId: componentCauses.componentId, status, startedAt, endedAt })
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
