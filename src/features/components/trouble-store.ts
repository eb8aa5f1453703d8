/*
 * Causes of all components, for the overview. Found by `component_causes_by_time`, component by
 * component.
 */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db";
import { componentCauses, components } from "../../db/tables/components";
import { pages } from "../../db/tables/pages";
import { COMPONENT_STATUSES } from "../../domain/component-status";

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

/**
 * Lists the components, except those of the sample page, that were not operational between `since` and `now` (unix ms), worst status
 * first, then the longest. `total` counts all of them; causes at the same time count twice in the
 * order.
 */
export const listTroubledComponents = selectMany(
  (orm, $: { since: number; now: number; limit: number }) =>
    orm
      .select({
        id: components.id,
        total: sql<number>`count(*) OVER ()`,
      })
      .from(pages)
      .crossJoin(components)
      .crossJoin(componentCauses)
      .where(
        and(
          isNull(pages.deletedAt),
          eq(pages.isSample, false),
          eq(components.pageId, pages.id),
          isNull(components.deletedAt),
          eq(componentCauses.componentId, components.id),
          inSpan($),
        ),
      )
      .groupBy(components.id)
      .orderBy(
        desc(sql`max(${severity})`),
        desc(
          sql`sum(min(coalesce(${endedAt}, ${$.now}), ${$.now}) - max(${startedAt}, ${$.since}))`,
        ),
      )
      .limit($.limit),
);

/** Lists the causes of components (`ids`: a JSON list) between `since` and `now` (unix ms). */
export const listCausesBetween = selectMany((orm, $: { ids: string; since: number; now: number }) =>
  orm
    .select({ componentId: componentCauses.componentId, status, startedAt, endedAt })
    .from(sql`json_each(${$.ids}) AS j`)
    .crossJoin(componentCauses)
    .where(and(sql`${componentCauses.componentId} = j.value`, inSpan($))),
);

/** Finds the latest end of an outage or a degraded time of any component, in unix ms. The sample page is left out. */
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
