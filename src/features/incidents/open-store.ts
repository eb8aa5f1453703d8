/*
 * Incidents of all pages, for the overview. Open incidents of a page are found by their partial index,
 * its last incident by `incidents_by_start`.
 */
import { and, eq, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { incidents } from "../../db/tables/incidents";
import { pages } from "../../db/tables/pages";

/** Lists the open incidents of all pages, drafts included, in no particular order. Times in unix ms. */
export const listAllOpenIncidents = selectMany((orm, $: { limit: number }) =>
  orm
    .select({
      id: incidents.id,
      name: incidents.name,
      isDraft: incidents.draft,
      impact: incidents.impact,
      status: incidents.status,
      pageId: incidents.pageId,
      startedAt: incidents.startedAt,
      createdAt: incidents.createdAt,
      /** Time of the newest update; null without updates. */
      updateAt: sql<number | null>`(
        SELECT max(display_at) FROM incident_updates WHERE incident_id = ${incidents.id})`,
    })
    .from(pages)
    .crossJoin(incidents)
    .where(
      and(
        isNull(pages.deletedAt),
        eq(incidents.pageId, pages.id),
        // Written as in the partial index of open incidents.
        sql`${incidents.status} <> 'resolved'`,
        isNull(incidents.deletedAt),
      ),
    )
    .limit($.limit),
);

/** Finds the latest start of a published incident of any page, in unix ms. */
export const findLastIncidentStart = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({
      at: sql<number | null>`max((
        SELECT i.started_at FROM incidents AS i
        WHERE i.page_id = ${pages.id} AND i.draft = 0 AND i.deleted_at IS NULL
        ORDER BY i.started_at DESC LIMIT 1))`,
    })
    .from(pages)
    .where(isNull(pages.deletedAt)),
);

export type OpenIncident = ReturnType<typeof listAllOpenIncidents>[number];
