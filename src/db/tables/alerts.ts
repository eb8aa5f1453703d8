import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AlertFormat, AlertLevel } from "../../base/status";

/** Labels of an alert by name. */
export type Labels = Readonly<Record<string, string>>;

export const openAlerts = sqliteTable(
  "open_alerts",
  {
    monitorNum: integer("monitor_num").notNull(),
    sender: text().notNull(),
    fingerprint: text().notNull(),
    labels: text({ mode: "json" }).$type<Labels>().notNull(),
    level: text().$type<AlertLevel>().notNull(),
    startedAt: integer("started_at").notNull(),
    lastSeenAt: integer("last_seen_at").notNull(),
    title: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.sender, table.fingerprint] })],
);

export const unmatchedAlerts = sqliteTable(
  "unmatched_alerts",
  {
    sender: text().notNull(),
    fingerprint: text().notNull(),
    format: text().$type<AlertFormat>().notNull(),
    labels: text({ mode: "json" }).$type<Labels>().notNull(),
    title: text().notNull(),
    isTest: integer("is_test", { mode: "boolean" }).notNull().default(false),
    seenAt: integer("seen_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sender, table.fingerprint] })],
);
