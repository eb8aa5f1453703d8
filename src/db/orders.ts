/*
 * Lists that people order by a column. Each order has a statement of its own, which continues after the place of an
 * entry. A place holds the entry's value, so that it stays when the entry changes or is deleted. Equal values are in the
 * order of ids, and entries without a value are last.
 */
import { asc, desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** Order by a column: its key for its smallest values first, after “-” for its largest. */
export type Order<Key extends string> = Key | `-${Key}`;

/** Value and id of an entry; null before the first one. */
export interface Place {
  afterValue: string | number | null;
  afterId: string | null;
}

/** Entry of an ordered list, with the value by which it is ordered. */
interface Ordered {
  id: string;
  value: string | number;
}

/** Parts of the statement of one order. */
interface OrderParts {
  /** Value by which the list is ordered, which the statement returns. */
  value: SQL<string | number>;
  /** Condition: an entry comes after a place. */
  isAfter: (place: Place) => SQL;
  by: [SQL, SQL];
  /** Compares entries as the statement does, to merge those of several parts of a table. */
  compare: (a: Ordered, b: Ordered) => number;
}

const MISSING = { first: -1, last: Number.MAX_SAFE_INTEGER };

/** Declares the statements of a list, by order. `columns` are the values of its columns, `id` decides between equal ones. */
export function declareOrders<Key extends string, List>(
  id: SQLWrapper,
  columns: Readonly<Record<Key, SQL>>,
  declare: (parts: OrderParts) => List,
): Readonly<Record<Order<Key>, List>> {
  const lists = Object.entries<SQL>(columns).flatMap(([key, column]) =>
    [false, true].map((isDescending): [string, List] => {
      const last = sql.raw(String(isDescending ? MISSING.first : MISSING.last));
      const value = sql<string | number>`coalesce(${column}, ${last})`;
      const direction = isDescending ? desc : asc;
      const comparison = sql.raw(isDescending ? "<" : ">");
      const list = declare({
        value,
        isAfter: ({ afterValue, afterId }) =>
          sql`(${afterId} IS NULL OR (${value}, ${id}) ${comparison} (${afterValue}, ${afterId}))`,
        by: [direction(value), direction(id)],
        compare: (a, b) =>
          (isDescending ? -1 : 1) * (compareValues(a.value, b.value) || compareValues(a.id, b.id)),
      });
      return [isDescending ? `-${key}` : key, list];
    }),
  );
  return Object.fromEntries(lists) as Record<Order<Key>, List>;
}

/** Compares values as SQLite does: numbers before texts, and texts by their bytes in UTF-8. */
export function compareValues(a: string | number, b: string | number): number {
  if (typeof a === "number") return typeof b === "number" ? a - b : -1;
  return typeof b === "number" ? 1 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Reads a place from an address. An invalid one stands for the beginning of the list. */
export function readPlace(text: string | undefined): Place {
  const [, id, json] = /^(\w{1,100})\.(.{1,2000})$/s.exec(text ?? "") ?? [];
  const value = json === undefined ? undefined : parse(json);
  if (id === undefined || (typeof value !== "string" && typeof value !== "number")) {
    return { afterValue: null, afterId: null };
  }
  return { afterValue: value, afterId: id };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Returns the place of a column's value among constant ones, as a number from 0 on. */
export function rankAmong(column: SQLWrapper, values: readonly string[]): SQL<number> {
  const cases = values.map((value, index) => `WHEN '${value}' THEN ${index}`).join(" ");
  return sql<number>`CASE ${column} ${sql.raw(cases)} END`;
}

/** Returns the first entries of a part of a list, and the place of the last one if more follow. */
export function partOf<Entry extends { value: string | number }>(
  entries: readonly Entry[],
  limit: number,
  idOf: (entry: Entry) => string,
): { shown: readonly Entry[]; nextBefore: string | undefined } {
  const last = entries.length > limit ? entries[limit - 1] : undefined;
  return {
    shown: entries.slice(0, limit),
    nextBefore: last && `${idOf(last)}.${JSON.stringify(last.value)}`,
  };
}
