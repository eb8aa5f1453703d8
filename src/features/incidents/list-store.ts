import { and, asc, desc, eq, gte, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { incidents, incidentUpdateComponents, incidentUpdates } from "../../db/tables/incidents";
import type { Impact } from "../../domain/incident-status";
import {
  isAmongNewest,
  isWithin,
  newestFirst,
  newestStartFirst,
  type SpanParams,
  textSizes,
} from "../timeline/store";
import { isSearched } from "./search-store";
import { isOneOf, isPublished, UPDATE_SUMMARY } from "./store";

/* Statements for lists of incidents. */

const naming = incidentUpdateComponents;

/**
 * Counts the rows of incidents (`ids`: a JSON list), in its order: one for each component that an
 * update names, one for an update that names none, and one for each outage. Counting stops after `most` rows in total.
 */
export const listRowCounts = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ id: sql<string>`id`, rows: sql<number>`count(*)` })
    .from(
      sql`(SELECT i.value AS id FROM json_each(${$.ids}) AS i
        CROSS JOIN incident_updates AS u ON u.incident_id = i.value
        LEFT JOIN incident_update_components AS n ON n.update_id = u.id
        UNION ALL SELECT i.value AS id FROM json_each(${$.ids}) AS i
        CROSS JOIN incident_outages AS o ON o.incident_id = i.value
        LIMIT ${$.most})`,
    )
    .groupBy(sql`id`),
);

/** Returns the bytes of the texts of the newest updates of incidents. */
export const listTextSizes = textSizes(incidentUpdates.incidentId);

/** Lists the newest updates of incidents (`ids`: a JSON list) without their texts, at most `each` of one. */
export const listNewestUpdates = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(UPDATE_SUMMARY)
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(incidentUpdates)
    .where(isAmongNewest(incidentUpdates.id, incidentUpdates.incidentId, $.each))
    .orderBy(...newestFirst(incidentUpdates)),
);

/** Lists the first `most` components that updates (`ids`: a JSON list) name, in the order of `ids`. */
export const listFirstNamings = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ naming })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(naming)
    .where(sql`${naming.updateId} = i.value`)
    .limit($.most),
);

const SUMMARY = {
  id: incidents.id,
  name: incidents.name,
  status: incidents.status,
  impact: incidents.impact,
  startedAt: incidents.startedAt,
  resolvedAt: incidents.resolvedAt,
  postmortemPublishedAt: incidents.postmortemPublishedAt,
};

/** Lists published incidents that started within a span, newest start first. */
export const listSummariesBetween = selectMany((orm, $: SpanParams) =>
  orm
    .select(SUMMARY)
    .from(incidents)
    .where(and(...isWithin(incidents, $), isPublished))
    .orderBy(...newestStartFirst(incidents))
    .limit($.limit),
);

/** Lists published incidents of a page that were resolved at `since` (unix ms) or later, the last first. */
export const listEndedSummaries = selectMany(
  (orm, $: { pageId: string; since: number; limit: number }) =>
    orm
      .select(SUMMARY)
      .from(incidents)
      .where(and(eq(incidents.pageId, $.pageId), gte(incidents.resolvedAt, $.since), isPublished))
      .orderBy(desc(incidents.resolvedAt), desc(incidents.id))
      .limit($.limit),
);

/**
 * Lists the published open incidents of a page before a position, newest start first. Found by the partial
 * index of open incidents.
 */
export const listOpenSummaries = selectMany(
  (orm, $: { pageId: string; beforeAt: number; beforeId: string; limit: number }) =>
    orm
      .select(SUMMARY)
      .from(incidents)
      .where(
        and(
          eq(incidents.pageId, $.pageId),
          // Written as in the partial index.
          sql`${incidents.status} <> 'resolved'`,
          isPublished,
          sql`(${incidents.startedAt}, ${incidents.id}) < (${$.beforeAt}, ${$.beforeId})`,
        ),
      )
      .orderBy(...newestStartFirst(incidents))
      .limit($.limit),
);

