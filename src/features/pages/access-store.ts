import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { deleteBy, findBy, listBy, setBy } from "../../db/rows";
import { insertInto, selectMany } from "../../db/statements";
import { pageLinks, pagePasswords } from "../../db/tables/page-access";
import { pages, pageSlugs } from "../../db/tables/pages";

export type PageLinkRow = typeof pageLinks.$inferSelect;

export const insertPagePassword = insertInto(pagePasswords);
export const findPagePassword = findBy(pagePasswords, ["pageId"]);
export const deletePagePassword = deleteBy(pagePasswords, ["pageId"]);

export const insertPageLink = insertInto(pageLinks);
export const findPageLink = findBy(pageLinks, ["pageId", "id"]);
export const deletePageLink = deleteBy(pageLinks, ["pageId", "id"]);
export const deletePageLinks = deleteBy(pageLinks, ["pageId"]);

export const setLinkUse = setBy(pageLinks, ["id"], ["lastUsedAt"]);

/** Lists the links of a page, newest first. */
export const listLinksOfPage = listBy(pageLinks, ["pageId"], { order: [desc(pageLinks.id)] });

/** Lists the slugs of private pages, current and earlier ones. */
export const listPrivateSlugs = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ slug: pageSlugs.slug })
    .from(pageSlugs)
    .innerJoin(pages, eq(pages.id, pageSlugs.pageId))
    .where(and(eq(pages.visibility, sql`'private'`), isNull(pages.deletedAt))),
);
