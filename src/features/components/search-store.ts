/* Search of components on all pages. Not hot: every component is read once. */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { hasWords, selectMany } from "../../db";
import { components } from "../../db/tables/components";
import { pages } from "../../db/tables/pages";

/** Lists the components whose name, page, ref or id contains the words (`wordsOf`), by name. */
export const searchComponents = selectMany((orm, $: { words: string; limit: number }) =>
  orm
    .select({
      id: components.id,
      name: components.name,
      status: components.status,
      pageName: pages.name,
    })
    .from(components)
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(
      and(
        isNull(components.deletedAt),
        isNull(pages.deletedAt),
        hasWords(
          sql`${components.name} || ' ' || ${pages.name} || ' ' || ${components.ref} || ' ' || ${components.id}`,
          $.words,
        ),
      ),
    )
    .orderBy(asc(sql`lower(${components.name})`), asc(components.id))
    .limit($.limit),
);
