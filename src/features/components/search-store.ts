/* Search of components on all pages. Not hot: every component is read once, in parts. */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { declareSearch, isFound, type PartSearch } from "../../db/word-search";
import { selectMany } from "../../db/statements";
import { components } from "../../db/tables/components";
import { pages } from "../../db/tables/pages";

const foldedName = sql<string>`lower(${components.name})`;

const searchPart = selectMany((orm, $: PartSearch) =>
  orm
    .select({
      id: components.id,
      name: components.name,
      status: components.status,
      order: foldedName,
      pageName: pages.name,
    })
    .from(components)
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(
      and(
        isNull(components.deletedAt),
        isNull(pages.deletedAt),
        isFound(
          components.id,
          sql`${components.name} || ' ' || ${pages.name} || ' ' || ${components.ref} || ' ' || ${components.id}`,
          $,
        ),
      ),
    )
    .orderBy(asc(foldedName), asc(components.id))
    .limit($.limit),
);

type Found = ReturnType<typeof searchPart>[number];

/** Order by name, then by id. */
function compare(a: Found, b: Found): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/**
 * Lists the components whose name, page, ref or id contains the words (`wordsOf`), by name, in several turns.
 */
export const searchComponents = declareSearch(components, searchPart, compare);
