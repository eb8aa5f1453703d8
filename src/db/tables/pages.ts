import type { PageMailSettings } from "../../base/mail-address";
import type { CompatProduct } from "../../base/compat";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Manager } from "../../base/ids";

/** Settings of the look of a page by their names in the API. */
export interface PageLook {
  /** Markdown above and below the content. */
  header: string | null;
  footer: string | null;
  links: { name: string; url: string }[];
  hide_uptime: boolean;
  hide_history: boolean;
  /** Markdown above everything until a time in ISO 8601. */
  notice: string | null;
  notice_until: string | null;
  /** CSS as it was written. */
  custom_css: string | null;
}

/** Settings of the look, with the CSS that is sent and what was cut from that which was written. */
export interface StoredLook extends PageLook {
  css: string;
  cut: string[];
}

export const pages = sqliteTable("pages", {
  id: text().primaryKey(),
  ref: text().notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  description: text(),
  timeZone: text("time_zone").notNull(),
  locale: text().notNull(),
  visibility: text().$type<"public" | "private">().notNull(),
  theme: text().$type<"system" | "light" | "dark">().notNull(),
  accent: text(),
  historyDays: integer("history_days").notNull(),
  isDefault: integer("is_default", { mode: "boolean" }).notNull(),
  isSample: integer("is_sample", { mode: "boolean" }).notNull(),
  managedBy: text("managed_by").$type<Manager>(),
  contentVersion: integer("content_version").notNull(),
  contentChangedAt: integer("content_changed_at").notNull(),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  customDomains: text("custom_domains", { mode: "json" }).$type<string[]>().notNull().default([]),
  logo: text(),
  mail: text({ mode: "json" }).$type<Partial<PageMailSettings>>().notNull().default({}),
  compat: text({ mode: "json" }).$type<CompatProduct[]>().notNull().default([]),
  joinMinutes: integer("join_minutes").notNull().default(10),
  networks: text({ mode: "json" }).$type<string[]>().notNull().default([]),
  passwordId: text("password_id"),
  hasLinks: integer("has_links", { mode: "boolean" }).notNull().default(false),
  languages: text({ mode: "json" }).$type<string[]>().notNull().default([]),
  report: text().$type<"off" | "team" | "public">().notNull().default("team"),
  look: text({ mode: "json" }).$type<Partial<StoredLook>>().notNull().default({}),
  favicon: text(),
});

/** The columns that links to a page are built from, to be read with what belongs to it. */
export const pageAddress = {
  slug: pages.slug,
  visibility: pages.visibility,
  customDomains: pages.customDomains,
  passwordId: pages.passwordId,
  hasLinks: pages.hasLinks,
};

export const pageSlugs = sqliteTable("page_slugs", {
  slug: text().primaryKey(),
  pageId: text("page_id").notNull(),
  createdAt: integer("created_at").notNull(),
});
