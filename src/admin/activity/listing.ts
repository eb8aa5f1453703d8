import type { Reader } from "../../db/statements";
import {
  type AuditCursor,
  type AuditQuery,
  type AuditRow,
  searchAudit,
} from "../../events/audit-search";
import { DAY_MS, parseDay } from "../../base/time";
import { ACTIVITY_PATH } from "../../ui/frame/paths";

export const ACTIVITY_FILE_PATH = `${ACTIVITY_PATH}.csv`;

const PAGE_SIZE = 50;

/** Filter of the list and of its CSV file, read from the address. Empty strings do not filter. */
export interface ActivityFilter {
  search: string;
  actor: string;
  action: string;
  target: string;
  /** Days in UTC, `YYYY-MM-DD`. `to` is the last day shown. */
  from: string;
  to: string;
}

/** Content of one screen of the audit log. */
export interface ActivityListing {
  filter: ActivityFilter;
  entries: readonly AuditRow[];
  /**
   * Last entry of this screen if more follow. `isContinued` is true for every screen but the first.
   */
  nextBefore: AuditCursor | undefined;
  isContinued: boolean;
}

/** Query parameters of the filter. */
const NAMES: Readonly<Record<keyof ActivityFilter, string>> = {
  search: "q",
  actor: "actor",
  action: "action",
  target: "target",
  from: "from",
  to: "to",
};

type Query = Readonly<Record<string, string | undefined>>;

/** Reads the filter from a query. Invalid values are ignored. */
export function readFilter(query: Query): ActivityFilter {
  const textOf = (part: keyof ActivityFilter) => (query[NAMES[part]] ?? "").trim();
  const dayOf = (part: "from" | "to") => (parseDay(textOf(part)) === undefined ? "" : textOf(part));
  return {
    search: textOf("search"),
    actor: textOf("actor"),
    action: textOf("action"),
    target: textOf("target"),
    from: dayOf("from"),
    to: dayOf("to"),
  };
}

/**
 * Returns the path of the list, or of its CSV file. Without `before` it starts with the newest
 * entry.
 */
export function activityPath(
  filter: Partial<ActivityFilter>,
  { before, path = ACTIVITY_PATH }: { before?: AuditCursor; path?: string } = {},
): string {
  const query = new URLSearchParams();
  for (const [part, name] of Object.entries(NAMES)) {
    const value = filter[part as keyof ActivityFilter];
    if (value) query.set(name, value);
  }
  if (before !== undefined) query.set("before", `${before.at}-${before.id}`);
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Returns true if any filter is set. */
export function hasFilter(filter: ActivityFilter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** Converts the filter to an audit log query without position and limit. */
export function toAuditQuery(filter: ActivityFilter): Omit<AuditQuery, "before" | "limit"> {
  const { search, actor, action, target, from, to } = filter;
  const lastDay = parseDay(to);
  return {
    text: search,
    actor: actor || undefined,
    action: action || undefined,
    target: target || undefined,
    from: parseDay(from),
    until: lastDay === undefined ? undefined : lastDay + DAY_MS,
  };
}

/** Reads the entries of one screen. */
export function readActivity(reader: Reader, query: Query): ActivityListing {
  const filter = readFilter(query);
  const before = readCursor(query["before"] ?? "");
  const rows = searchAudit(reader, { ...toAuditQuery(filter), before, limit: PAGE_SIZE + 1 });
  const entries = rows.slice(0, PAGE_SIZE);
  return {
    filter,
    entries,
    nextBefore: rows.length > PAGE_SIZE ? entries.at(-1) : undefined,
    isContinued: before !== undefined,
  };
}

const CURSOR_PATTERN = /^(\d{1,15})-(\d{1,15})$/;

/** Reads the position in the log from the query parameter `before`. */
function readCursor(text: string): AuditCursor | undefined {
  const [, at, id] = CURSOR_PATTERN.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), id: Number(id) };
}
