import type { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { copyDatabase, UNFINISHED } from "./backup";
import type { DataDirectory } from "./data-directory";
import { OperatorError } from "./operator-error";
import { walOf } from "./file-suffixes";
import { pragma } from "./open";

const NAME = "before-schema-";
const READ_CHUNK_BYTES = 1024 * 1024;

/**
 * Copies the database into `backups/` before an upgrade to schema version `to` and returns the file.
 * The file's name holds a hash of the content, so upgrades that fail again and again share one copy.
 * Removes what a killed upgrade has left. Throws an OperatorError.
 */
export function copyBeforeUpgrade(sqlite: Database, directory: DataDirectory, to: number): string {
  const { backups } = directory;
  try {
    mkdirSync(backups, { recursive: true, mode: 0o750 });
    for (const name of readdirSync(backups)) {
      const isUnfinished = name.startsWith(NAME) && name.includes(UNFINISHED);
      if (isUnfinished) rmSync(join(backups, name), { force: true });
    }
    // From here on the file itself holds everything, unless another process is reading its log.
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
    const file = join(backups, `${NAME}${to}-${hashOfDatabase(directory.database)}.db`);
    if (!existsSync(file)) copyDatabase(sqlite, file);
    return file;
  } catch (error) {
    throw new OperatorError(
      `The database must be copied before it is migrated: ${(error as Error).message}`,
      error,
    );
  }
}

/** Start of the SHA-256 of a database and its log, in hexadecimal. */
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
    // POSIX: closing a descriptor of the database would release the locks that SQLite holds on it. The
    // process keeps this one to its end, one for each upgrade.
    if (file !== database || process.platform === "win32") closeSync(descriptor);
  }
  return hasher.digest("hex").slice(0, 16);
}
