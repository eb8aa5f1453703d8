/*
 * Data of figures, from tables of other modules: counts of incidents (by `incidents_by_start`) and of requests (by primary
 * key), components with their causes (by `component_causes_by_time`), and monitors. None is hot.
 */
import { and, asc, eq, gt, gte, isNull, lt, type SQL, sql } from "drizzle-orm";
import { DAY_MS, HOUR_MS } from "../../base/time";
import { type Reader, selectMany, selectOne } from "../../db/statements";
import { componentCauses, components } from "../../db/tables/components";
import { incidents } from "../../db/tables/incidents";
import { apiKeyHours, apiKeys } from "../../db/tables/keys";
import { componentNoData, monitorComponents, monitors } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import type { IntervalName } from "./period";

/**
 * Returns the length of the units that a query counts by, in ms: an hour, or a day, from which
 * months are added up. Without an interval one unit covers everything.
 */
export function unitOf(interval: IntervalName | null): number {
  if (interval === null) return Number.MAX_SAFE_INTEGER;
  return interval === "hour" ? HOUR_MS : DAY_MS;
}

interface IncidentParams {
  pageId: string | null;
  componentId: string | null;
  monitorId: string | null;
  from: number;
  to: number;
  /** Result of `unitOf`. */
  unit: number;
  now: number;
}

const startedAt = sql`incidents.started_at`;
/** Zero if it was identified or resolved before it started. */
const after = (at: SQL) => sql`max(0, ${at} - ${startedAt})`;
const countOf = (condition: SQL) => sql<number>`count(*) FILTER (WHERE ${condition})`;
const isOfImpact = (impact: string) => countOf(sql`incidents.impact = ${sql.raw(`'${impact}'`)}`);

/**
 * Returns the statement that counts published incidents that started within a span, by unit with
 * its start. One statement per kind of filter, with constant text.
 */
function countStatement(where: ($: IncidentParams) => SQL) {
  return selectMany((orm, $: IncidentParams) =>
    orm
      .select({
        at: sql<number>`${startedAt} / ${$.unit} * ${$.unit}`,
        count: sql<number>`count(*)`,
        none: isOfImpact("none"),
        minor: isOfImpact("minor"),
        major: isOfImpact("major"),
        critical: isOfImpact("critical"),
        identified: sql<number>`count(incidents.identified_at)`,
        identifySum: sql<number | null>`sum(${after(sql`incidents.identified_at`)})`,
        resolved: sql<number>`count(incidents.resolved_at)`,
        resolveSum: sql<number | null>`sum(${after(sql`incidents.resolved_at`)})`,
        // SQLite takes the id from the row with the maximum.
        longest: sql<number>`max(${after(sql`coalesce(incidents.resolved_at, ${$.now})`)})`,
        longestId: sql<string>`incidents.id`,
      })
      .from(pages)
      .crossJoin(incidents)
      .where(
        and(
          isNull(pages.deletedAt),
          eq(incidents.pageId, pages.id),
          gte(incidents.startedAt, $.from),
          lt(incidents.startedAt, $.to),
          eq(incidents.draft, false),
          isNull(incidents.deletedAt),
          where($),
        ),
      )
      .groupBy(sql`${startedAt} / ${$.unit}`),
  );
}

const countAll = countStatement(() => sql`TRUE`);
const countOfPage = countStatement(($) => sql`pages.id = ${$.pageId}`);
const countOfComponent = countStatement(
  ($) => sql`pages.id = ${$.pageId} AND incidents.id IN (
    SELECT n.incident_id FROM incident_update_components AS n WHERE n.component_id = ${$.componentId})`,
);
const countOfMonitor = countStatement(
  ($) => sql`incidents.id IN (
    SELECT o.incident_id FROM incident_outages AS o WHERE o.monitor_id = ${$.monitorId})`,
);

/**
 * Counts the incidents of a monitor, else of a component (of the page `pageId`), else of a page,
 * else all.
 */
export function countIncidents(reader: Reader, params: IncidentParams) {
  if (params.monitorId !== null) return countOfMonitor(reader, params);
  if (params.componentId !== null) return countOfComponent(reader, params);
  return params.pageId === null ? countAll(reader, params) : countOfPage(reader, params);
}

/** Lists keys with their last written use, newest first, at most `limit`. */
export const listKeys = selectMany((orm, $: { id: string | null; limit: number }) =>
  orm
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      lastUsedAt: sql<number | null>`(
        SELECT max(v.last_used_at) FROM api_key_values AS v WHERE v.key_id = api_keys.id)`,
    })
    .from(apiKeys)
    .where(sql`(${$.id} IS NULL OR ${apiKeys.id} = ${$.id})`)
    .orderBy(sql`${apiKeys.id} DESC`)
    .limit($.limit),
);

/**
 * Counts the responses to requests of keys (`keyIds`: a JSON list), by key and unit with its start.
 */
export const countRequests = selectMany(
  (orm, $: { keyIds: string; from: number; to: number; unit: number }) =>
    orm
      .select({
        keyId: apiKeyHours.keyId,
        at: sql<number>`hour / ${$.unit} * ${$.unit}`,
        ok: sql<number>`sum(ok)`,
        clientError: sql<number>`sum(client_error)`,
        limited: sql<number>`sum(limited)`,
      })
      .from(sql`json_each(${$.keyIds}) AS j`)
      .crossJoin(apiKeyHours)
      .where(
        sql`${apiKeyHours.keyId} = j.value AND ${apiKeyHours.hour} >= ${$.from} AND ${apiKeyHours.hour} < ${$.to}`,
      )
      .groupBy(apiKeyHours.keyId, sql`hour / ${$.unit}`),
);

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

/** Lists monitors without components whose ids follow `after`, oldest first, at most `limit`. */
export const listUnattachedMonitors = selectMany((orm, $: { after: string; limit: number }) =>
  orm
    .select(MONITOR)
    .from(monitors)
    .where(
      and(
        isThere,
        gt(monitors.id, $.after),
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
