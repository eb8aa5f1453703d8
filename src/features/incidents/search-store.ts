/* Search of incidents on all pages. Not hot: at most every incident is read once, in parts. */
import { and, desc, eq, gte, isNull, lt, sql } from "drizzle-orm";
import {
  hasWords,
  type PartSearch,
  type Reader,
  type SearchedWords,
  searchInParts,
  selectMany,
  selectOne,
} from "../../db";
import { incidents } from "../../db/tables/incidents";
import { pages } from "../../db/tables/pages";

const findBoundary = selectOne((orm, $: { before: string; rows: number }) =>
  orm
    .select({ id: incidents.id })
    .from(incidents)
    .where(lt(incidents.id, $.before))
    .orderBy(desc(incidents.id))
    .limit(1)
    .offset($.rows),
);

const searchPart = selectMany((orm, $: PartSearch) =>
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
        gte(incidents.id, $.from),
        lt(incidents.id, $.before),
        isNull(incidents.deletedAt),
        isNull(pages.deletedAt),
        hasWords(sql`${incidents.name} || ' ' || ${pages.name} || ' ' || ${incidents.id}`, $),
      ),
    )
    .orderBy(desc(incidents.id))
    .limit($.limit),
);

/**
 * Lists the incidents, drafts included, whose name, page or id contains the words (`wordsOf`), newest first, in
 * several turns.
 */
export function searchIncidents(reader: Reader, query: SearchedWords & { limit: number }) {
  return searchInParts(reader, { findBoundary, searchPart }, query);
}
