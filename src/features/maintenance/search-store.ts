/* Search of maintenances on all pages. Not hot: at most every maintenance is read once, in parts. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { declareSearch, isFound, type PartSearch } from "../../db/word-search";
import { selectMany } from "../../db/statements";
import { maintenances } from "../../db/tables/maintenances";
import { pages } from "../../db/tables/pages";

/** Condition: the name of a maintenance, or of one of its components, contains a text; null matches all. */
export const isSearched = ($: { search: string | null }) =>
  sql`(${$.search} IS NULL OR instr(lower(maintenances.name), lower(${$.search})) > 0
    OR EXISTS (SELECT 1 FROM maintenance_components AS n WHERE n.maintenance_id = maintenances.id
      AND instr(lower(n.name), lower(${$.search})) > 0))`;

const searchPart = selectMany((orm, $: PartSearch) =>
  orm
    .select({
      id: maintenances.id,
      name: maintenances.name,
      status: maintenances.status,
      scheduledFor: maintenances.scheduledFor,
      pageName: pages.name,
    })
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(
      and(
        isNull(maintenances.deletedAt),
        isNull(pages.deletedAt),
        isFound(
          maintenances.id,
          sql`${maintenances.name} || ' ' || ${pages.name} || ' ' || ${maintenances.id}`,
          $,
        ),
      ),
    )
    .orderBy(desc(maintenances.id))
    .limit($.limit),
);

/**
 * Lists the maintenances whose name, page or id contains the words (`wordsOf`), newest first, in several turns.
 */
export const searchMaintenances = declareSearch(maintenances, searchPart);
