import { and, asc, desc, eq, isNull, lt, ne, sql } from "drizzle-orm";
import { deleteBy, findBy, listBy } from "../../db/rows";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db/statements";
import { pageAddress, pages, pageSlugs } from "../../db/tables/pages";

export type PageRow = typeof pages.$inferSelect;

export const insertPage = insertInto(pages);
export const updatePageRow = updateById(pages);
export const insertPageSlug = insertInto(pageSlugs);

export const findPage = findBy(pages, ["id"], { where: isNull(pages.deletedAt) });

/** Finds a page by its id, also a deleted one. */
export const findPageOrDeleted = findBy(pages, ["id"]);

/** Finds the oldest page, also if it was deleted. */
export const findFirstPage = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ id: pages.id }).from(pages).orderBy(asc(pages.id)).limit(1),
);

/** Finds a page by its current slug or an earlier one. */
export const findPageBySlug = selectOne((orm, $: { slug: string }) =>
  orm
    .select()
    .from(pages)
    .where(
      and(
        eq(
          pages.id,
          orm.select({ id: pageSlugs.pageId }).from(pageSlugs).where(eq(pageSlugs.slug, $.slug)),
        ),
        isNull(pages.deletedAt),
      ),
    ),
);

export const findPageByRef = findBy(pages, ["ref"], { where: isNull(pages.deletedAt) });

// The same text as in the condition of the partial index, so that SQLite uses it.
const isDefault = sql`${pages.isDefault} = 1`;

export const findDefaultPage = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(pages)
    .where(and(isDefault, isNull(pages.deletedAt))),
);

export const listAllPages = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(pages).where(isNull(pages.deletedAt)).orderBy(desc(pages.id)),
);

/** Lists pages with ids below `before`, newest first. */
export const listPagesBefore = selectMany((orm, $: { before: string; limit: number }) =>
  orm
    .select()
    .from(pages)
    .where(and(isNull(pages.deletedAt), lt(pages.id, $.before)))
    .orderBy(desc(pages.id))
    .limit($.limit),
);

/** Lists the slugs of a page, including earlier ones, newest first. */
export const listSlugsOfPage = listBy(pageSlugs, ["pageId"], {
  order: [desc(pageSlugs.createdAt), sql`${pageSlugs.slug}`],
});

export const deletePageSlug = deleteBy(pageSlugs, ["pageId", "slug"]);
export const deletePageSlugs = deleteBy(pageSlugs, ["pageId"]);

/** Lists the pages with custom domains, each with all its slugs. */
export const listPagesWithDomains = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      id: pages.id,
      ...pageAddress,
      slugs: sql`(SELECT json_group_array(slug) FROM page_slugs WHERE page_id = pages.id)`.mapWith(
        (slugs: string): string[] => JSON.parse(slugs),
      ),
    })
    .from(pages)
    .where(and(isNull(pages.deletedAt), ne(sql`${pages.customDomains}`, sql`'[]'`))),
);

export const clearDefault = mutate((orm, $: { now: number }) =>
  orm
    .update(pages)
    .set({ isDefault: false, version: sql`${pages.version} + 1`, updatedAt: $.now })
    .where(isDefault),
);

/** Erases a page with everything that belongs to it. Only for the sample page. */
export const erasePage = deleteBy(pages, ["id"]);
