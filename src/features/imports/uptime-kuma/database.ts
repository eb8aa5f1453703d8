import type { Database, SQLQueryBindings } from "bun:sqlite";
import { OperatorError } from "../../../db/errors";
import { pragma } from "../../../db/open";
import { copyDatabase, type DatabaseFile, findDatabaseFile } from "./database-file";
import { cut, ForeignDatabase, removeCopy } from "./foreign-database";
import { listUnknownParts, readTables, type Tables } from "./schema";

/** Value of a column. */
export type KumaValue = string | number | null;

/** Prepared query, whose values are foreign. Its errors are OperatorErrors. */
export interface Query<Row extends object> {
  all(...values: SQLQueryBindings[]): Row[];
  /** Reads rows one after another. Only one such reading can be under way. */
  iterate(...values: SQLQueryBindings[]): Generator<Row>;
}

/** Maximum number of rows of a table that is read whole, of characters of a text, and of bytes of all texts. */
const ROWS_MAX = 100_000;
const TEXT_MAX = 1_000_000;
const TEXTS_MAX = 128 * 1024 * 1024;

/** Size of the smallest row with some values, in bytes. */
const ROW_BYTES_MIN = 8;

/** Longest time of a beat, in characters, with milliseconds and a zone. */
const TIME_MAX = 30;

/**
 * Opens the database of Uptime Kuma in a file or in its data directory for reading, in one transaction. Throws an
 * OperatorError for everything else. Nothing is written into the folder unless Uptime Kuma has the database open,
 * or its write-ahead log lies beside it: then shared memory is.
 */
export async function openKumaDatabase(given: string): Promise<KumaDatabase> {
  const file = findDatabaseFile(given);
  if (file.access !== "copy") return new KumaDatabase(given, file);
  const path = await copyDatabase(file.path);
  return new KumaDatabase(given, { path, access: "copy" });
}

/**
 * Database of Uptime Kuma, in one read transaction. Its content is foreign: tables and columns are looked up before
 * they are read, and errors of SQLite become OperatorErrors.
 */
export class KumaDatabase extends ForeignDatabase {
  readonly #tables: Tables;
  /** Tables and columns that this version does not know. */
  readonly notRead: readonly string[];
  /** Instructions about missing files. */
  readonly toDo: readonly string[];
  /** Number of rows for which the database has room. A damaged one can seem to have more. */
  readonly rowsMax: number;

  constructor(path: string, file: DatabaseFile) {
    super(path, file);
    try {
      this.#tables = readTables(this.sqlite, path);
      this.rowsMax = sizeOf(this.sqlite) / ROW_BYTES_MIN;
      this.notRead = listUnknownParts(this.#tables);
      this.toDo = file.access === "lone" ? [toCopyBoth(file.path, this.#newestBeat())] : [];
      // The open files stay until they are closed, and also a process that is killed leaves nothing. Windows
      // removes them when they are closed.
      if (process.platform !== "win32") removeCopy(file);
    } catch (error) {
      this[Symbol.dispose]();
      throw this.explain(error);
    }
  }

  /** Returns true if the database has a table, with a column if one is named. */
  has(table: string, column?: string): boolean {
    const columns = this.#tables.get(table);
    return columns !== undefined && (column === undefined || columns.has(column));
  }

  /**
   * Reads all rows of a table, by id. A table that the database lacks is empty, and a column is null. Texts are cut
   * to `textMax` characters. Binary values, and values over 16 MiB, are null. Throws an OperatorError for more than
   * 100,000 rows, or more than 128 MiB of texts.
   */
  rows<Column extends string>(
    table: string,
    columns: readonly Column[],
    textMax = TEXT_MAX,
  ): Record<Column, KumaValue>[] {
    if (!this.has(table)) return [];
    const selected = columns.map((column) => {
      const name = quoted(column);
      return `${this.has(table, column) ? cut(name, textMax) : "NULL"} AS ${name}`;
    });
    const order = this.has(table, "id") ? "ORDER BY id" : "";
    this.#requireSmall(table, columns);
    const sql = `SELECT ${selected.join(", ")} FROM ${quoted(table)} ${order} LIMIT ${ROWS_MAX + 1}`;
    const rows = this.read(() => this.sqlite.prepare<Record<Column, KumaValue>, []>(sql).all());
    if (rows.length > ROWS_MAX) {
      const most = ROWS_MAX.toLocaleString("en");
      throw new OperatorError(`${this.path} has more than ${most} rows in the table ${table}.`);
    }
    return rows;
  }

  /** Throws an OperatorError for a table whose texts need too much memory. */
  #requireSmall(table: string, columns: readonly string[]): void {
    const present = columns.filter((column) => this.has(table, column)).map(quoted);
    const sizes = present.map((name) => `min(ifnull(octet_length(${name}), 0), ${TEXT_MAX})`);
    const sql = `SELECT sum(${["0", ...sizes].join(" + ")}) AS bytes FROM ${quoted(table)}`;
    const [row] = this.prepare<{ bytes: number | null }>(sql).all();
    if ((row?.bytes ?? 0) > TEXTS_MAX) {
      throw new OperatorError(`${this.path} has more than 128 MiB in the table ${table}.`);
    }
  }

  /** Prepares a query of tables and columns that the database has. */
  prepare<Row extends object>(sql: string): Query<Row> {
    const statement = this.read(() => this.sqlite.prepare<Row, SQLQueryBindings[]>(sql));
    const explain = (error: unknown) => this.explain(error);
    return {
      all: (...values) => this.read(() => statement.all(...values)),
      *iterate(...values) {
        try {
          yield* statement.iterate(...values);
        } catch (error) {
          throw explain(error);
        }
      },
    };
  }

  #newestBeat(): string | undefined {
    if (!this.has("heartbeat", "id") || !this.has("heartbeat", "time")) return undefined;
    const [row] = this.prepare<{ time: KumaValue }>(
      `SELECT ${cut("time", TIME_MAX)} AS time FROM heartbeat ORDER BY id DESC LIMIT 1`,
    ).all();
    return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.exec(String(row?.time))?.[0];
  }
}

function sizeOf(sqlite: Database): number {
  return Number(pragma(sqlite, "page_count")) * Number(pragma(sqlite, "page_size"));
}

function toCopyBoth(path: string, newest: string | undefined): string {
  const last =
    newest === undefined ? "It has no heartbeats." : `Its newest heartbeat is of ${newest} UTC.`;
  return `${path} has no -wal file beside it, in which Uptime Kuma keeps the newest changes while it runs. ${last} If later ones are missing, copy both files, or stop Uptime Kuma before you copy.`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
