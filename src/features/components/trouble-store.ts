/*
 * Causes of all components, for the overview. Found by `component_causes_by_time`, component by
 * component.
 */
import { and, eq, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db";
import { componentCauses, components } from "../../db/tables/components";
import { pages } from "../../db/tables/pages";

/** Lists the causes of all components that have not ended, or ended after `since` (unix ms). */
export const listCausesSince = selectMany((orm, $: { since: number; limit: number }) =>
  orm
    .select({
      componentId: componentCauses.componentId,
      status: componentCauses.status,
      startedAt: componentCauses.startedAt,
      endedAt: componentCauses.endedAt,
    })
    .from(pages)
    .crossJoin(components)
    .crossJoin(componentCauses)
    .where(
      and(
        isNull(pages.deletedAt),
        eq(components.pageId, pages.id),
        isNull(components.deletedAt),
        eq(componentCauses.componentId, components.id),
        sql`(${componentCauses.endedAt} IS NULL OR ${componentCauses.endedAt} > ${$.since})`,
      ),
    )
    .limit($.limit),
);

/** Finds the latest end of an outage or a degraded time of any component, in unix ms. */
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
      and(isNull(pages.deletedAt), eq(components.pageId, pages.id), isNull(components.deletedAt)),
    ),
);
