import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ActorKind } from "../../base/actor";

/** Columns of an actor. */
export const actorColumns = {
  actorKind: text("actor_kind").$type<ActorKind>().notNull(),
  actorId: text("actor_id"),
  actorLabel: text("actor_label").notNull(),
};

export const events = sqliteTable("events", {
  id: text().primaryKey(),
  type: text().notNull(),
  pageId: text("page_id"),
  subjectId: text("subject_id").notNull(),
  data: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  at: integer().notNull(),
});

export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey(),
  ...actorColumns,
  action: text().notNull(),
  targetId: text("target_id").notNull(),
  summary: text().notNull(),
  ip: text(),
  at: integer().notNull(),
});

export const changes = sqliteTable("changes", {
  scope: text().primaryKey(),
  version: integer().notNull(),
});
