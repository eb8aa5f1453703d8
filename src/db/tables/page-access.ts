import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const pagePasswords = sqliteTable("page_passwords", {
  pageId: text("page_id").primaryKey(),
  hash: text().notNull(),
});

export const pageLinks = sqliteTable("page_links", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  name: text().notNull(),
  hash: blob({ mode: "buffer" }).notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at"),
  lastUsedAt: integer("last_used_at"),
});
