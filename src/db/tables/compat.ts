import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Numbers that Uptime Kuma's clients know objects by. Triggers give one to each new object. */
export const compatNumbers = sqliteTable(
  "compat_numbers",
  {
    range: text().$type<"entry" | "group" | "page" | "incident" | "maintenance">().notNull(),
    number: integer().notNull(),
    id: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.range, table.number] })],
);

/** Keys that Gatus' clients know components by, as far as an import kept them. */
export const compatKeys = sqliteTable("compat_keys", {
  componentId: text("component_id").primaryKey(),
  key: text().notNull(),
});
