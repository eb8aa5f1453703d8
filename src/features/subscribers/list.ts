/* Lists of subscribers and sign-ups of a page, their numbers, and the mails to one. Each reads a bounded part. */
import { NEWEST } from "../../base/ids";
import type { SubscriberEvent, SubscriberScope, SuppressionReason } from "../../base/mail-address";
import { toIso } from "../../base/time";
import type { Reader } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import type { PageRow } from "../pages/store";
import { choicesOf, readRefs, refsOf } from "./choices";
import {
  countSuppressedOfPage,
  countUnconfirmed,
  findEndByAddress,
  findEndByChoice,
  findEndOfParts,
  findEndOfSuppressed,
  findEndOfUnconfirmed,
  listActive,
  listByAddress,
  listByChoice,
  listEnded,
  listSuppressed,
  listUnconfirmed,
  listWithParts,
  type PartQuery,
  type SuppressedKey,
} from "./list-store";
import { signUpSubject } from "./rules";
import {
  countStatusesOfPage,
  findSubscriber,
  listMailsOfSubscriber,
  listSignUpMailsOfPage,
  type SubscriberRow,
} from "./store";

/** Entries that one part of a list looks at: some milliseconds of work. */
const EXAMINED = 2_000;

/** As for suppressions, each of which is looked up among the subscribers. */
const EXAMINED_SUPPRESSIONS = 1_000;

/** Entries up to which numbers are counted: sign-ups, and suppressions of each reason. */
const COUNTED = 500;

const COUNTED_SUPPRESSIONS = 200;

/** Number of characters of the parts by which addresses are searched. */
const PART = 3;

/** Parts of a search that are compared, and those of them that are looked for: the rarest. */
const PARTS_COMPARED = 24;

const PARTS_USED = 2;

/** Number of the newest addresses with a part by which it is compared with others. */
const COMPARED = 200;

/** Reasons of suppressions that stop mail to an active subscriber. */
export const STOPPING_REASONS = [
  "bounced",
  "soft",
  "complained",
  "declined",
  "blocked",
] as const satisfies readonly SuppressionReason[];

export type StoppingReason = (typeof STOPPING_REASONS)[number];

/** Query for a part of the list of a page's subscribers. */
interface SubscriberQuery {
  pageId: string;
  /** Active ones, also if they are suppressed; those whose subscription has ended; suppressed active ones. */
  view: "active" | "unsubscribed" | "suppressed";
  /** Reason of the suppressed ones; all reasons if omitted. */
  reason?: StoppingReason | undefined;
  /** Part of the address: its beginning if it has one or two characters. */
  search: string;
  /** Chosen component, with the group that it is in, or chosen group. */
  target?: { id: string; groupId: string | null } | undefined;
  /** True to list by address, for a search without parts and without a target. */
  isByAddress?: boolean;
  /** Continues after the part with this `nextBefore`. */
  before?: string | undefined;
  limit: number;
}

export type ListedSubscriber = ReturnType<typeof listActive>[number];

export type ListedSignUp = ReturnType<typeof listUnconfirmed>[number];

/** Lists subscribers of a page, newest first; those of a short search, or with `isByAddress`, by address. */
export function listSubscribers(
  reader: Reader,
  query: SubscriberQuery,
): ListPart<ListedSubscriber> {
  const { view, target, before, limit } = query;
  const part = partOf(query);
  if (view === "suppressed") return suppressed(reader, query, part);
  if ([...part.text].length >= PART) return byParts(reader, part, before, limit);
  if ((part.text !== "" || query.isByAddress) && !target)
    return byAddress(reader, part, before, limit);
  if (target) return byChoice(reader, part, before, limit);
  if (view === "unsubscribed") {
    const rows = listEnded(reader, { ...part, before: before ?? NEWEST });
    return merged([{ rows, end: () => undefined }], limit, BY_ID);
  }
  const rows = listActive(reader, { ...part, before: numberOf(before) });
  return merged([{ rows, end: () => undefined }], limit, BY_NUMBER);
}

