import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CauseSource, ComponentStatus } from "../../base/status";
import type { Manager } from "../../base/ids";
import { actorColumns } from "./events";

export const componentGroups = sqliteTable("component_groups", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  ref: text().notNull(),
  name: text().notNull(),
  description: text(),
  position: integer().notNull(),
  collapse: text().$type<"expanded" | "collapsed" | "collapsed_unless_incident">().notNull(),
  managedBy: text("managed_by").$type<Manager>(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
});

export const components = sqliteTable("components", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  groupId: text("group_id"),
  ref: text().notNull(),
  name: text().notNull(),
  description: text(),
  position: integer().notNull(),
  status: text().$type<ComponentStatus>().notNull(),
  baselineStatus: text("baseline_status").$type<ComponentStatus>().notNull(),
  showcase: integer({ mode: "boolean" }).notNull(),
  startDate: text("start_date"),
  onlyShowIfDegraded: integer("only_show_if_degraded", { mode: "boolean" }).notNull(),
  managedBy: text("managed_by").$type<Manager>(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  showLatency: integer("show_latency", { mode: "boolean" }).notNull().default(false),
  tags: text({ mode: "json" }).$type<string[]>().notNull().default([]),
  uptimeGoal: real("uptime_goal"),
});

export const componentCauses = sqliteTable("component_causes", {
  id: integer().primaryKey(),
  componentId: text("component_id").notNull(),
  source: text().$type<CauseSource>().notNull(),
  sourceId: text("source_id").notNull(),
  status: text().$type<ComponentStatus>().notNull(),
  startedAt: integer("started_at").notNull(),
  endedAt: integer("ended_at"),
});

export const componentChanges = sqliteTable("component_changes", {
  id: integer().primaryKey(),
  componentId: text("component_id").notNull(),
  fromStatus: text("from_status").$type<ComponentStatus>().notNull(),
  toStatus: text("to_status").$type<ComponentStatus>().notNull(),
  source: text().$type<CauseSource>().notNull(),
  reason: text(),
  ...actorColumns,
  at: integer().notNull(),
});
