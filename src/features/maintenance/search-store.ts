/* Search of maintenances on all pages. Not hot: at most every maintenance is read once, in parts. */
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
import { maintenances } from "../../db/tables/maintenances";
import { pages } from "../../db/tables/pages";

const findBoundary = selectOne((orm, $: { before: string; rows: number }) =>
  orm
    .select({ id: maintenances.id })
    .from(maintenances)
    .where(lt(maintenances.id, $.before))
    .orderBy(desc(maintenances.id))
    .limit(1)
    .offset($.rows),
);

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
        gte(maintenances.id, $.from),
        lt(maintenances.id, $.before),
        isNull(maintenances.deletedAt),
        isNull(pages.deletedAt),
        hasWords(sql`${maintenances.name} || ' ' || ${pages.name} || ' ' || ${maintenances.id}`, $),
      ),
    )
    .orderBy(desc(maintenances.id))
    .limit($.limit),
);

/**
 * Lists the maintenances whose name, page or id contains the words (`wordsOf`), newest first, in several turns.
 */
export function searchMaintenances(reader: Reader, query: SearchedWords & { limit: number }) {
  return searchInParts(reader, { findBoundary, searchPart }, query);
}