/** Lists sign-ups of a page that can be confirmed, newest first. */
export function listSignUps(
  reader: Reader,
  query: Omit<SubscriberQuery, "view" | "reason">,
  now: number,
): ListPart<ListedSignUp> {
  const { pageId, limit } = query;
  const before = query.before ?? NEWEST;
  const part = partOf({ ...query, view: "active" });
  const rows = listUnconfirmed(reader, { ...part, before, now });
  const end = () => findEndOfUnconfirmed(reader, { pageId, before, skipped: EXAMINED - 1 })?.key;
  return merged([{ rows, end }], limit, BY_ID);
}

/** Number that is exact, or only known to be at least as large. */
export interface BoundedCount {
  count: number;
  isExact: boolean;
}

/** Numbers of subscribers of a page. */
export interface SubscriberCounts {
  active: number;
  unsubscribed: number;
  unconfirmed: BoundedCount;
  /** Active subscribers who get no mail, by reason. */
  suppressed: Readonly<Record<StoppingReason, BoundedCount>>;
}

/** Counts the subscribers of a page, in bounded time. */
export function countSubscribersOfPage(reader: Reader, pageId: string): SubscriberCounts {
  const counts = countStatusesOfPage(reader, pageId);
  const open = countUnconfirmed(reader, { pageId, limit: COUNTED + 1 })?.count ?? 0;
  const examined = COUNTED_SUPPRESSIONS;
  const suppressedFor = (reason: StoppingReason): BoundedCount => {
    const found = countSuppressedOfPage(reader, { pageId, reason, examined });
    return { count: found?.count ?? 0, isExact: (found?.examined ?? 0) < examined };
  };
  return {
    ...counts,
    unconfirmed: { count: Math.min(open, COUNTED), isExact: open <= COUNTED },
    suppressed: Object.fromEntries(
      STOPPING_REASONS.map((reason) => [reason, suppressedFor(reason)]),
    ) as SubscriberCounts["suppressed"],
  };
}

function partOf({ pageId, view, search, target, limit }: SubscriberQuery): PartQuery {
  return {
    pageId,
    // SQLite ends a search at NUL. No address has this character nor its replacement.
    text: search.toLowerCase().replaceAll("\0", "\ufffd"),
    target: target?.id ?? "",
    group: target?.groupId ?? "",
    status: view === "unsubscribed" ? view : "active",
    examined: EXAMINED,
    limit: limit + 1,
  };
}

function numberOf(before: string | undefined): number {
  return /^\d{1,15}$/.test(before ?? "") ? Number(before) : Number.MAX_SAFE_INTEGER;
}

type Found = ListPart<ListedSubscriber>;

function byParts(reader: Reader, part: PartQuery, from: string | undefined, limit: number): Found {
  const before = numberOf(from);
  const parts = rarestParts(reader, part.text);
  const rows = listWithParts(reader, { ...part, parts, before });
  const end = () => findEndOfParts(reader, { parts, before, skipped: EXAMINED - 1 })?.key;
  return merged([{ rows, end }], limit, BY_NUMBER);
}

/**
 * Returns the search for those parts of three characters of a text that the fewest addresses have. Looking for
 * common ones as well would read long lists, and the whole text is compared anyway.
 */
function rarestParts(reader: Reader, text: string): string {
  const letters = [...text];
  const all = letters.slice(0, 1 - PART).map((_, at) => letters.slice(at, at + PART).join(""));
  return [...new Set(all)]
    .slice(-PARTS_COMPARED)
    .map((part) => {
      const parts = `"${part.replaceAll('"', '""')}"`;
      const newest = { parts, before: Number.MAX_SAFE_INTEGER, skipped: COMPARED - 1 };
      // The rarer a part, the further down is the address with this number of newer ones.
      return { parts, end: findEndOfParts(reader, newest)?.key ?? -1 };
    })
    .sort((one, other) => one.end - other.end)
    .slice(0, PARTS_USED)
    .map(({ parts }) => parts)
    .join(" AND ");
}

function byAddress(
  reader: Reader,
  part: PartQuery,
  from: string | undefined,
  limit: number,
): Found {
  const { pageId, text } = part;
  const last = from === undefined ? undefined : findSubscriber(reader, { id: from });
  const range = { after: last?.addressKey ?? text, until: `${text}\u{10ffff}` };
  const rows = listByAddress(reader, { ...part, ...range });
  const shown = rows.slice(0, limit);
  const end = () => findEndByAddress(reader, { pageId, ...range, skipped: EXAMINED - 1 })?.key;
  return { rows: shown, nextBefore: rows.length > limit ? shown.at(-1)?.id : end() };
}

