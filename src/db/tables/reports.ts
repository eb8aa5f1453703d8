import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const mailedReports = sqliteTable(
  "mailed_reports",
  {
    pageId: text("page_id").notNull(),
    month: text().notNull(),
    digest: text().notNull(),
    mailedAt: integer("mailed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.pageId, table.month] })],
);
