import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const secondFactors = sqliteTable("second_factors", {
  userId: text("user_id").primaryKey(),
  secret: blob({ mode: "buffer" }).notNull(),
  lastPeriod: integer("last_period").notNull(),
  wrongCodes: text("wrong_codes", { mode: "json" }).$type<readonly number[]>().notNull(),
  pauses: integer().notNull(),
  pausedUntil: integer("paused_until").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const recoveryCodes = sqliteTable("recovery_codes", {
  hash: blob({ mode: "buffer" }).primaryKey(),
  userId: text("user_id").notNull(),
});
