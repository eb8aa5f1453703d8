import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { RandomBytes } from "../../base/hash";

export const pagePasswords = sqliteTable("page_passwords", {
  pageId: text("page_id").primaryKey(),
  hash: text().notNull(),
});

export const pageLinks = sqliteTable("page_links", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  name: text().notNull(),
  hash: blob({ mode: "buffer" }).notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at"),
  lastUsedAt: integer("last_used_at"),
});

/** Name of the setting with the key that signs grants. */
export const GRANT_KEY = "grant_key";

const GRANT_KEY_BYTES = 32;

/** Returns a new key that signs grants, as the setting holds it: in Base64. */
export function newGrantKey(random: RandomBytes): string {
  return Buffer.from(random(GRANT_KEY_BYTES)).toString("base64");
}
