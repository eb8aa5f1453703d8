import { type TSchema, Type } from "@sinclair/typebox";
import { Problem } from "../base/errors";
import { Nullable, QueryInteger, Text } from "../base/schema";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/** Query parameters of every list. */
export const PageQuery = {
  limit: Type.Optional(
    QueryInteger({
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: "Number of entries.",
    }),
  ),
  cursor: Type.Optional(
    Text({ maxLength: 500, description: "`next_cursor` of the previous page." }),
  ),
};

/** One page of a list in the API. */
export interface ListPage<T> {
  data: T[];
  next_cursor: string | null;
}

/** Returns the schema of a page of a list. */
export function ListOf<T extends TSchema>(item: T) {
  return Type.Object({
    data: Type.Array(item),
    next_cursor: Nullable(
      Type.String({
        description: "Pass it as `cursor` to get the next page; null on the last page.",
      }),
    ),
  });
}

/**
 * Request of a list to a store: rows after `after`, and one more than `limit` to detect the end.
 */
interface PageRequest<Position> {
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
    throw new Problem("invalid_request", "The cursor is not the next_cursor of a list.", {
      fields: [{ pointer: "#/cursor", detail: "is not the next_cursor of a list" }],
    });
  }
  return { limit, after: after as K extends "string" ? string : number };
}

/** Returns the address of a list page without its cursor, for links to the next page. `list` is a URL. */
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

/** Makes a page from up to `limit + 1` rows. The cursor is the position of its last row, if more follow. */
export function toPage<Row, T>(
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => string | number,
  present: (row: Row) => T,
): ListPage<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: shown.map(present),
    next_cursor: hasMore ? encodeCursor(positionOf(last)) : null,
  };
}

/** Returns the cursor of a position: the sort key of a row, which stays valid while rows are inserted. */
function encodeCursor(position: string | number): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** Returns the position of a cursor; undefined for text that `encodeCursor` did not write. */
function decodeCursor(cursor: string): string | number | undefined {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    const isPosition = typeof position === "string" || Number.isSafeInteger(position);
    if (!isPosition || encodeCursor(position as string | number) !== cursor) return undefined;
    return position as string | number;
  } catch {
    return undefined;
  }
}