/**
 * Finds the names by id of the published incidents of a page, as JSON objects: of open ones, and of those
 * that were resolved at `since` (unix ms) or later and are among the `limit` ones that were resolved last.
 * One row takes a third of the time of many, and half of that without a sorted list of them.
 */
export const findIncidentNames = selectOne(
  (orm, $: { pageId: string; since: number; limit: number }) =>
    orm
      .select({
        open: sql<string>`(SELECT json_group_object(id, name) FROM incidents
          WHERE page_id = ${$.pageId} AND status <> 'resolved' AND draft = 0 AND deleted_at IS NULL)`,
        resolved: sql<string>`(SELECT json_group_object(id, name) FROM incidents
          WHERE page_id = ${$.pageId} AND draft = 0 AND deleted_at IS NULL
            AND resolved_at >= coalesce((SELECT resolved_at FROM incidents
              WHERE page_id = ${$.pageId} AND resolved_at >= ${$.since}
              ORDER BY resolved_at DESC LIMIT 1 OFFSET ${$.limit} - 1), ${$.since}))`,
      })
      .from(sql`(SELECT 1)`),
);

/** Counts the published incidents of a page. */
export const countPublished = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(incidents)
    .where(and(eq(incidents.pageId, $.pageId), isPublished)),
);

/** Finds the published incident of a page that started first. */
export const findFirstSummary = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ startedAt: incidents.startedAt })
    .from(incidents)
    .where(and(eq(incidents.pageId, $.pageId), isPublished))
    .orderBy(asc(incidents.startedAt))
    .limit(1),
);

/** Lists the component names that incidents (`ids`: a JSON list) used, in the order of effect. */
export const listNames = selectMany((orm, $: { ids: string }) =>
  orm
    .select({
      incidentId: incidentUpdates.incidentId,
      componentId: naming.componentId,
      name: naming.name,
    })
    .from(incidentUpdates)
    .innerJoin(naming, eq(naming.updateId, incidentUpdates.id))
    .where(isOneOf(incidentUpdates.incidentId, $.ids))
    .orderBy(asc(incidentUpdates.displayAt), asc(incidentUpdates.id), asc(naming.componentId)),
);

/** Counts the incidents of the dashboard's list; null matches everything. A draft is only a draft. */
export const countRows = selectOne(
  (
    orm,
    $: {
      pageId: string | null;
      componentId: string | null;
      impact: Impact | null;
      search: string | null;
    },
  ) =>
    orm
      .select({
        open: sql<number>`count(*) FILTER (WHERE NOT ${incidents.draft} AND ${incidents.status} <> 'resolved')`,
        drafts: sql<number>`count(*) FILTER (WHERE ${incidents.draft})`,
        resolved: sql<number>`count(*) FILTER (WHERE NOT ${incidents.draft} AND ${incidents.status} = 'resolved')`,
      })
      .from(incidents)
      .where(
        and(
          isNull(incidents.deletedAt),
          sql`${incidents.pageId} IN (SELECT id FROM pages WHERE deleted_at IS NULL)`,
          sql`(${$.pageId} IS NULL OR ${incidents.pageId} = ${$.pageId})`,
          sql`(${$.impact} IS NULL OR ${incidents.impact} = ${$.impact})`,
          sql`(${$.componentId} IS NULL OR ${incidents.id} IN
            (SELECT incident_id FROM incident_update_components WHERE component_id = ${$.componentId}))`,
          isSearched($),
        ),
      ),
);

/** Counts all incidents, deleted ones included, from an index alone. */
export const countAllRows = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: sql<number>`count(*)` }).from(incidents),
);

/** Counts the published open incidents of each page and impact. */
export const countOpenImpacts = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ pageId: incidents.pageId, impact: incidents.impact, count: sql<number>`count(*)` })
    .from(incidents)
    .where(and(sql`${incidents.status} <> 'resolved'`, isPublished))
    .groupBy(incidents.pageId, incidents.impact),
);
