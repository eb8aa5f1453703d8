import { Database } from "bun:sqlite";
import { isBusy } from "./errors";

/**
 * Takes the exclusive lock of a file, which is created; returns undefined if another process still has it after
 * `waitMs`. The caller keeps the Database and closes it: garbage collection would release the lock, and the operating
 * system does when the process ends.
 */
export function tryFileLock(file: string, waitMs = 0): Database | undefined {
  let lock: Database | undefined;
  try {
    lock = new Database(file, { create: true, readwrite: true });
    if (waitMs > 0) lock.run(`PRAGMA busy_timeout = ${waitMs}`);
    // Nothing is written, so that the lock works on a full disk too.
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close(true);
    if (isBusy(error)) return undefined;
    throw error;
  }
}
