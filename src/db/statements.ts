import type { SQLQueryBindings } from "bun:sqlite";
import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Clock } from "../base/clock";
import {
  type BoundParam,
  boundValue,
  type BuildChange,
  driverValue,
  type Orm,
  type PreparedStatement,
  type StatementCache,
} from "./statement-cache";

/** The database between transactions, or a transaction with its own changes. */
export interface Reader {
  readonly statements: StatementCache;
}

/**
 * An open transaction, passed to the callback of `db.write`. Every use throws after the callback has
 * returned or SQLite has rolled back the transaction. A callback touches nothing but its `tx`.
 */
export interface Tx extends Reader {
  /**
   * Runs `work` in the transaction once the callback of `db.write` has returned. An error rolls back the
   * callback.
   */
  atEnd(work: () => void): void;
  /** Runs `effect` once the transaction is durable, never if it is rolled back. Errors are logged. */
  afterCommit(effect: () => void): void;
}

/** Row that a query returns. */
type Rows<Builder> = Builder extends { prepare(): { all(...args: never[]): infer R } }
  ? R extends (infer Row)[]
    ? Row
    : never
  : never;

/**
 * Declares a query for at most one row: `const findPage = selectOne((orm, $: { id: string }) => …)`, then
 * `findPage(reader, { id })`. The type of `$` is the type of the parameters.
 */
export function selectOne<Params, Builder extends { prepare(): PreparedStatement }>(
  build: (orm: Orm, $: Params) => Builder,
): (reader: Reader, params: Params) => Rows<Builder> | undefined {
  return ({ statements }, params) => {
    try {
      const row = statements.prepared(build).get(params as Record<string, unknown>);
      // Without a row, Drizzle returns undefined and bun:sqlite null.
      return (row ?? undefined) as Rows<Builder> | undefined;
    } catch (error) {
      statements.onStatementError(error);
      throw error;
    }
  };
}

/** Declares a query for any number of rows, which are read at once: no iterator stays open. */
export function selectMany<Params, Builder extends { prepare(): PreparedStatement }>(
  build: (orm: Orm, $: Params) => Builder,
): (reader: Reader, params: Params) => Rows<Builder>[] {
  return ({ statements }, params) => {
    try {
      return statements.prepared(build).all(params as Record<string, unknown>) as Rows<Builder>[];
    } catch (error) {
      statements.onStatementError(error);
      throw error;
    }
  };
}

/**
 * Declares a statement that changes rows. Calling it runs it and returns the number of changed rows.
 * Throws after the end of the transaction.
 */
export function mutate<Params>(build: BuildChange<Params>): (tx: Tx, params: Params) => number {
  return (tx, args) =>
    runChange(tx, build, (params) =>
      params.map((param) => boundValue(param, args as Record<string, unknown>)),
    );
}

/** Runs a statement with the values that `bind` returns for its parameters. */
function runChange<Params>(
  { statements }: Tx,
  build: BuildChange<Params>,
  bind: (params: readonly BoundParam[]) => SQLQueryBindings[],
): number {
  try {
    const { statement, params } = statements.preparedChange(build);
    const { changes } = statement.run(...bind(params));
    statements.written += changes;
    return changes;
  } catch (error) {
    statements.onStatementError(error);
    throw error;
  }
}

/** Numbers of rows that one statement of `insertAllInto` inserts. */
const BATCH_SIZES = [64, 16, 4, 1] as const;

/** Declares a statement that inserts one whole row: `const insertPage = insertInto(pages)`. */
export function insertInto<Table extends SQLiteTable>(
  table: Table,
): (tx: Tx, row: Table["$inferInsert"]) => void {
  const insert = insertRows(table, 1);
  return (tx, row) => insert(tx, [row]);
}

/**
 * Declares statements that insert any number of whole rows, in order: 64, 16, 4 or one at once. They take a
 * quarter of the time that SQLite needs to read the rows from one JSON text.
 */
export function insertAllInto<Table extends SQLiteTable>(
  table: Table,
): (tx: Tx, rows: readonly Table["$inferInsert"][]) => void {
  return insertInBatches((size) => insertRows(table, size));
}

/** Declares statements as `insertAllInto` does, which leave out rows whose key is taken. */
export function insertMissingInto<Table extends SQLiteTable>(
  table: Table,
): (tx: Tx, rows: readonly Table["$inferInsert"][]) => void {
  return insertInBatches((size) => insertRows(table, size, true));
}

function insertInBatches<Row>(
  ofSize: (size: number) => (tx: Tx, rows: readonly Row[]) => void,
): (tx: Tx, rows: readonly Row[]) => void {
  const inserts = BATCH_SIZES.map((size) => ({ size, insert: ofSize(size) }));
  return (tx, rows) => {
    let from = 0;
    for (const { size, insert } of inserts) {
      for (; from + size <= rows.length; from += size) insert(tx, rows.slice(from, from + size));
    }
  };
}

/** Declares a statement that inserts exactly `count` whole rows, or those of them whose key is free. */
function insertRows<Table extends SQLiteTable>(
  table: Table,
  count: number,
  isMissing = false,
): (tx: Tx, rows: readonly Table["$inferInsert"][]) => void {
  const columns = Object.entries(getTableColumns(table));
  const build: BuildChange<Record<string, unknown>> = (orm, $) => {
    const row = Object.fromEntries(columns.map(([name]) => [name, $[name]]));
    const insert = orm.insert(table).values(Array<Table["$inferInsert"]>(count).fill(row as never));
    return isMissing ? insert.onConflictDoNothing() : insert;
  };
  return (tx, rows) => {
    runChange(tx, build, () => {
      const values: SQLQueryBindings[] = [];
      for (const row of rows as readonly Record<string, unknown>[]) {
        for (const [name, column] of columns) values.push(driverValue(row[name], column));
      }
      return values;
    });
  };
}

/**
 * Declares a statement that replaces a whole row by its `id`: `const updatePage = updateById(pages)`. Unique numbers
 * of a table never change and are left out: SQLite would read all rows that refer to them, such as a monitor's
 * results.
 */
export function updateById<Table extends SQLiteTable & { $inferSelect: { id: unknown } }>(
  table: Table,
): (tx: Tx, row: Table["$inferSelect"]) => void {
  const columns = getTableColumns(table);
  const id = columns["id"];
  if (!id) throw new Error("the table has no column id");
  const names = Object.keys(columns).filter((name) => !columns[name]?.isUnique && name !== "id");
  const update = mutate((orm, $: Record<string, unknown>) =>
    orm
      .update(table)
      .set(Object.fromEntries(names.map((name) => [name, $[name]])) as Table["$inferInsert"])
      .where(eq(id, $["id"])),
  );
  return (tx, row) => {
    if (update(tx, row) !== 1) throw new Error("the row to update is not there");
  };
}

/** Returns a row with the next version, changed now. */
export function changedRow<Row extends { version: number; updatedAt: number }>(
  { clock }: { clock: Clock },
  row: Row,
): Row {
  return { ...row, version: row.version + 1, updatedAt: clock.now() };
}

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

/**
 * Returns the number of rows that this connection has written since it was opened, including those
 * that were rolled back. It never decreases while the connection is open.
 */
export const countChanges = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: sql<number>`total_changes()` }).from(sql`(SELECT 1)`),
);
