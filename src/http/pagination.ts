import { type TSchema, Type } from "@sinclair/typebox";
import { Problem } from "../errors";
import { decodeCursor, encodeCursor } from "../kernel/cursor";
import { Nullable, QueryInteger, Text } from "../kernel/schema";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;

/** The query parameters of every list. */
export const PageQuery = {
  limit: Type.Optional(
    QueryInteger({
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: "How many to answer with.",
    }),
  ),
  cursor: Type.Optional(
    Text({ maxLength: 500, description: "`next_cursor` of the page before, as it was given." }),
  ),
};

/** One page of a list, as the wire has it. */
export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** The schema of a page of a list. */
export function ListOf<T extends TSchema>(item: T) {
  return Type.Object({
    data: Type.Array(item),
    next_cursor: Nullable(
      Type.String({ description: "Pass it as `cursor` for the next page; null on the last one." }),
    ),
  });
}

/**
 * Request of a list to a store: rows after `after`, and one more than `limit` to detect the end.
 */
export interface PageRequest<Position> {
  limit: number;
  after: Position | undefined;
}

/** Reads `limit` and `cursor`. `kind` is the type of the list's positions. Throws `invalid_request`. */
export function readPageRequest<K extends "string" | "number">(
  query: { limit?: string; cursor?: string },
  kind: K,
): PageRequest<K extends "string" ? string : number> {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  if (query.cursor === undefined) return { limit, after: undefined };
  const after = decodeCursor(query.cursor);
  if (typeof after !== kind) {
    throw new Problem("invalid_request", "The cursor is not one that a list gave.", {
      fields: [{ pointer: "#/cursor", detail: "is not one that a list gave" }],
    });
  }
  return { limit, after: after as K extends "string" ? string : number };
}

/** A list's own address without its cursor, from which the next page's is made. `list` is its URL. */
export function listAddress(
  list: string,
  query: Readonly<Record<string, string | undefined>>,
  limit: number,
): string {
  const self = new URL(list);
  self.searchParams.set("limit", String(limit));
  for (const [name, value] of Object.entries(query)) {
    if (name === "limit" || name === "cursor" || value === undefined) continue;
    self.searchParams.set(name, value);
  }
  return self.href;
}

/** Cuts `limit + 1` rows to a page; the cursor is the position of its last row, if more follow. */
export function toPage<Row, T>(
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => string | number,
  present: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: shown.map(present),
    next_cursor: hasMore ? encodeCursor(positionOf(last)) : null,
  };
}
