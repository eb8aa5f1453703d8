import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ActorKind } from "../../base/actor";

export const apiKeys = sqliteTable("api_keys", {
  id: text().primaryKey(),
  name: text().notNull(),
  scopes: text({ mode: "json" }).$type<string[]>().notNull(),
  rateLimit: integer("rate_limit").notNull(),
  expiresAt: integer("expires_at"),
  revokedAt: integer("revoked_at"),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  createdByKind: text("created_by_kind").$type<ActorKind>().notNull(),
  createdById: text("created_by_id"),
  createdByLabel: text("created_by_label").notNull(),
});

export const apiKeyValues = sqliteTable("api_key_values", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  keyId: text("key_id").notNull(),
  start: text().notNull(),
  createdAt: integer("created_at").notNull(),
  endsAt: integer("ends_at"),
  lastUsedAt: integer("last_used_at"),
  lastUsedIp: text("last_used_ip"),
});

export const apiKeyHours = sqliteTable(
  "api_key_hours",
  {
    keyId: text("key_id").notNull(),
    hour: integer().notNull(),
    ok: integer().notNull(),
    clientError: integer("client_error").notNull(),
    limited: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.hour] })],
);
