import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Role } from "../../base/actor";

export const users = sqliteTable("users", {
  id: text().primaryKey(),
  email: text().notNull(),
  name: text().notNull(),
  role: text().$type<Role>().notNull(),
  passwordHash: text("password_hash"),
  passwordChangedAt: integer("password_changed_at"),
  lastLoginAt: integer("last_login_at"),
  disabledAt: integer("disabled_at"),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  warnsOfKeys: integer("warns_of_keys", { mode: "boolean" }).notNull().default(true),
  timeZone: text("time_zone").notNull().default("UTC"),
});

export const sessions = sqliteTable("sessions", {
  id: integer().primaryKey(),
  hash: blob({ mode: "buffer" }).notNull(),
  userId: text("user_id").notNull(),
  isSecure: integer("is_secure", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  lastSeenAt: integer("last_seen_at").notNull(),
  ip: text().notNull(),
  userAgent: text("user_agent").notNull(),
  identityId: integer("identity_id"),
});

export const identities = sqliteTable("identities", {
  id: integer().primaryKey(),
  userId: text("user_id").notNull(),
  issuer: text().notNull(),
  subject: text().notNull(),
  label: text().notNull(),
  createdAt: integer("created_at").notNull(),
  lastUsedAt: integer("last_used_at").notNull(),
});

export const oneTimeLinks = sqliteTable("one_time_links", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  purpose: text().$type<"setup" | "invite" | "reset">().notNull(),
  userId: text("user_id"),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  isRecovery: integer("is_recovery", { mode: "boolean" }).notNull().default(false),
});

export const signInSteps = sqliteTable("sign_in_steps", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  userId: text("user_id").notNull(),
  tries: integer().notNull(),
  expiresAt: integer("expires_at").notNull(),
  isRecovery: integer("is_recovery", { mode: "boolean" }).notNull().default(false),
});

export const passwordRequests = sqliteTable("password_requests", {
  id: integer().primaryKey(),
  address: text(),
  clientKey: text("client_key").notNull(),
  requestedAt: integer("requested_at").notNull(),
});
