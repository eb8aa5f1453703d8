/*
 * What is counted by interval, from the tables of other rooms: incidents, found by `incidents_by_start`,
 * and the use of keys, found by its primary key. None is hot.
 */
import { and, eq, gte, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type Reader, selectMany } from "../../db";
import { incidents } from "../../db/tables/incidents";
import { apiKeyHours, apiKeys } from "../../db/tables/keys";
import { pages } from "../../db/tables/pages";
import { DAY_MS, HOUR_MS } from "../../kernel/time";
import type { IntervalName } from "./period";

/** How `intervalOf` is told of an interval: its length, -1 for months, null for the whole time. */
const SIZES = { hour: HOUR_MS, day: DAY_MS, month: -1 } as const;

export function sizeOf(interval: IntervalName | null): number | null {
  return interval === null ? null : SIZES[interval];
}

/** The number of the interval that a time lies in, as `numberOf` counts them. */
function intervalOf(at: SQL, size: number | null): SQL<number> {
  return sql<number>`CASE WHEN ${size} IS NULL THEN 0 WHEN ${size} > 0 THEN ${at} / ${size}
    ELSE strftime('%Y', ${at} / 1000, 'unixepoch') * 12 + strftime('%m', ${at} / 1000, 'unixepoch') - 1 END`;
}

/** The number of the interval that a moment lies in. */
export function numberOf(at: number, interval: IntervalName | null): number {
  if (interval === null) return 0;
  if (interval !== "month") return Math.floor(at / SIZES[interval]);
  const day = new Date(at);
  return day.getUTCFullYear() * 12 + day.getUTCMonth();
}

interface IncidentParams {
  pageId: string | null;
  componentId: string | null;
  monitorId: string | null;
  from: number;
  to: number;
  size: number | null;
  now: number;
}

const startedAt = sql`incidents.started_at`;
/** Told to have been recognised, or resolved, before it began: that took no time. */
const after = (at: SQL) => sql`max(0, ${at} - ${startedAt})`;
const countOf = (condition: SQL) => sql<number>`count(*) FILTER (WHERE ${condition})`;
const isOfImpact = (impact: string) => countOf(sql`incidents.impact = ${sql.raw(`'${impact}'`)}`);

/**
 * The published incidents that began within a span, counted by interval. One statement for each way to
 * find them, so that their texts are constant.
 */
function countStatement(where: ($: IncidentParams) => SQL) {
  return selectMany((orm, $: IncidentParams) =>
    orm
      .select({
        number: intervalOf(startedAt, $.size).as("number"),
        count: sql<number>`count(*)`,
        none: isOfImpact("none"),
        minor: isOfImpact("minor"),
        major: isOfImpact("major"),
        critical: isOfImpact("critical"),
        identified: sql<number>`count(incidents.identified_at)`,
        identifySum: sql<number | null>`sum(${after(sql`incidents.identified_at`)})`,
        resolved: sql<number>`count(incidents.resolved_at)`,
        resolveSum: sql<number | null>`sum(${after(sql`incidents.resolved_at`)})`,
        // SQLite takes the id from the row that has the greatest.
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
      .groupBy(sql`number`),
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
    SELECT m.incident_id FROM monitor_incidents AS m WHERE m.monitor_id = ${$.monitorId})`,
);

/** Those of a monitor, else of a component (of the page `pageId`), else of a page, else all. */
export function countIncidents(reader: Reader, params: IncidentParams) {
  if (params.monitorId !== null) return countOfMonitor(reader, params);
  if (params.componentId !== null) return countOfComponent(reader, params);
  return params.pageId === null ? countAll(reader, params) : countOfPage(reader, params);
}

/** The keys with when each was last used, as far as that is written; newest first, at most `limit`. */
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

/** How the requests of some keys were answered, by key and interval. */
export const countRequests = selectMany(
  (orm, $: { keyIds: string; from: number; to: number; size: number | null }) =>
    orm
      .select({
        keyId: apiKeyHours.keyId,
        number: intervalOf(sql`hour`, $.size).as("number"),
        ok: sql<number>`sum(ok)`,
        clientError: sql<number>`sum(client_error)`,
        limited: sql<number>`sum(limited)`,
      })
      .from(sql`json_each(${$.keyIds}) AS j`)
      .crossJoin(apiKeyHours)
      .where(
        sql`${apiKeyHours.keyId} = j.value AND ${apiKeyHours.hour} >= ${$.from} AND ${apiKeyHours.hour} < ${$.to}`,
      )
      .groupBy(apiKeyHours.keyId, sql`number`),
);
