import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Terms of the primary of a fleet. */
export const terms = sqliteTable("terms", {
  term: integer().primaryKey(),
  previousTxid: integer("previous_txid"),
  at: integer().notNull(),
  by: text().notNull(),
});
