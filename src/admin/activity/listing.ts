import type { Reader } from "../../db";
import { type AuditPlace, type AuditQuery, type AuditRow, searchAudit } from "../../events";
import { DAY_MS, parseDay } from "../../kernel/time";

const PAGE_SIZE = 50;

/** What the address of the list, or of its file, asks for; empty where it says nothing. */
export interface ActivityFilter {
  search: string;
  actor: string;
  action: string;
  target: string;
  /** Days in UTC, `YYYY-MM-DD`; the second is the last that is shown. */
  from: string;
  to: string;
}

/** One screen of the audit log. */
export interface ActivityListing {
  filter: ActivityFilter;
  entries: readonly AuditRow[];
  /** The entry behind which the next screen begins, if there is one; and whether this is not the first. */
  nextBefore: AuditPlace | undefined;
  isContinued: boolean;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Reads what an address asks for; what it does not understand it lets be. */
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

/** Whether a filter leaves anything out. */
export function isNarrowing(filter: ActivityFilter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** The same for the audit log, without where to begin and how much to read. */
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

/** A place in the log as an address has it. */
export function writePlace({ at, id }: AuditPlace): string {
  return `${at}-${id}`;
}

function readPlace(text: string): AuditPlace | undefined {
  const [, at, id] = PLACE.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), id: Number(id) };
}
