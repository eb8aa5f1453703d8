/*
 * Statements, declared at module level with constant text and prepared once per database. Stores call them with a
 * reader or a transaction.
 */
import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import {
  Column,
  type DriverValueDecoder,
  type DriverValueEncoder,
  eq,
  getTableColumns,
  getTableName,
  is,
  Param,
  Placeholder,
  SQL,
  sql,
} from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Clock } from "../base/clock";

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
  const several = selectMany((orm, $: { ids: string }) =>
    build(orm, (column) => isAmong(column, $.ids)),
  );
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
  const several = mutate((orm, $: Params & { ids: string }) =>
    build(orm, (column) => isAmong(column, $.ids), $),
  );
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

/** Condition: a column is among `ids`, a JSON list. */
export function isAmong(column: SQLiteColumn, ids: string): SQL {
  return sql`${column} IN (SELECT value FROM json_each(${ids}))`;
}

/**
 * Returns the number of rows that this connection has written since it was opened, including those
 * that were rolled back. It never decreases while the connection is open.
 */
export const countChanges = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: sql<number>`total_changes()` }).from(sql`(SELECT 1)`),
);

export type Orm = BunSQLiteDatabase<Record<string, never>>;

/** Builds all statements. Their texts are the same for all databases, so it has none. */
const orm: Orm = drizzle({ client: { prepare: () => undefined } as never });

/** Declaration of a query: built by Drizzle once per process, with constant text. */
type Build<Params> = (orm: Orm, $: Params) => { prepare(): PreparedStatement };

interface PreparedStatement {
  getQuery(): { sql: string; params: unknown[] };
  get(params?: Record<string, unknown>): unknown;
  all(params?: Record<string, unknown>): unknown;
  values(params?: Record<string, unknown>): unknown[][];
}

/** Declaration of a statement that changes rows, built like a query. */
type BuildChange<Params> = (orm: Orm, $: Params) => { toSQL(): { sql: string; params: unknown[] } };

interface ChangeQuery {
  sql: string;
  params: readonly BoundParam[];
}

/** A parameter of a statement: the argument `name` as its column stores it, or a constant. */
type BoundParam =
  | { name: string; encoder: DriverValueEncoder<unknown, unknown> | undefined }
  | { name: undefined; constant: SQLQueryBindings };

/**
 * A statement that changes rows. Its values are bound without Drizzle, which needs more time per value than
 * SQLite.
 */
interface PreparedChange extends ChangeQuery {
  statement: Pick<Statement<unknown, SQLQueryBindings[]>, "run">;
}

/** Prepared statements of a database, each made at its first use. */
export class StatementCache {
  /** Number of rows changed so far, rolled back or not. A probe counts as one. */
  written = 0;
  /** Called with every error of a statement. */
  readonly onStatementError: (error: unknown) => void;
  readonly #sqlite: Database;
  readonly #queries = new Map<unknown, PreparedStatement>();
  readonly #changes = new Map<unknown, PreparedChange>();

  constructor(sqlite: Database, onStatementError: (error: unknown) => void) {
    this.#sqlite = sqlite;
    this.onStatementError = onStatementError;
  }

  prepared<Params>(build: Build<Params>): PreparedStatement {
    const cached = this.#queries.get(build);
    if (cached) return cached;
    const query = builtQuery(build);
    const statement = this.#sqlite.prepare(withOnePlan(query.getQuery().sql));
    // A copy, which differs from the built query only in its statement.
    const copy = Object.assign(Object.create(Object.getPrototypeOf(query)), query, {
      stmt: statement,
    });
    const made = withPlainRows(copy as PreparedStatement);
    this.#queries.set(build, made);
    return made;
  }

