import type { FieldError } from "../base/errors";
import { RefText } from "../base/ids";
import { schemaErrors } from "../base/validation";

/** Options of every import as people type them; undefined for the default. */
interface TypedOptions {
  source: string | undefined;
  only: string | undefined;
  /** Slug, or `none`. */
  internal_page: string | undefined;
  /** Number, `all` or `none`. */
  history_days?: string | undefined;
  isPaused: boolean;
  isDryRun: boolean;
  takesDomains: boolean;
}

/** Returns the options of an import, and their errors by the names of the fields. */
export function parseOptions(typed: TypedOptions): {
  options: ImportOptions;
  errors: FieldError[];
} {
  const { source = "default", only, internal_page: page = "internal", isPaused } = typed;
  const { history_days: days = "all", isDryRun, takesDomains } = typed;
  const [fault] = schemaErrors(RefText, source);
  const part = IMPORT_PARTS.find((each) => each === only);
  const errors = fault ? [{ pointer: "#/source", detail: fault.detail }] : [];
  if (only !== undefined && !part) {
    errors.push({ pointer: "#/only", detail: `is one of ${IMPORT_PARTS.join(", ")}` });
  }
  const historyDays = daysOf(days);
  if (historyDays === undefined) {
    errors.push({ pointer: "#/history_days", detail: "is a number from 1 to 36500, all or none" });
  }
  const internalPage = page === "none" ? null : page;
  const switches = { isPaused, isDryRun, takesDomains };
  const options = { ...switches, source, only: part, internalPage };
  return { options: { ...options, historyDays: historyDays ?? null }, errors };
}

/** Returns the number of days of history; null for all, and undefined for another text. */
function daysOf(text: string): number | null | undefined {
  if (text === "all") return null;
  if (text === "none") return 0;
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return days >= 1 && days <= 36_500 ? days : undefined;
}

/** Parts to which an import can be limited. Pages have their components, maintenance and incidents. */
export const IMPORT_PARTS = ["pages", "monitors", "webhooks", "history"] as const;

export type ImportPart = (typeof IMPORT_PARTS)[number];

export interface ImportOptions {
  /** Name of the source. */
  source: string;
  isDryRun: boolean;
  /** True to create monitors paused and webhooks disabled, until the import is started. */
  isPaused: boolean;
  /** Undefined for all parts. */
  only: ImportPart | undefined;
  /** Number of days of history to import; null for all, and 0 for none. */
  historyDays: number | null;
  /** Slug of the private page for monitors that are on no page; null for none. */
  internalPage: string | null;
  /** True to give pages the custom domains that they have in the source. */
  takesDomains: boolean;
  /** Digest of the plan that was confirmed, without which any plan is imported. */
  planned?: string;
  /** Addresses of receivers of webhooks by host name, as far as they are known. */
  receivers?: ReadonlyMap<string, readonly string[]>;
}
