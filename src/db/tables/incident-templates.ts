import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { NamedStatus } from "../../domain/component-status";
import type { Impact, OpenIncidentStatus } from "../../domain/incident-status";

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
