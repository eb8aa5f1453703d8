import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const settings = sqliteTable("settings", {
  name: text().primaryKey(),
  value: text({ mode: "json" }).$type<unknown>().notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const formSubmissions = sqliteTable("form_submissions", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  subjectId: text("subject_id").notNull(),
  at: integer().notNull(),
});
