/* Search of maintenances on all pages. Not hot: at most every maintenance is read once. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { hasWords, selectMany } from "../../db";
import { maintenances } from "../../db/tables/maintenances";
import { pages } from "../../db/tables/pages";

/** Lists the maintenances whose name, page or id contains the words (`wordsOf`), newest first. */
export const searchMaintenances = selectMany((orm, $: { words: string; limit: number }) =>
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
        hasWords(
          sql`${maintenances.name} || ' ' || ${pages.name} || ' ' || ${maintenances.id}`,
          $.words,
        ),
      ),
    )
    .orderBy(desc(maintenances.id))
    .limit($.limit),
);
