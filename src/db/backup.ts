import type { Database } from "bun:sqlite";
import { chmodSync, existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "./operator-error";
import {
  createPrivateFile,
  removeDatabase,
  requireSoundDatabase,
  syncFile,
} from "./database-files";
import { DATABASE_MODE } from "./open";

/** Suffix of a copy that is being made. A killed process leaves such a file. */
export const UNFINISHED = ".unfinished";

/**
 * Writes a consistent copy of an open database to `file`, also while others use the database. The copy
 * is made under another name, for its owner alone, verified, and only then renamed. Throws an
 * OperatorError for a file that exists.
 */
export function copyDatabase(sqlite: Database, file: string): void {
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name a new file.`);
  const unfinished = `${file}${UNFINISHED}`;
  try {
    removeDatabase(unfinished);
    // SQLite writes into an empty file that exists; one of its own would have the umask's mode.
    createPrivateFile(unfinished);
    sqlite.prepare("VACUUM INTO ?").run(unfinished);
    requireSoundDatabase(unfinished, "The copy");
    chmodSync(unfinished, DATABASE_MODE);
    syncFile(unfinished);
    renameSync(unfinished, file);
    syncFile(dirname(file));
  } catch (error) {
    removeDatabase(unfinished);
    throw new OperatorError(
      `The backup ${file} could not be written: ${(error as Error).message}`,
      error,
    );
  }
}
