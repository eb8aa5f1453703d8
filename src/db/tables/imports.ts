import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Imported, ImportKind, ImportReport } from "../../base/import-report";

export const importSources = sqliteTable("import_sources", {
  id: text().primaryKey(),
  kind: text().$type<ImportKind>().notNull(),
  name: text().notNull(),
  fingerprint: text(),
  createdAt: integer("created_at").notNull(),
});

export const imports = sqliteTable("imports", {
  id: text().primaryKey(),
  sourceId: text("source_id").notNull(),
  finishedAt: integer("finished_at").notNull(),
  report: text({ mode: "json" }).$type<ImportReport>().notNull(),
});

export const importRefs = sqliteTable(
  "import_refs",
  {
    sourceId: text("source_id").notNull(),
    foreignType: text("foreign_type").notNull(),
    foreignId: text("foreign_id").notNull(),
    kind: text().$type<Imported>().notNull(),
    id: text().notNull(),
    mark: integer().notNull(),
    settingsHash: blob("settings_hash", { mode: "buffer" }).notNull(),
    pausedBy: text("paused_by"),
  },
  (table) => [primaryKey({ columns: [table.sourceId, table.foreignType, table.foreignId] })],
);

/** Progress of a monitor's history: the part of it that is being written is JSON. */
export const importHistories = sqliteTable("import_histories", {
  monitorNum: integer("monitor_num").primaryKey(),
  sourceId: text("source_id").notNull(),
  writtenFrom: integer("written_from").notNull(),
  part: text({ mode: "json" }),
  step: integer().notNull(),
  rows: integer().notNull(),
  results: integer().notNull(),
  firstAt: integer("first_at"),
  lastAt: integer("last_at"),
  skipped: text({ mode: "json" }).$type<Record<string, number>>().notNull(),
});

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
