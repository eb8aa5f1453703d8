import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type {
  ComponentStatus,
  Impact,
  IncidentStatus,
  NamedStatus,
  OpenIncidentStatus,
} from "../../base/status";

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
  nameLang: text("name_lang"),
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
  lang: text(),
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

export const incidentTemplates = sqliteTable("incident_templates", {
  id: text().primaryKey(),
  ref: text().notNull(),
  pageId: text("page_id"),
  name: text().notNull(),
  title: text().notNull(),
  body: text().notNull(),
  status: text().$type<OpenIncidentStatus>().notNull(),
  impactOverride: text("impact_override").$type<Impact>(),
  managedBy: text("managed_by").$type<"apply">(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const incidentTemplateComponents = sqliteTable(
  "incident_template_components",
  {
    templateId: text("template_id").notNull(),
    componentId: text("component_id").notNull(),
    status: text().$type<NamedStatus>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.templateId, table.componentId] })],
);
