import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { DeliveryStatus, WebhookFormat } from "../../base/webhook";
import type { Manager } from "../../base/ids";

export const webhooks = sqliteTable("webhooks", {
  id: text().primaryKey(),
  ref: text().notNull(),
  url: text().notNull(),
  description: text(),
  events: text({ mode: "json" }).$type<string[]>().notNull(),
  pageId: text("page_id"),
  format: text().$type<WebhookFormat>().notNull(),
  settings: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  disabledReason: text("disabled_reason"),
  disabledAt: integer("disabled_at"),
  secret: text().notNull(),
  previousSecret: text("previous_secret"),
  previousSecretEndsAt: integer("previous_secret_ends_at"),
  failingSince: integer("failing_since"),
  managedBy: text("managed_by").$type<Manager>(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  confirmedAt: integer("confirmed_at"),
  monitors: text({ mode: "json" }).$type<string[]>().notNull().default(["*"]),
  groupSeconds: integer("group_seconds").notNull().default(30),
});

export const webhookBursts = sqliteTable("webhook_bursts", {
  webhookId: text("webhook_id").primaryKey(),
  endsAt: integer("ends_at").notNull(),
  hasDown: integer("has_down", { mode: "boolean" }).notNull(),
});

export const deliveryGroups = sqliteTable("delivery_groups", {
  id: text().primaryKey(),
  webhookId: text("webhook_id").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const deliveries = sqliteTable("deliveries", {
  id: text().primaryKey(),
  webhookId: text("webhook_id").notNull(),
  eventId: text("event_id").notNull(),
  subjectId: text("subject_id").notNull(),
  status: text().$type<DeliveryStatus>().notNull(),
  tries: integer().notNull(),
  triesBefore: integer("tries_before").notNull(),
  nextTryAt: integer("next_try_at"),
  createdAt: integer("created_at").notNull(),
  finishedAt: integer("finished_at"),
  monitorId: text("monitor_id"),
  gathers: integer({ mode: "boolean" }).notNull().default(false),
  groupId: text("group_id"),
});

export const deliveryBatches = sqliteTable("delivery_batches", {
  id: integer().primaryKey(),
  eventIds: text("event_ids", { mode: "json" }).$type<string[]>().notNull(),
  webhookIds: text("webhook_ids", { mode: "json" }).$type<string[]>().notNull(),
  written: integer().notNull(),
  monitors: text({ mode: "json" }).$type<Record<string, string>>().notNull().default({}),
});

export const deliveryTries = sqliteTable(
  "delivery_tries",
  {
    deliveryId: text("delivery_id").notNull(),
    number: integer().notNull(),
    at: integer().notNull(),
    latencyMs: integer("latency_ms").notNull(),
    statusCode: integer("status_code"),
    error: text(),
    answer: text(),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);

export const webhookHours = sqliteTable(
  "webhook_hours",
  {
    webhookId: text("webhook_id").notNull(),
    hour: integer().notNull(),
    succeeded: integer().notNull(),
    failed: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.webhookId, table.hour] })],
);

export const webhookPauses = sqliteTable("webhook_pauses", {
  destination: text().primaryKey(),
  pausedUntil: integer("paused_until").notNull(),
});