/** Lists by a chosen component. Those who chose its group follow it as well. */
function byChoice(reader: Reader, part: PartQuery, from: string | undefined, limit: number): Found {
  const before = from ?? NEWEST;
  const searches = [part.target, part.group].filter(Boolean).map((chosen) => ({
    rows: listByChoice(reader, { ...part, chosen, before }),
    end: () => findEndByChoice(reader, { chosen, before, skipped: EXAMINED - 1 })?.key,
  }));
  return merged(searches, limit, BY_ID);
}

function suppressed(
  reader: Reader,
  { reason, before, limit }: SubscriberQuery,
  part: PartQuery,
): Found {
  const [, at, mark = ""] = /^(\d{1,15})\.([\w-]{1,100})$/.exec(before ?? "") ?? [];
  const key = { at: at === undefined ? Number.MAX_SAFE_INTEGER : Number(at), mark };
  const reasons = reason === undefined ? STOPPING_REASONS : [reason];
  const examined = EXAMINED_SUPPRESSIONS / reasons.length;
  const searches = reasons.map((one) => {
    const query = { ...part, ...key, reason: one, examined };
    const rows = listSuppressed(reader, query);
    return { rows, end: () => findEndOfSuppressed(reader, { ...query, skipped: examined - 1 }) };
  });
  return merged(searches, limit, BY_SUPPRESSION);
}

/** Rows that are read at a time. */
const ROWS_PER_PART = 500;

export const LISTED_STATUSES = ["active", "suppressed", "unconfirmed", "unsubscribed"] as const;

type ListedStatus = (typeof LISTED_STATUSES)[number];

/** Subscriber, or a person who has not confirmed. Names as in the command's JSON. */
export interface SubscriberLine {
  id: string;
  /** Null some time after unsubscribing. */
  email: string | null;
  status: ListedStatus;
  /** Reasons for which the address gets no mails of the page, if it is suppressed. */
  reasons: SuppressionReason[];
  scope: SubscriberScope;
  components: string[];
  groups: string[];
  events: SubscriberEvent[];
  /** Language of the mails; null for that of the page. */
  language: string | null;
  /** Time of the consent; of the sign-up if it is not confirmed. */
  since: string;
}

/** Lists the subscribers of a page with a status, or of every status. Within a list, the oldest is first. */
export function listSubscribersOfPage(
  reader: Reader,
  { id: pageId }: PageRow,
  { status: wanted, now }: { status: ListedStatus | undefined; now: number },
): SubscriberLine[] {
  const refs = readRefs(reader, pageId);
  const isWanted = (status: ListedStatus) => wanted === undefined || status === wanted;

  function toLine(
    { id, address: email }: { id: string; address: string | null },
    facts: Pick<SubscriberLine, "status" | "reasons">,
    { scope, targets, events, language = null }: RequestedChoices,
    since: number,
  ): SubscriberLine {
    const choices = { scope, ...refsOf(targets, refs), events, language };
    return { id, email, ...facts, ...choices, since: toIso(since) };
  }

  function confirmed(view: "active" | "unsubscribed"): SubscriberLine[] {
    return readAll((part) => listSubscribers(reader, { ...part, pageId, view })).map((row) => {
      const reasons = view === "active" ? reasonsOf(row) : [];
      const status = reasons.length > 0 ? "suppressed" : view;
      return toLine(row, { status, reasons }, choicesOf(reader, row), row.confirmedAt);
    });
  }

  function unconfirmed(): SubscriberLine[] {
    const facts = { status: "unconfirmed" as const, reasons: [] };
    const rows = readAll((part) => listSignUps(reader, { ...part, pageId }, now));
    return rows.map((row) => toLine(row, facts, row.choices, row.requestedAt));
  }

  return [
    ...(isWanted("active") || isWanted("suppressed") ? confirmed("active") : []),
    ...(isWanted("unconfirmed") ? unconfirmed() : []),
    ...(isWanted("unsubscribed") ? confirmed("unsubscribed") : []),
  ].filter(({ status }) => isWanted(status));
}

