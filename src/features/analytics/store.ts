/*
 * Data of uptime and latency, from tables of other modules: components with their causes, and
 * monitors. None is hot; causes are found by `component_causes_by_time`.
 */
import { and, asc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { type Reader, selectMany, selectOne } from "../../db/statements";
import { componentCauses, components } from "../../db/tables/components";
import { componentNoData, monitorComponents, monitors } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";

/** Lists the components of all pages in page order, at most `limit`. */
export const listComponents = selectMany((orm, $: { limit: number }) =>
  orm
    .select({ component: components, pageSlug: pages.slug })
    .from(pages)
    .innerJoin(components, eq(components.pageId, pages.id))
    .where(and(isNull(pages.deletedAt), isNull(components.deletedAt)))
    .orderBy(asc(pages.id), asc(components.position), asc(components.id))
    .limit($.limit),
);

interface Marked {
  /** JSON list of component ids. */
  componentIds: string;
  from: number;
  to: number;
}

/** Returns the statement for ended or for open causes. Each uses its own part of the index. */
function causesStatement(hasEnd: ($: Marked) => SQL) {
  return selectMany((orm, $: Marked) =>
    orm
      .select({
        componentId: componentCauses.componentId,
        status: componentCauses.status,
        startedAt: componentCauses.startedAt,
        endedAt: componentCauses.endedAt,
      })
      .from(sql`json_each(${$.componentIds}) AS j`)
      .crossJoin(componentCauses)
      .where(
        and(
          sql`${componentCauses.componentId} = j.value AND ${componentCauses.startedAt} < ${$.to}`,
          hasEnd($),
        ),
      ),
  );
}

const listEndedCauses = causesStatement(($) => sql`${componentCauses.endedAt} > ${$.from}`);
const listOpenCauses = causesStatement(() => isNull(componentCauses.endedAt));

/** Lists the causes of components within a span. */
export function listCauses(reader: Reader, marked: Marked) {
  return [...listEndedCauses(reader, marked), ...listOpenCauses(reader, marked)];
}

/** Lists the times without data of components within a span. */
export const listNoData = selectMany((orm, $: Marked) =>
  orm
    .select({
      componentId: componentNoData.componentId,
      startedAt: componentNoData.startedAt,
      endedAt: componentNoData.endedAt,
    })
    .from(sql`json_each(${$.componentIds}) AS j`)
    .crossJoin(componentNoData)
    .where(
      sql`${componentNoData.componentId} = j.value AND ${componentNoData.startedAt} < ${$.to}
        AND (${componentNoData.endedAt} IS NULL OR ${componentNoData.endedAt} > ${$.from})`,
    ),
);

const MONITOR = { id: monitors.id, num: monitors.num, name: monitors.name };
const isThere = isNull(monitors.deletedAt);

export const findMonitor = selectOne((orm, $: { id: string }) =>
  orm
    .select(MONITOR)
    .from(monitors)
    .where(and(eq(monitors.id, $.id), isThere)),
);

/** Lists monitors, oldest first, at most `limit`. */
export const listMonitors = selectMany((orm, $: { limit: number }) =>
  orm.select(MONITOR).from(monitors).where(isThere).orderBy(asc(monitors.id)).limit($.limit),
);

/** Lists the monitors of a page's components. */
export const listMonitorsOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .selectDistinct(MONITOR)
    .from(components)
    .innerJoin(monitorComponents, eq(monitorComponents.componentId, components.id))
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(and(eq(components.pageId, $.pageId), isNull(components.deletedAt), isThere))
    .orderBy(asc(monitors.id)),
);

export const listMonitorsOfComponent = selectMany((orm, $: { componentId: string }) =>
  orm
    .select(MONITOR)
    .from(monitorComponents)
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(and(eq(monitorComponents.componentId, $.componentId), isThere))
    .orderBy(asc(monitors.id)),
);

/** Lists monitors without components, oldest first, at most `limit`. */
export const listUnattachedMonitors = selectMany((orm, $: { limit: number }) =>
  orm
    .select(MONITOR)
    .from(monitors)
    .where(
      and(
        isThere,
        sql`NOT EXISTS (
          SELECT 1 FROM monitor_components AS c JOIN components AS p ON p.id = c.component_id
          WHERE c.monitor_id = monitors.id AND p.deleted_at IS NULL)`,
      ),
    )
    .orderBy(asc(monitors.id))
    .limit($.limit),
);

/** Lists monitors that measure response times, oldest first: those of a page, or all; at most `limit`. */
export const listMeasuringMonitors = selectMany(
  (orm, $: { pageId: string | null; limit: number }) =>
    orm
      .select(MONITOR)
      .from(monitors)
      .where(
        and(
          isThere,
          sql`${monitors.type} <> 'push'`,
          sql`(${$.pageId} IS NULL OR EXISTS (
            SELECT 1 FROM monitor_components AS c JOIN components AS p ON p.id = c.component_id
            WHERE c.monitor_id = monitors.id AND p.page_id = ${$.pageId} AND p.deleted_at IS NULL))`,
        ),
      )
      .orderBy(asc(monitors.id))
      .limit($.limit),
);
