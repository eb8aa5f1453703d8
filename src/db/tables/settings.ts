import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const settings = sqliteTable("settings", {
  name: text().primaryKey(),
  value: text({ mode: "json" }).$type<unknown>().notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Terms of the primary of a fleet. */
export const terms = sqliteTable("terms", {
  term: integer().primaryKey(),
  previousTxid: integer("previous_txid"),
  at: integer().notNull(),
  by: text().notNull(),
});
