import { blob, customType, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../base/actor";
import type { Manager } from "../../base/ids";
import {
  CHECK_OUTCOMES,
  type CheckOutcome,
  type DownWhen,
  type MonitorState,
  type MonitorType,
  type OnDown,
  type OpenIncident,
  type SignalKind,
  type TokenKind,
} from "../../base/status";

/** An outcome, kept as its place in `CHECK_OUTCOMES`: the first two take no byte of their own. */
const outcome = customType<{ data: CheckOutcome; driverData: number }>({
  dataType: () => "integer",
  toDriver: (value) => CHECK_OUTCOMES.indexOf(value),
  fromDriver: (stored) => CHECK_OUTCOMES[stored] ?? "unknown",
});

export const monitors = sqliteTable("monitors", {
  id: text().primaryKey(),
  num: integer().notNull().unique(),
  ref: text().notNull(),
  name: text().notNull(),
  type: text().$type<MonitorType>().notNull(),
  config: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  intervalSeconds: integer("interval_seconds"),
  timeoutMs: integer("timeout_ms").notNull(),
  failureThreshold: integer("failure_threshold").notNull(),
  successThreshold: integer("success_threshold").notNull(),
  retryIntervalSeconds: integer("retry_interval_seconds").notNull(),
  degradedAfterMs: integer("degraded_after_ms"),
  onDown: text("on_down").$type<OnDown>().notNull(),
  openIncident: text("open_incident").$type<OpenIncident>().notNull(),
  paused: integer({ mode: "boolean" }).notNull(),
  managedBy: text("managed_by").$type<Manager>(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  tags: text({ mode: "json" }).$type<string[]>().notNull().default([]),
  inverted: integer({ mode: "boolean" }).notNull().default(false),
  reminderSeconds: integer("reminder_seconds").notNull().default(0),
  group: text("group_name"),
  notes: text(),
  /** Ids of the locations that check it; `local` is this server. */
  locations: text({ mode: "json" }).$type<string[]>().notNull().default(["local"]),
  downWhen: text("down_when").$type<DownWhen>().notNull().default("majority"),
});

export const monitorTokens = sqliteTable(
  "monitor_tokens",
  {
    hash: blob({ mode: "buffer" }).notNull(),
    monitorId: text("monitor_id").notNull(),
    kind: text().$type<TokenKind>().notNull(),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
    isShort: integer("is_short", { mode: "boolean" }),
  },
  (table) => [primaryKey({ columns: [table.kind, table.hash] })],
);

export const heartbeatRuns = sqliteTable(
  "heartbeat_runs",
  {
    monitorNum: integer("monitor_num").notNull(),
    rid: text().notNull(),
    startedAt: integer("started_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.rid] })],
);

export const heartbeatSignals = sqliteTable(
  "heartbeat_signals",
  {
    monitorNum: integer("monitor_num").notNull(),
    position: integer().notNull(),
    at: integer().notNull(),
    kind: text().$type<SignalKind>().notNull(),
    rid: text().notNull(),
    exitCode: integer("exit_code"),
    startedAt: integer("started_at"),
    durationMs: integer("duration_ms"),
    message: text(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.position] })],
);

export const monitorDependencies = sqliteTable(
  "monitor_dependencies",
  {
    monitorId: text("monitor_id").notNull(),
    parentId: text("parent_id").notNull(),
    position: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.monitorId, table.parentId] })],
);

export const monitorComponents = sqliteTable(
  "monitor_components",
  {
    monitorId: text("monitor_id").notNull(),
    componentId: text("component_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.monitorId, table.componentId] })],
);

/** A person or program that has seen an outage and looks after it. */
export interface Acknowledgement {
  /** Unix ms. */
  at: number;
  by: Pick<Actor, "kind" | "id" | "label">;
  note: string | null;
}

export const monitorStates = sqliteTable("monitor_states", {
  monitorNum: integer("monitor_num").primaryKey(),
  state: text().$type<MonitorState>().notNull(),
  since: integer().notNull(),
  failures: integer().notNull(),
  failingSince: integer("failing_since"),
  successes: integer().notNull(),
  succeedingSince: integer("succeeding_since"),
  slow: integer().notNull(),
  slowSince: integer("slow_since"),
  heartbeatAt: integer("heartbeat_at"),
  certificateExpiresAt: integer("certificate_expires_at"),
  rolledUntil: integer("rolled_until").notNull(),
  unreachableVia: text("unreachable_via"),
  reminders: integer().notNull().default(0),
  remindedAt: integer("reminded_at"),
  acknowledgement: text({ mode: "json" }).$type<Acknowledgement>(),
});

export const monitorSpans = sqliteTable(
  "monitor_spans",
  {
    monitorNum: integer("monitor_num").notNull(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
    state: text().$type<MonitorState>().notNull(),
    message: text(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.startedAt] })],
);

/** Returns the columns of results, without that of their owner. */
export const checkColumns = () => ({
  at: integer().notNull(),
  outcome: outcome().notNull(),
  latencyMs: integer("latency_ms"),
  message: text(),
});

/** Returns the columns of rollups, without that of their owner. */
export const rollupColumns = () => ({
  size: integer().notNull(),
  at: integer().notNull(),
  checks: integer().notNull(),
  failures: integer().notNull(),
  answers: integer().notNull(),
  latencySum: integer("latency_sum"),
  latencyMin: integer("latency_min"),
  latencyMax: integer("latency_max"),
  sketch: blob({ mode: "buffer" }),
});

export const monitorChecks = sqliteTable(
  "monitor_checks",
  {
    monitorNum: integer("monitor_num").notNull(),
    ...checkColumns(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.at] })],
);

export const monitorRollups = sqliteTable(
  "monitor_rollups",
  {
    monitorNum: integer("monitor_num").notNull(),
    ...rollupColumns(),
  },
  (table) => [primaryKey({ columns: [table.monitorNum, table.size, table.at] })],
);

export const componentNoData = sqliteTable(
  "component_no_data",
  {
    componentId: text("component_id").notNull(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
  },
  (table) => [primaryKey({ columns: [table.componentId, table.startedAt] })],
);

export const liveness = sqliteTable("liveness", {
  id: integer().primaryKey(),
  at: integer().notNull(),
});

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
