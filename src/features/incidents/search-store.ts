/* Search of incidents on all pages. Not hot: at most every incident is read once. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { hasWords, selectMany } from "../../db";
import { incidents } from "../../db/tables/incidents";
import { pages } from "../../db/tables/pages";

/** Lists the incidents, drafts included, whose name, page or id contains the words (`wordsOf`), newest first. */
export const searchIncidents = selectMany((orm, $: { words: string; limit: number }) =>
  orm
    .select({
      id: incidents.id,
      name: incidents.name,
      impact: incidents.impact,
      status: incidents.status,
      isDraft: incidents.draft,
      startedAt: incidents.startedAt,
      pageName: pages.name,
    })
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(
      and(
        isNull(incidents.deletedAt),
        isNull(pages.deletedAt),
        hasWords(sql`${incidents.name} || ' ' || ${pages.name} || ' ' || ${incidents.id}`, $.words),
      ),
    )
    .orderBy(desc(incidents.id))
    .limit($.limit),
);
