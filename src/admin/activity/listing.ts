import type { Reader } from "../../db";
import { type AuditPlace, type AuditQuery, type AuditRow, searchAudit } from "../../events";
import { DAY_MS, parseDay } from "../../kernel/time";

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
  nextBefore: AuditPlace | undefined;
  isContinued: boolean;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Reads the filter from a query. Invalid values are ignored. */
export function readFilter(query: Query): ActivityFilter {
  const textOf = (name: string) => (query[name] ?? "").trim();
  const dayOf = (name: string) => (parseDay(textOf(name)) === undefined ? "" : textOf(name));
  return {
    search: textOf("q"),
    actor: textOf("actor"),
    action: textOf("action"),
    target: textOf("target"),
    from: dayOf("from"),
    to: dayOf("to"),
  };
}

/** Returns true if any filter is set. */
export function isNarrowing(filter: ActivityFilter): boolean {
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

export function readActivity(reader: Reader, query: Query): ActivityListing {
  const filter = readFilter(query);
  const before = readPlace(query["before"] ?? "");
  const found = searchAudit(reader, { ...toAuditQuery(filter), before, limit: PAGE_SIZE + 1 });
  const entries = found.slice(0, PAGE_SIZE);
  return {
    filter,
    entries,
    nextBefore: found.length > PAGE_SIZE ? entries.at(-1) : undefined,
    isContinued: before !== undefined,
  };
}

const PLACE = /^(\d{1,15})-(\d{1,15})$/;

/** Returns a log position as a query parameter. */
export function writePlace({ at, id }: AuditPlace): string {
  return `${at}-${id}`;
}

function readPlace(text: string): AuditPlace | undefined {
  const [, at, id] = PLACE.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), id: Number(id) };
}
