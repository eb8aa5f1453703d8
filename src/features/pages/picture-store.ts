import { deleteBy, findBy } from "../../db/rows";
import { insertInto } from "../../db/statements";
import { pageFavicons, pageLogos } from "../../db/tables/page-pictures";

/** A picture of a page with its bytes. Both tables have the same columns. */
export type PictureRow = typeof pageLogos.$inferSelect;

/** Statements of the pictures of a page, by the column of `pages` with the name of the file. */
export const PICTURES = {
  logo: {
    find: findBy(pageLogos, ["pageId"]),
    insert: insertInto(pageLogos),
    remove: deleteBy(pageLogos, ["pageId"]),
  },
  favicon: {
    find: findBy(pageFavicons, ["pageId"]),
    insert: insertInto(pageFavicons),
    remove: deleteBy(pageFavicons, ["pageId"]),
  },
} as const;
