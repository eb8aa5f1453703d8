/*
 * Reading of tables that may be large: in parts, each in a turn of the event loop of its own, so that no list, search or
 * count delays other requests, however many rows there are.
 */
import { and, desc, gte, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { NEWEST } from "../base/ids";
import { WHOLE_TURN } from "../base/in-slices";
import { type Reader, selectOne } from "./statements";

/** Rows read in one turn of the event loop: about 10 ms for a search of eight words. */
export const ROWS_PER_TURN = 2_000;

/** Part of a table: its ids from `from` on, below `before`. */
export interface Part {
  from: string;
  before: string;
}

/** Condition: a row belongs to a part of its table. */
export function isInPart(id: SQLiteColumn, $: Part): SQL | undefined {
  return and(gte(id, $.from), lt(id, $.before));
}

/**
 * Query of a whole table: the parameters of the statement without the bounds of the part. Reading begins below the id
 * `before`; without it, at the highest.
 */
type WholeQuery<Params> = Omit<Params, keyof Part | "limit"> & {
  limit: number;
  before?: string | undefined;
};

/**
 * Declares how a table is read in parts, from the highest id on, by a generator for `runInSlices`. It returns the first
 * `limit` rows: in the order of `compare`, by descending id without it. `readPart` lists the first rows of a part in that
 * order.
 */
export function declareParts<Row, Params extends Part>(
  table: SQLiteTable & { id: SQLiteColumn },
  readPart: (reader: Reader, params: Params) => Row[],
  compare?: (a: Row, b: Row) => number,
): (reader: Reader, query: WholeQuery<Params>) => Generator<number, Row[]> {
  /** Finds the id that is `rows` places below an id. */
  const findBoundary = selectOne((orm, $: { before: string; rows: number }) =>
    orm
      .select({ id: sql<string>`${table.id}` })
      .from(table)
      .where(lt(table.id, $.before))
      .orderBy(desc(table.id))
      .limit(1)
      .offset($.rows),
  );
  return function* read(reader, query) {
    const { limit } = query;
    let found: Row[] = [];
    let before = query.before ?? NEWEST;
    for (;;) {
      const from = findBoundary(reader, { before, rows: ROWS_PER_TURN })?.id ?? "";
      found.push(...readPart(reader, { ...query, from, before } as unknown as Params));
      if (compare) found.sort(compare);
      found = found.slice(0, limit);
      const isEnough = !compare && found.length === limit;
      if (from === "" || isEnough) return found;
      before = from;
      yield WHOLE_TURN;
    }
  };
}
