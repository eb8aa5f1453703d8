import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const changes = sqliteTable("changes", {
  scope: text().primaryKey(),
  version: integer().notNull(),
});