/** Reads all parts of a list without a search. Returns the oldest row first. */
function readAll<Row>(
  list: (part: { search: string; limit: number; before: string | undefined }) => ListPart<Row>,
): Row[] {
  const rows: Row[] = [];
  let before: string | undefined;
  do {
    const part = list({ search: "", limit: ROWS_PER_PART, before });
    rows.push(...part.rows);
    before = part.nextBefore;
  } while (before !== undefined);
  return rows.reverse();
}

/** Returns the reasons for which an address gets no mails. The mark of an erased one stops nothing. */
function reasonsOf({ reasons }: ListedSubscriber): SuppressionReason[] {
  const all = (reasons?.split(",") ?? []) as SuppressionReason[];
  return all.filter((reason) => reason !== "erased");
}

/** Part of a list. */
export interface ListPart<Row> {
  rows: readonly Row[];
  /** Continues the list; undefined at its end. There can be fewer rows than `limit` before it. */
  nextBefore: string | undefined;
}

/** Order of a list: key of a row, and text of a key. */
interface Order<Row, Key> {
  keyOf(row: Row): Key;
  compare(a: Key, b: Key): number;
  toText(key: Key): string;
}

const BY_ID: Order<{ id: string }, string> = {
  keyOf: ({ id }) => id,
  compare: (a, b) => (a < b ? 1 : a > b ? -1 : 0),
  toText: (id) => id,
};

const BY_NUMBER: Order<{ seq: number }, number> = {
  keyOf: ({ seq }) => seq,
  compare: (a, b) => b - a,
  toText: String,
};

const BY_SUPPRESSION: Order<SuppressedKey, SuppressedKey> = {
  keyOf: ({ at, mark }) => ({ at, mark }),
  compare: (a, b) => b.at - a.at || BY_ID.compare(a.mark, b.mark),
  toText: ({ at, mark }) => `${at}.${mark}`,
};

/**
 * Returns the first `limit` rows of several searches. Each found up to one more than `limit`, and looked at
 * everything up to its last row, or to the end, or to the key that `end` returns if it stopped there.
 */
function merged<Row extends { id: string }, Key>(
  searches: readonly { rows: readonly Row[]; end: () => Key | undefined }[],
  limit: number,
  { keyOf, compare, toText }: Order<NoInfer<Row>, Key>,
): ListPart<Row> {
  const ends = searches.flatMap(({ rows, end }): Key[] => {
    const last = rows.at(-1);
    const key = rows.length > limit && last ? keyOf(last) : end();
    return key === undefined ? [] : [key];
  });
  const [end] = ends.sort(compare);
  const rows = searches
    .flatMap((search) => search.rows)
    .filter((row) => end === undefined || compare(keyOf(row), end) <= 0)
    .sort((a, b) => compare(keyOf(a), keyOf(b)));
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()];
  const shown = unique.slice(0, limit);
  const last = shown.at(-1);
  const next = unique.length > limit && last ? keyOf(last) : end;
  return { rows: shown, nextBefore: next === undefined ? undefined : toText(next) };
}

export type SubscriberMail = ReturnType<typeof listMailsOfSubscriber>[number];

/** Lists the mails to a subscriber, with those that answered sign-ups on the page, newest first. */
export function listSubscriberMails(
  reader: Reader,
  { id: subscriberId, pageId, addressHmac }: SubscriberRow,
  { before = NEWEST, limit }: { before?: string | undefined; limit: number },
): ListPart<SubscriberMail> {
  const part = { before, limit: limit + 1 };
  const subjectId = signUpSubject(addressHmac);
  const found = [
    ...listMailsOfSubscriber(reader, { subscriberId, ...part }),
    ...listSignUpMailsOfPage(reader, { subjectId, pageId, ...part }),
  ];
  const rows = [...new Map(found.map((mail) => [mail.id, mail])).values()].sort((a, b) =>
    a.id < b.id ? 1 : -1,
  );
  const shown = rows.slice(0, limit);
  return { rows: shown, nextBefore: rows.length > limit ? shown.at(-1)?.id : undefined };
}
