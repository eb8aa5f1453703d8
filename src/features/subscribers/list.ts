import type { Reader } from "../../db/statements";
import { NEWEST } from "../../base/ids";
import type { SuppressionReason } from "../../base/mail-address";
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
} from "./list-store";
import { BY_ID, BY_NUMBER, BY_SUPPRESSION, type ListPart, merged } from "./list-parts";
import { countStatusesOfPage, findSubscriber } from "./store";

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
  /** Continues after the part with this `nextBefore`. */
  before?: string | undefined;
  limit: number;
}

export type ListedSubscriber = ReturnType<typeof listActive>[number];
export type ListedSignUp = ReturnType<typeof listUnconfirmed>[number];

/** Lists subscribers of a page, newest first; those of a short search by address. */
export function listSubscribers(
  reader: Reader,
  query: SubscriberQuery,
): ListPart<ListedSubscriber> {
  const { view, target, before, limit } = query;
  const part = partOf(query);
  if (view === "suppressed") return suppressed(reader, query, part);
  if ([...part.text].length >= PART) return byParts(reader, part, before, limit);
  if (part.text !== "" && !target) return byAddress(reader, part, before, limit);
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
