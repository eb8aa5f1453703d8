import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ComponentStatus } from "../../domain/component-status";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import type { OnDown } from "../../domain/monitor-state";

export const incidents = sqliteTable("incidents", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  name: text().notNull(),
  status: text().$type<IncidentStatus>().notNull(),
  impact: text().$type<Impact>().notNull(),
  impactOverride: text("impact_override").$type<Impact>(),
  source: text().$type<"api" | "dashboard" | "monitor" | "import">().notNull(),
  draft: integer({ mode: "boolean" }).notNull(),
  externalRef: text("external_ref"),
  startedAt: integer("started_at").notNull(),
  identifiedAt: integer("identified_at"),
  monitoringAt: integer("monitoring_at"),
  resolvedAt: integer("resolved_at"),
  postmortemBody: text("postmortem_body"),
  postmortemPublishedAt: integer("postmortem_published_at"),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  postmortemFirstPublishedAt: integer("postmortem_first_published_at"),
});

export const incidentUpdates = sqliteTable("incident_updates", {
  id: text().primaryKey(),
  incidentId: text("incident_id").notNull(),
  status: text().$type<IncidentStatus>().notNull(),
  body: text().notNull(),
  displayAt: integer("display_at").notNull(),
  notify: integer({ mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  isAutomatic: integer("is_automatic", { mode: "boolean" }).notNull().default(false),
});

export const incidentUpdateComponents = sqliteTable(
  "incident_update_components",
  {
    updateId: text("update_id").notNull(),
    incidentId: text("incident_id").notNull(),
    componentId: text("component_id").notNull(),
    name: text().notNull(),
    oldStatus: text("old_status").$type<ComponentStatus>().notNull(),
    newStatus: text("new_status").$type<ComponentStatus>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.updateId, table.componentId] })],
);

export const automaticIncidents = sqliteTable("automatic_incidents", {
  incidentId: text("incident_id").primaryKey(),
  pageId: text("page_id").notNull(),
  name: text().notNull(),
  startedAt: integer("started_at").notNull(),
  openedAt: integer("opened_at").notNull(),
  resolvedAt: integer("resolved_at"),
  takenOverAt: integer("taken_over_at"),
  updateDueAt: integer("update_due_at"),
});

export const incidentOutages = sqliteTable(
  "incident_outages",
  {
    incidentId: text("incident_id").notNull(),
    componentId: text("component_id").notNull(),
    monitorId: text("monitor_id").notNull(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
    status: text().$type<OnDown>().notNull(),
    kind: text().$type<"joined" | "linked">().notNull(),
    hasLeft: integer("has_left", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    primaryKey({
      columns: [table.incidentId, table.componentId, table.monitorId, table.startedAt, table.kind],
    }),
  ],
);
