import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { OnDown } from "../../base/status";

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
