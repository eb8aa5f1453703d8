import type { Database } from "bun:sqlite";
import { OperatorError } from "../../../db/errors";
import { cutName } from "../texts";
import { TABLES } from "./table-columns";

/** Columns of the tables of Uptime Kuma 1.23 and 2.5. Those without a counterpart are known too. */
const KNOWN_COLUMNS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(TABLES).map(([table, columns]) => [table, new Set(Object.keys(columns))]),
);

/** Maximum number of unknown parts that are named, and of characters of each. */
const NAMED_MAX = 20;
const NAME_LENGTH_MAX = 80;

/** Columns of the tables of a database, by table. */
export type Tables = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reads the tables of a database. Computed columns are left out. Throws an OperatorError if it is none of Uptime
 * Kuma, or has views or virtual tables in place of its tables.
 */
export function readTables(sqlite: Database, path: string): Tables {
  const columnsOf = sqlite.prepare<{ name: string }, [string]>(
    "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
  );
  const tables = new Map<string, ReadonlySet<string>>();
  for (const { name, isPlain } of sqlite
    .prepare<{ name: string; isPlain: number }, []>(
      // Views and virtual tables have no page of their own.
      `SELECT name, type = 'table' AND rootpage > 0 AS isPlain FROM sqlite_schema
       WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .iterate()) {
    if (!isPlain && KNOWN_COLUMNS.has(name)) {
      throw new OperatorError(
        `${path} is no database of Uptime Kuma: ${name} is a view or a virtual table.`,
      );
    }
    tables.set(name, new Set(isPlain ? columnsOf.all(name).map((column) => column.name) : []));
  }
  if (!tables.has("monitor")) {
    throw new OperatorError(`${path} is no database of Uptime Kuma: it has no table monitor.`);
  }
  return tables;
}

/** Lists the tables and columns that this version does not know, by name. */
export function listUnknownParts(tables: Tables): string[] {
  const unknown = [...tables].flatMap(([table, columns]) => {
    const known = KNOWN_COLUMNS.get(table);
    if (!known) return [`table ${table}`];
    return [...columns].filter((name) => !known.has(name)).map((name) => `${table}.${name}`);
  });
  unknown.sort();
  const named = unknown
    .slice(0, NAMED_MAX)
    .map((name) => cutName(name, "a table", NAME_LENGTH_MAX));
  if (unknown.length <= NAMED_MAX) return named;
  return [...named, `${unknown.length - NAMED_MAX} more tables and columns`];
}
