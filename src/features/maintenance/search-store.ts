/* Search of maintenances on all pages. Not hot: at most every maintenance is read once, in parts. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { declareSearch, isFound, type PartSearch, selectMany } from "../../db";
import { maintenances } from "../../db/tables/maintenances";
import { pages } from "../../db/tables/pages";

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
