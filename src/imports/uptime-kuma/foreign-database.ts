import { constants as sqliteConstants, Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { oneLine } from "../../base/text";
import { OperatorError } from "../../db/errors";
import { closeSqlite } from "../../db/open";
import { type DatabaseFile, identityOf, requireUnchanged } from "./database-file";

/** Longest wait for a process that writes, in ms. It blocks the thread. */
const BUSY_TIMEOUT_MS = 5_000;

/** Maximum size of a value that is cut, in bytes. SQLite needs memory for the whole value. */
const CUT_BYTES_MAX = 16 * 1024 * 1024;

/** SQLite database of another product, in one read transaction. Errors of SQLite become OperatorErrors. */
export class ForeignDatabase implements Disposable {
  protected readonly sqlite: Database;
  readonly #file: DatabaseFile;
  readonly #identity: string;

  /** `path` is what people know the file by. */
  constructor(
    readonly path: string,
    file: DatabaseFile,
  ) {
    this.#file = file;
    this.#identity = identityOf(file.path);
    try {
      this.sqlite = openForeign(file);
    } catch (error) {
      removeCopy(file);
      throw this.explain(error);
    }
  }

  /**
   * Throws an OperatorError if the database was opened by another process since it was opened here without locks,
   * since what was read may then be wrong.
   */
  requireUnchanged(): void {
    requireUnchanged(this.path, this.#file, this.#identity);
  }

  protected read<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw this.explain(error);
    }
  }

  protected explain(error: unknown): unknown {
    if (error instanceof OperatorError) return error;
    return new OperatorError(
      `${this.path} cannot be read: ${oneLine((error as Error).message)}.`,
      error,
    );
  }

  [Symbol.dispose](): void {
    closeSqlite(this.sqlite);
    removeCopy(this.#file);
  }
}

/** Opens a database of another product in a read transaction. */
function openForeign({ path, access }: DatabaseFile): Database {
  const sqlite =
    access === "lone"
      ? new Database(
          `${pathToFileURL(path).href}?immutable=1`,
          sqliteConstants.SQLITE_OPEN_READONLY | sqliteConstants.SQLITE_OPEN_URI,
        )
      : new Database(path, { readonly: true });
  try {
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Functions in views and triggers are not called, and pages are checked before they are used.
    sqlite.run("PRAGMA trusted_schema = OFF");
    sqlite.run("PRAGMA cell_size_check = ON");
    // Sorting needs no further files.
    sqlite.run("PRAGMA temp_store = MEMORY");
    sqlite.run("BEGIN");
    // The transaction starts with the first read.
    sqlite.prepare("SELECT count(*) FROM sqlite_schema").get();
    return sqlite;
  } catch (error) {
    closeSqlite(sqlite);
    throw error;
  }
}

/** Removes the folder of a copy. */
export function removeCopy({ path, access }: DatabaseFile): void {
  if (access === "copy") rmSync(dirname(path), { recursive: true, force: true });
}

/** Returns an expression for a column with its text cut, and null for a huge one. */
export function cut(name: string, textMax: number): string {
  return `CASE typeof(${name}) WHEN 'text' THEN iif(octet_length(${name}) > ${CUT_BYTES_MAX}, NULL, substr(${name}, 1, ${textMax})) WHEN 'blob' THEN NULL ELSE ${name} END`;
}

/** Returns an expression for a column with numbers; null for other values. */
export function numeric(name: string): string {
  return `iif(typeof(${name}) IN ('integer', 'real'), ${name}, NULL)`;
}
