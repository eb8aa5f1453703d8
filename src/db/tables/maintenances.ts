import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuthorKind } from "../../base/actor";
import type { MaintenanceStatus } from "../../base/status";
import type { Manager } from "../../base/ids";

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
  scheduleId: text("schedule_id"),
  occurrenceAt: integer("occurrence_at"),
  author: text().$type<AuthorKind>().notNull().default("person"),
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
  lang: text(),
});

export const maintenanceSchedules = sqliteTable("maintenance_schedules", {
  id: text().primaryKey(),
  ref: text().notNull(),
  pageId: text("page_id").notNull(),
  name: text().notNull(),
  body: text().notNull(),
  cron: text().notNull(),
  everyDays: integer("every_days"),
  durationMinutes: integer("duration_minutes").notNull(),
  timeZone: text("time_zone").notNull(),
  startsOn: text("starts_on"),
  endsOn: text("ends_on"),
  remindMinutesBefore: integer("remind_minutes_before"),
  enabled: integer({ mode: "boolean" }).notNull(),
  nextAt: integer("next_at"),
  managedBy: text("managed_by").$type<Manager>(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  author: text().$type<AuthorKind>().notNull().default("person"),
});

export const maintenanceScheduleComponents = sqliteTable(
  "maintenance_schedule_components",
  {
    scheduleId: text("schedule_id").notNull(),
    componentId: text("component_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.scheduleId, table.componentId] })],
);
