/* Open incidents of all pages, for the overview. Found by the partial index of open incidents. */
import { and, eq, isNull, sql } from "drizzle-orm";
import { selectMany } from "../../db";
import { incidents } from "../../db/tables/incidents";
import { pages } from "../../db/tables/pages";

/** Lists the open incidents of all pages, drafts included, in no order. Times in unix ms. */
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

export type OpenIncident = ReturnType<typeof listAllOpenIncidents>[number];
