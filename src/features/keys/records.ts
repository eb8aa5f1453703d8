/*
 * Keys as they are read: one, all, and the pages of the dashboard's list with filters, search and usage.
 */
import { notFound, Problem } from "../../base/errors";
import { containsKeyShape } from "../../base/ids";
import { sum } from "../../base/numbers";
import { NAME_MAX } from "../../base/texts";
import { HOUR_MS } from "../../base/time";
import { partOf, readPlace } from "../../db/orders";
import type { Reader } from "../../db/statements";
import {
  KEY_FILTERS,
  KEY_PREFIX,
  type KeyFilter,
  type KeyOrder,
  type KeyStateName,
  keyValueStart,
  startOfValueIn,
  stateOfKey,
  timesOfFilters,
} from "./rules";
import { SCOPE_NAMES } from "./scopes";
import {
  countKeysByFilter,
  type KeySearch,
  LIST_KEYS_IN,
  listLiveKeyIds,
  listNewestKeys,
} from "./list-store";
import {
  countRequestsOfKeys,
  findHighestNumber,
  findKey,
  type KeyRow,
  listKeyHoursSince,
  listKeys,
  listKeyValues,
  listLimitedKeys,
  listValuesOfKey,
  listValuesOfKeys,
} from "./store";
import { type KeyResource, type LastUse, presentKey } from "./wire";

/** Returns one key, with unwritten uses if `pendingUse` is given. Throws `not_found`. */
export function getKey(
  reader: Reader,
  id: string,
  pendingUse?: (hash: string) => LastUse | undefined,
): KeyResource {
  return presentKey(getKeyRow(reader, id), listValuesOfKey(reader, { keyId: id }), pendingUse);
}

/** Lists all keys, newest first, including revoked and expired ones. */
export function listAllKeys(reader: Reader): KeyResource[] {
  const values = Map.groupBy(listKeyValues(reader, {}), (value) => value.keyId);
  return listKeys(reader, {}).map((row) => presentKey(row, values.get(row.id) ?? []));
}

/**
 * Returns a key's row. Throws `not_found`, without repeating a key value that was passed as an id.
 */
export function getKeyRow(reader: Reader, id: string): KeyRow {
  const row = findKey(reader, { id });
  if (row) return row;
  if (containsKeyShape(id)) {
    throw new Problem("not_found", "This is the value of a key. Use the id of the key.");
  }
  throw notFound(`key as ${id}`);
}

/** Number of hours in the figures of a day: the current one and those before it. */
const HOURS_SHOWN = 24;

/** Number of responses to a key. 5xx responses, which are faults of the server, are not counted. */
interface AnswerCounts {
  ok: number;
  client_error: number;
  /** Rejected by the key's rate limit. */
  limited: number;
  total: number;
}

export interface KeyUsageSummary {
  /** Counts of the current hour and the 23 before it. */
  last24h: AnswerCounts;
}

/** Returns the starts of the current hour and the 23 before it, oldest first, in unix ms. */
function hoursOfDayBefore(now: number): number[] {
  const present = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from(
    { length: HOURS_SHOWN },
    (_, index) => present - (HOURS_SHOWN - 1 - index) * HOUR_MS,
  );
}

/**
 * Counts the responses to a key in the last 24 hours. Counts are written every five seconds. Throws
 * `not_found`.
 */
export function usageOfKey(reader: Reader, id: string, now: number): KeyUsageSummary {
  getKeyRow(reader, id);
  const [since = now] = hoursOfDayBefore(now);
  const last24h: AnswerCounts = { ok: 0, client_error: 0, limited: 0, total: 0 };
  for (const { ok, clientError, limited } of listKeyHoursSince(reader, { keyId: id, since })) {
    last24h.ok += ok;
    last24h.client_error += clientError;
    last24h.limited += limited;
    last24h.total += ok + clientError + limited;
  }
  return { last24h };
}

/** A key as the list of keys shows it. */
export interface KeyListing extends KeyResource {
  state: KeyStateName;
  /** Responses in the current hour and the 23 before it, oldest first, as far as written. */
  requests_24h: number[];
  /**
   * True if the key is live and exceeded its rate limit in the last 7 days; the filter `limited`
   * finds it.
   */
  is_limited: boolean;
  /** Newest value that a rotation replaced and that still works. */
  old_value: { start: string; ends_at: string; last_used_at: string | null } | null;
}

interface KeyQuery {
  /**
   * Text as typed. Searched in names and labels, as the start of a value, as an id and as a scope.
   */
  search?: string | undefined;
  filter: KeyFilter;
  /** Order of the list; newest first by default. */
  order?: KeyOrder | undefined;
  /** Place after which the page starts: the id of a key if the newest is first. */
  before?: string | undefined;
  /** At least 1. */
  limit: number;
  /** Unix ms. */
  now: number;
}

interface KeyPage {
  keys: KeyListing[];
  /** Value of `before` for the next page, or null on the last. */
  nextBefore: string | null;
}

/**
 * Returns one page of keys, in several turns of the event loop (`runInSlices`). Newest first, continuing with
 * `nextBefore` returns every key that existed at the start exactly once, even if keys are created meanwhile. So do the
 * other orders, unless the value by which a key is sorted changes.
 */
export function* listKeyPage(
  reader: Reader,
  query: KeyQuery,
  pendingUse?: (hash: string) => LastUse | undefined,
): Generator<number, KeyPage> {
  const { search = "", filter, order, before, limit, now } = query;
  const matching = { ...readSearch(search), ...timesOfFilters(now), filter, limit: limit + 1 };
  const { shown, nextBefore } =
    order === undefined
      ? newestPart(yield* listNewestKeys(reader, { ...matching, before }), limit)
      : partOf(
          yield* LIST_KEYS_IN[order](reader, { ...matching, ...readPlace(before) }),
          limit,
          idOf,
        );
  const keys = presentListings(reader, shown, now, pendingUse);
  return { keys, nextBefore: nextBefore ?? null };
}

