import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Manager } from "../../base/ids";
import type { MonitorState } from "../../base/status";
import { checkColumns, rollupColumns } from "./monitors";

export const locations = sqliteTable("locations", {
  id: text().primaryKey(),
  ref: text().notNull(),
  name: text().notNull(),
  managedBy: text("managed_by").$type<Manager>(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  contactAt: integer("contact_at"),
  agentVersion: text("agent_version"),
  offlineSince: integer("offline_since"),
  process: text(),
  resultsTaken: integer("results_taken").notNull().default(0),
});

export const locationTokens = sqliteTable("location_tokens", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  locationId: text("location_id").notNull(),
  createdAt: integer("created_at").notNull(),
  endsAt: integer("ends_at"),
});

export const locationStates = sqliteTable("location_states", {
  num: integer().primaryKey(),
  monitorNum: integer("monitor_num").notNull(),
  locationId: text("location_id").notNull(),
  state: text().$type<MonitorState>().notNull(),
  since: integer().notNull(),
  failures: integer().notNull(),
  failingSince: integer("failing_since"),
  successes: integer().notNull(),
  succeedingSince: integer("succeeding_since"),
  slow: integer().notNull(),
  slowSince: integer("slow_since"),
  rolledUntil: integer("rolled_until").notNull(),
});

/** Results from other locations. `monitorNum`, named as that of `monitorChecks`, is the number of the evaluation. */
export const locationChecks = sqliteTable(
  "location_checks",
  {
    monitorNum: integer("num").notNull(),
    ...checkColumns(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.at] })],
);

/** Rollups of results from other locations. `monitorNum` is the number of the evaluation. */
export const locationRollups = sqliteTable(
  "location_rollups",
  {
    monitorNum: integer("num").notNull(),
    ...rollupColumns(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.size, table.at] })],
);
