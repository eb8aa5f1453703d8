import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { BuildChange, Orm, PreparedStatement } from "./statement-cache";
import { mutate, type Reader, type Rows, selectMany, type Tx } from "./statements";

/** Returns the condition that a column holds one of the ids. */
type IsOneOf = (column: SQLiteColumn) => SQL;

/*
 * Statements about the rows with some ids. Each has two texts: for one id, which most calls name, and for a
 * list of several. Reading a single id from a JSON list takes 3 µs longer than comparing the column with it.
 */

/** Declares a query by ids: `const listCauses = selectByIds((orm, isOneOf) => …)`, then `listCauses(reader, ids)`. */
export function selectByIds<Builder extends { prepare(): PreparedStatement }>(
  build: (orm: Orm, isOneOf: IsOneOf) => Builder,
): (reader: Reader, ids: readonly string[]) => Rows<Builder>[] {
  const one = selectMany((orm, $: { id: string }) => build(orm, isEqualTo($.id)));
  const several = selectMany((orm, $: { ids: string }) => build(orm, isAmong($.ids)));
  return (reader, ids) => {
    const [id] = ids;
    if (id === undefined) return [];
    return ids.length === 1 ? one(reader, { id }) : several(reader, { ids: JSON.stringify(ids) });
  };
}

/** Declares a statement that changes rows by ids, like `selectByIds`. Returns the number of changed rows. */
export function mutateByIds<Params extends object>(
  build: (orm: Orm, isOneOf: IsOneOf, $: Params) => ReturnType<BuildChange<Params>>,
): (tx: Tx, ids: readonly string[], params: Params) => number {
  const one = mutate((orm, $: Params & { id: string }) => build(orm, isEqualTo($.id), $));
  const several = mutate((orm, $: Params & { ids: string }) => build(orm, isAmong($.ids), $));
  return (tx, ids, params) => {
    const [id] = ids;
    if (id === undefined) return 0;
    return ids.length === 1
      ? one(tx, { ...params, id })
      : several(tx, { ...params, ids: JSON.stringify(ids) });
  };
}

function isEqualTo(id: string): IsOneOf {
  return (column) => sql`${column} = ${id}`;
}

function isAmong(ids: string): IsOneOf {
  return (column) => sql`${column} IN (SELECT value FROM json_each(${ids}))`;
}
