import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Columns of a table with a picture of each page. */
const picture = () => ({
  pageId: text("page_id").primaryKey(),
  mediaType: text("media_type").$type<"image/png" | "image/jpeg" | "image/webp">().notNull(),
  sha256: blob({ mode: "buffer" }).notNull(),
  width: integer().notNull(),
  height: integer().notNull(),
  bytes: blob({ mode: "buffer" }).notNull(),
});

export const pageLogos = sqliteTable("page_logos", picture());
export const pageFavicons = sqliteTable("page_favicons", picture());