  preparedChange<Params>(build: BuildChange<Params>): PreparedChange {
    const cached = this.#changes.get(build);
    if (cached) return cached;
    const query = builtChange(build);
    const made = { ...query, statement: this.#sqlite.prepare(withOnePlan(query.sql)) };
    this.#changes.set(build, made);
    return made;
  }
}

/**
 * Puts a unary plus, which changes no value, before each parameter that is a limit or is compared with a
 * column. Without it, SQLite parses and plans a sorted, grouped or limited statement again for every
 * execution, because other values could need another plan. That takes 3 to 50 µs; most statements need 1 to
 * 5 µs. All statements of this program have the same plans with it.
 */
function withOnePlan(sql: string): string {
  return sql.replaceAll(/ (=|IS|limit|offset) \?/gi, " $1 +?");
}

/** Statements as Drizzle built them, by their declaration. */
const builtQueries = new WeakMap<object, PreparedStatement>();
const builtChanges = new WeakMap<object, ChangeQuery>();

function builtQuery<Params>(build: Build<Params>): PreparedStatement {
  const known = builtQueries.get(build);
  if (known) return known;
  const query = build(orm, placeholders as Params).prepare();
  keepNulls(query.getQuery().params);
  builtQueries.set(build, query);
  return query;
}

function builtChange<Params>(build: BuildChange<Params>): ChangeQuery {
  const known = builtChanges.get(build);
  if (known) return known;
  const { sql: text, params } = build(orm, placeholders as Params).toSQL();
  const query = { sql: text, params: params.map(boundParam) };
  builtChanges.set(build, query);
  return query;
}

/** Has Drizzle's placeholder of that name as every property. */
const placeholders: unknown = new Proxy(
  {},
  { get: (_target, name) => sql.placeholder(String(name)) },
);

/**
 * Makes null parameters NULL. Drizzle would encode them by their column: as the text "null" for JSON, as 0
 * for a boolean.
 */
function keepNulls(params: unknown[]): void {
  for (const [index, param] of params.entries()) {
    if (!is(param, Param) || !is(param.value, Placeholder)) continue;
    const { value, encoder } = param;
    params[index] = new Param(value, {
      mapToDriverValue: (argument: unknown) => driverValue(argument, encoder),
    });
  }
}

/** A selected value: its name in the row, or in an object of the row. */
interface PlainColumn {
  object: string | undefined;
  name: string;
  decoder: DriverValueDecoder<unknown, unknown>;
}

/**
 * Makes rows of columns, SQL expressions and objects of these without Drizzle, whose general mapping needs
 * longer than SQLite. Other rows, such as those with an object that a left join may leave out, are left to
 * Drizzle.
 */
function withPlainRows(query: PreparedStatement): PreparedStatement {
  const columns = plainColumnsOf(query);
  if (!columns) return query;
  const rowOf = (values: unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index++) {
      const { object, name, decoder } = columns[index] as PlainColumn;
      const value = values[index];
      const target = object === undefined ? row : ((row[object] ??= {}) as Record<string, unknown>);
      target[name] = value === null ? null : decoder.mapFromDriverValue(value);
    }
    return row;
  };
  return {
    getQuery: () => query.getQuery(),
    values: (params) => query.values(params),
    get(params) {
      const [first] = query.values(params);
      return first && rowOf(first);
    },
    all: (params) => query.values(params).map(rowOf),
  };
}

/** Returns the columns of plain rows; undefined for rows that Drizzle makes. */
function plainColumnsOf(query: PreparedStatement): PlainColumn[] | undefined {
  // Private in the types of Drizzle. A table is true if no join leaves its row out.
  const { fields = [], joinsNotNullableMap: hasRows } = query as {
    fields?: { path: string[]; field: unknown }[];
    joinsNotNullableMap?: Record<string, boolean>;
  };
  const columns: PlainColumn[] = [];
  for (const { path, field } of fields) {
    const decoder = decoderOf(field);
    const [name, object, deeper] = path.toReversed();
    if (!decoder || name === undefined || deeper !== undefined) return undefined;
    const isOptional = hasRows && is(field, Column) && !hasRows[getTableName(field.table)];
    if (object !== undefined && isOptional) return undefined;
    columns.push({ object, name, decoder });
  }
  return columns.length === 0 ? undefined : columns;
}

/** Returns the decoder of a selected column or SQL expression; undefined for others. */
function decoderOf(field: unknown): DriverValueDecoder<unknown, unknown> | undefined {
  if (is(field, Column)) return field;
  // Private in the types of Drizzle.
  return is(field, SQL)
    ? (field as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder
    : undefined;
}

/** Returns the value that SQLite stores; NULL for null and omitted values. */
function driverValue(
  value: unknown,
  encoder: DriverValueEncoder<unknown, unknown>,
): SQLQueryBindings {
  if (value === null || value === undefined) return null;
  return encoder.mapToDriverValue(value) as SQLQueryBindings;
}

/** Reads one of Drizzle's parameters. */
function boundParam(param: unknown): BoundParam {
  const placeholder = is(param, Param) ? param.value : param;
  if (!is(placeholder, Placeholder))
    return { name: undefined, constant: param as SQLQueryBindings };
  return { name: placeholder.name, encoder: is(param, Param) ? param.encoder : undefined };
}

/** Returns the value of a parameter. Throws if the argument is missing. */
function boundValue(param: BoundParam, args: Record<string, unknown>): SQLQueryBindings {
  if (param.name === undefined) return param.constant;
  const { name, encoder } = param;
  if (!(name in args)) throw new Error(`"${name}" has no value`);
  const value = args[name];
  return encoder ? driverValue(value, encoder) : (value as SQLQueryBindings);
}
