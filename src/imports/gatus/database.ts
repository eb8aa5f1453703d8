import type { SQLQueryBindings } from "bun:sqlite";
import { statSync } from "node:fs";
import { OperatorError } from "../../db/errors";
import { copyDatabase, type DatabaseFile, findDatabaseFile } from "../uptime-kuma/database-file";
import { ForeignDatabase } from "../uptime-kuma/foreign-database";

/** Value of a column. */
export type GatusValue = string | number | null | Uint8Array;

/** Tables that are read, with the columns that they need. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  endpoints: ["endpoint_id", "endpoint_key", "endpoint_name", "endpoint_group"],
  endpoint_results: [
    "endpoint_result_id",
    "endpoint_id",
    "success",
    "connected",
    "duration",
    "timestamp",
  ],
  endpoint_uptimes: [
    "endpoint_id",
    "hour_unix_timestamp",
    "total_executions",
    "successful_executions",
    "total_response_time",
  ],
  endpoint_events: ["endpoint_event_id", "endpoint_id", "event_type", "event_timestamp"],
};

/** Tables and columns that Gatus has had only for some versions. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  suites: ["suite_id", "suite_key", "suite_name", "suite_group"],
  suite_results: ["suite_result_id", "suite_id", "success", "duration", "timestamp"],
};

/** Opens the SQLite database of Gatus for reading. Throws an OperatorError for every other file. */
export async function openGatusDatabase(given: string): Promise<GatusDatabase> {
  if (statSync(given, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`${given} is a directory; the history is in a file.`);
  }
  const file = findDatabaseFile(given);
  if (file.access !== "copy") return new GatusDatabase(given, file);
  return new GatusDatabase(given, { path: await copyDatabase(file.path), access: "copy" });
}

/** Database of Gatus, in one read transaction. Errors of SQLite become OperatorErrors. */
export class GatusDatabase extends ForeignDatabase {
  /** True if the database has suites. */
  readonly hasSuites: boolean;
  /** True if results name the run of a suite that they are part of. */
  readonly hasSuiteResults: boolean;

  constructor(path: string, file: DatabaseFile) {
    super(path, file);
    try {
      for (const [table, columns] of Object.entries(TABLES)) this.#require(table, columns);
      this.hasSuites = Object.entries(FURTHER).every(([table, columns]) =>
        columns.every((column) => this.#columnsOf(table).has(column)),
      );
      this.hasSuiteResults = this.#columnsOf("endpoint_results").has("suite_result_id");
    } catch (error) {
      this[Symbol.dispose]();
      throw this.explain(error);
    }
  }

  /**
   * Prepares a query, whose rows are lists of their values. It throws an OperatorError if the database was opened by
   * another process since it was opened here without locks, since what was read may then be wrong.
   */
  prepare<Row extends GatusValue[]>(sql: string): (...values: SQLQueryBindings[]) => Row[] {
    const statement = this.read(() => this.sqlite.prepare(sql));
    return (...values) =>
      this.read(() => {
        const rows = statement.values(...values) as Row[];
        this.requireUnchanged();
        return rows;
      });
  }

  /** Throws an OperatorError for a database without a table, or with a view in its place. */
  #require(table: string, columns: readonly string[]): void {
    const present = this.#columnsOf(table);
    const missing = columns.find((column) => !present.has(column));
    if (missing === undefined) return;
    const lack = present.size === 0 ? `table ${table}` : `column ${table}.${missing}`;
    throw new OperatorError(`${this.path} is no database of Gatus: it has no ${lack}.`);
  }

  /** Returns the columns of a table. A view and a virtual table, which have no page of their own, have none. */
  #columnsOf(table: string): ReadonlySet<string> {
    const rows = this.prepare<[string]>(
      `SELECT c.name FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c
       WHERE s.type = 'table' AND s.rootpage > 0 AND s.name = ? AND c.hidden = 0`,
    )(table);
    return new Set(rows.map(([name]) => name));
  }
}
