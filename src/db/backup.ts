import type { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { DataDirectory } from "./data-directory";
import {
  appendDigest,
  createPrivateFile,
  removeDatabase,
  requireSoundDatabase,
  syncFile,
  walOf,
} from "./database-files";
import { OperatorError } from "./errors";
import { DATABASE_MODE, pragma } from "./open";

/** Suffix of an unfinished copy, which a killed process leaves. */
const UNFINISHED = ".unfinished";

/**
 * Writes a consistent copy of an open database to `file`, also while others use it. The copy is written
 * under another name, for its owner alone, verified, completed with its digest and then renamed. Throws an
 * OperatorError for an existing file.
 */
export function copyDatabase(sqlite: Database, file: string, mode = DATABASE_MODE): void {
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name a new file.`);
  const unfinished = `${file}${UNFINISHED}`;
  try {
    removeDatabase(unfinished);
    // SQLite writes into an existing empty file. A new one would have the mode of the umask.
    createPrivateFile(unfinished);
    sqlite.prepare("VACUUM INTO ?").run(unfinished);
    requireSoundDatabase(unfinished, "The copy");
    appendDigest(unfinished);
    chmodSync(unfinished, mode);
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

/** Start of the names of copies from before an upgrade. */
const BEFORE_UPGRADE = "before-schema-";
const READ_CHUNK_BYTES = 1024 * 1024;

/**
 * Copies the database into `backups/` before an upgrade to schema version `to` and returns the file. Its
 * name contains a hash of the content, so that repeated failed upgrades share one copy. Removes the files of
 * killed upgrades. Throws an OperatorError.
 */
export function copyBeforeUpgrade(sqlite: Database, directory: DataDirectory, to: number): string {
  const { backups } = directory;
  try {
    mkdirSync(backups, { recursive: true, mode: 0o750 });
    for (const name of readdirSync(backups)) {
      const isUnfinished = name.startsWith(BEFORE_UPGRADE) && name.includes(UNFINISHED);
      if (isUnfinished) rmSync(join(backups, name), { force: true });
    }
    // The file then contains everything, unless another process is reading the log.
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
    const file = join(backups, `${BEFORE_UPGRADE}${to}-${hashOfDatabase(directory.database)}.db`);
    if (!existsSync(file)) copyDatabase(sqlite, file);
    return file;
  } catch (error) {
    throw new OperatorError(
      `The database must be copied before it is migrated: ${(error as Error).message}`,
      error,
    );
  }
}

/** Returns the start of the SHA-256 of a database and its log, in hexadecimal. */
function hashOfDatabase(database: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.allocUnsafe(READ_CHUNK_BYTES);
  for (const file of [database, walOf(database)]) {
    if (!existsSync(file)) continue;
    const descriptor = openSync(file, "r");
    for (let length = 1; length > 0;) {
      length = readSync(descriptor, chunk);
      hasher.update(chunk.subarray(0, length));
    }
    // POSIX: closing any descriptor of the database would release the locks of SQLite. This one stays
    // open until the process ends.
    if (file !== database || process.platform === "win32") closeSync(descriptor);
  }
  return hasher.digest("hex").slice(0, 16);
}
