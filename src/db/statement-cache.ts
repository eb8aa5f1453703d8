import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import {
  Column,
  type DriverValueDecoder,
  type DriverValueEncoder,
  is,
  Param,
  Placeholder,
  SQL,
  sql,
} from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";

export type Orm = BunSQLiteDatabase<Record<string, never>>;

/** Builds all statements. Their texts are the same for all databases, so it has none. */
const orm: Orm = drizzle({ client: { prepare: () => undefined } as never });

/** Declaration of a query: built by Drizzle once per process, with constant text. */
type Build<Params> = (orm: Orm, $: Params) => { prepare(): PreparedStatement };

export interface PreparedStatement {
  getQuery(): { sql: string; params: unknown[] };
  get(params?: Record<string, unknown>): unknown;
  all(params?: Record<string, unknown>): unknown;
  values(params?: Record<string, unknown>): unknown[][];
}

/** Declaration of a statement that changes rows, built like a query. */
export type BuildChange<Params> = (
  orm: Orm,
  $: Params,
) => { toSQL(): { sql: string; params: unknown[] } };

interface ChangeQuery {
  sql: string;
  params: readonly BoundParam[];
}

/** A parameter of a statement: the argument `name` as its column stores it, or a constant. */
export type BoundParam =
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

/**
 * Makes rows of columns and SQL expressions without Drizzle, whose general mapping needs almost as long as
 * SQLite. Other rows, such as those with objects of joined tables, are left to Drizzle.
 */
function withPlainRows(query: PreparedStatement): PreparedStatement {
  // Private in the types of Drizzle.
  const { fields = [] } = query as { fields?: { path: string[]; field: unknown }[] };
  const columns = fields.flatMap(({ path: [name = "", ...deeper], field }) => {
    const decoder = decoderOf(field);
    return deeper.length === 0 && decoder ? [{ name, decoder }] : [];
  });
  if (columns.length === 0 || columns.length < fields.length) return query;
  const rowOf = (values: unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index++) {
      const { name, decoder } = columns[index] as (typeof columns)[number];
      const value = values[index];
      row[name] = value === null ? null : decoder.mapFromDriverValue(value);
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

/** Returns the decoder of a selected column or SQL expression; undefined for others. */
function decoderOf(field: unknown): DriverValueDecoder<unknown, unknown> | undefined {
  if (is(field, Column)) return field;
  // Private in the types of Drizzle.
  return is(field, SQL)
    ? (field as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder
    : undefined;
}

/** Returns the value that SQLite stores; NULL for null and omitted values. */
export function driverValue(
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
export function boundValue(param: BoundParam, args: Record<string, unknown>): SQLQueryBindings {
  if (param.name === undefined) return param.constant;
  const { name, encoder } = param;
  if (!(name in args)) throw new Error(`"${name}" has no value`);
  const value = args[name];
  return encoder ? driverValue(value, encoder) : (value as SQLQueryBindings);
}
