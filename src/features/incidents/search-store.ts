/* Search of incidents on all pages. Not hot: at most every incident is read once, in parts. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { declareSearch, isFound, type PartSearch } from "../../db/word-search";
import { selectMany } from "../../db/statements";
import { incidents } from "../../db/tables/incidents";
import { pages } from "../../db/tables/pages";

/**
 * Condition: the name of an incident, or of a component that it names, contains a text; null matches
 * all. The list of incidents with such components is made at most once per statement.
 */
export const isSearched = ($: { search: string | null }) =>
  sql`(${$.search} IS NULL OR instr(lower(incidents.name), lower(${$.search})) > 0
    OR incidents.id IN (SELECT n.incident_id FROM components AS c
      CROSS JOIN incident_update_components AS n ON n.component_id = c.id
      WHERE instr(lower(c.name), lower(${$.search})) > 0))`;

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
        isNull(incidents.deletedAt),
        isNull(pages.deletedAt),
        isFound(
          incidents.id,
          sql`${incidents.name} || ' ' || ${pages.name} || ' ' || ${incidents.id}`,
          $,
        ),
      ),
    )
    .orderBy(desc(incidents.id))
    .limit($.limit),
);

/**
 * Lists the incidents, drafts included, whose name, page or id contains the words (`wordsOf`), newest first, in
 * several turns.
 */
export const searchIncidents = declareSearch(incidents, searchPart);