const idOf = ({ id }: KeyRow) => id;

function newestPart(rows: readonly KeyRow[], limit: number) {
  const shown = rows.slice(0, limit);
  return { shown, nextBefore: rows.length > limit ? shown.at(-1)?.id : undefined };
}

/** Lists the ids of the live keys that match, newest first, at most `limit`, in several turns. */
export function* listMatchingLiveKeys(
  reader: Reader,
  { search = "", filter, limit, now }: Pick<KeyQuery, "search" | "filter" | "limit" | "now">,
): Generator<number, string[]> {
  const query = { ...readSearch(search), ...timesOfFilters(now), filter, limit };
  return (yield* listLiveKeyIds(reader, query)).map(({ id }) => id);
}

/** Characters kept of a name that gets a number. */
const NUMBERED_MAX = NAME_MAX - 10;

/** Returns a name that no key has: that of another key with the next number after it. */
export function freeNameLike(reader: Reader, name: string): string {
  const start = `${[...name.replace(/\s+\d{1,6}$/, "")].slice(0, NUMBERED_MAX).join("")} `;
  const highest = findHighestNumber(reader, { start })?.number ?? 1;
  return `${start}${Math.max(highest, 1) + 1}`;
}

/** Returns one key as the list shows it. Throws `not_found`. */
export function getKeyListing(
  reader: Reader,
  id: string,
  now: number,
  pendingUse?: (hash: string) => LastUse | undefined,
): KeyListing {
  const row = getKeyRow(reader, id);
  const [listing] = presentListings(reader, [row], now, pendingUse);
  if (!listing) throw new Error("a key was presented as nothing");
  return listing;
}

/** Returns the keys with some ids that exist, as the list shows them, in the order of the ids. */
export function listKeysById(
  reader: Reader,
  ids: readonly string[],
  now: number,
  pendingUse?: (hash: string) => LastUse | undefined,
): KeyListing[] {
  const rows = ids.map((id) => findKey(reader, { id })).filter((row) => row !== undefined);
  return presentListings(reader, rows, now, pendingUse);
}

export type KeyCounts = Record<KeyFilter, number>;

/** Counts the keys that each filter of `listKeyPage` finds at `now` (unix ms), in several turns. */
export function* countKeys(reader: Reader, now: number): Generator<number, KeyCounts> {
  const parts = yield* countKeysByFilter(reader, { ...timesOfFilters(now), limit: Infinity });
  const counts = KEY_FILTERS.map((filter) => [filter, sum(parts.map((part) => part[filter]))]);
  return Object.fromEntries(counts) as KeyCounts;
}

function presentListings(
  reader: Reader,
  rows: readonly KeyRow[],
  now: number,
  pendingUse: ((hash: string) => LastUse | undefined) | undefined,
): KeyListing[] {
  const keyIds = JSON.stringify(rows.map((row) => row.id));
  const hours = hoursOfDayBefore(now);
  const values = Map.groupBy(listValuesOfKeys(reader, { keyIds }), (value) => value.keyId);
  const requests = new Map(
    countRequestsOfKeys(reader, { keyIds, since: hours[0] ?? now }).map((row) => [
      row.keyId,
      JSON.parse(row.byHour) as Record<string, number>,
    ]),
  );
  const { limitedSince: since } = timesOfFilters(now);
  const limited = new Set(listLimitedKeys(reader, { keyIds, since }).map((row) => row.keyId));
  return rows.map((row) => {
    const key = presentKey(row, values.get(row.id) ?? [], pendingUse);
    const state = stateOfKey(row, now);
    return {
      ...key,
      state,
      requests_24h: hours.map((hour) => requests.get(row.id)?.[hour] ?? 0),
      is_limited: state === "live" && limited.has(row.id),
      old_value: state === "live" ? findOldValue(key, now) : null,
    };
  });
}

function findOldValue({ values }: KeyResource, now: number): KeyListing["old_value"] {
  for (const { start, ends_at, last_used_at } of values) {
    if (ends_at !== null && Date.parse(ends_at) > now) return { start, ends_at, last_used_at };
  }
  return null;
}

/**
 * Maximum length of a search, longer than names and labels and shorter than SQLite's longest
 * pattern.
 */
const SEARCH_MAX = 1_000;

const EVERY_KEY: KeySearch = { text: null, contains: "", scope: null, start: null };

/**
 * Prepares a search. A pasted key value, alone or within other text, is replaced by its start, so
 * that it goes no further.
 */
function readSearch(typed: string): KeySearch {
  const trimmed = typed.trim();
  if (trimmed === "") return EVERY_KEY;
  // SQLite's LIKE ends a pattern at NUL, which no name contains.
  const text = (startOfValueIn(trimmed) ?? trimmed.slice(0, SEARCH_MAX)).replaceAll("\0", "\uFFFD");
  // All values start with the prefix, so a shorter text would match every key.
  const folded = text.toLowerCase();
  const isStart = folded.startsWith(KEY_PREFIX);
  const scope = SCOPE_NAMES.find((name) => name === folded);
  return {
    text,
    contains: `%${escapeLike(text)}%`,
    scope: scope === undefined ? null : JSON.stringify(scope),
    start: isStart ? `${escapeLike(keyValueStart(text))}%` : null,
  };
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
