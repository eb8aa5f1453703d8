import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MaintenanceStatus } from "../../domain/incident-status";

export const maintenances = sqliteTable("maintenances", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  name: text().notNull(),
  status: text().$type<MaintenanceStatus>().notNull(),
  scheduledFor: integer("scheduled_for").notNull(),
  scheduledUntil: integer("scheduled_until").notNull(),
  startedAt: integer("started_at"),
  completedAt: integer("completed_at"),
  autoStart: integer("auto_start", { mode: "boolean" }).notNull(),
  autoComplete: integer("auto_complete", { mode: "boolean" }).notNull(),
  remindMinutesBefore: integer("remind_minutes_before"),
  remindedAt: integer("reminded_at"),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
});

export const maintenanceComponents = sqliteTable(
  "maintenance_components",
  {
    maintenanceId: text("maintenance_id").notNull(),
    componentId: text("component_id").notNull(),
    name: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.maintenanceId, table.componentId] })],
);

export const maintenanceUpdates = sqliteTable("maintenance_updates", {
  id: text().primaryKey(),
  maintenanceId: text("maintenance_id").notNull(),
  status: text().$type<MaintenanceStatus>().notNull(),
  body: text().notNull(),
  displayAt: integer("display_at").notNull(),
  notify: integer({ mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
});
