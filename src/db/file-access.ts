import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { isBusy, OperatorError } from "./errors";

/** Throws an OperatorError unless the file or folder at `path`, called `what`, can be written. */
export function requireAccess(directory: string, what: string, path: string): void {
  try {
    const isFolder = statSync(path).isDirectory();
    const mode = constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0);
    accessSync(path, mode);
  } catch (error) {
    throw new OperatorError(explainAccess(directory, what, path, error), error);
  }
}

/** Returns advice about a directory, or a file in it, that cannot be used. `what` names the one at `path`. */
export function explainAccess(
  directory: string,
  what: string,
  path: string,
  error: unknown,
): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EROFS") return `${what} is on a read-only file system.`;
  if (code === "EEXIST" || code === "ENOTDIR") return `${directory} is not a directory.`;
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if ((code !== "EACCES" && code !== "EPERM") || uid === undefined) {
    return `${what} cannot be used: ${(error as Error).message}`;
  }
  return `${what} cannot be written by user ${uid}.\n${adviseAccess(directory, path, uid, gid)}`;
}

function adviseAccess(
  directory: string,
  path: string,
  uid: number,
  gid: number | undefined,
): string {
  const word = shellWord(directory);
  if (!existsSync(directory)) {
    return `Make it for that user:  sudo mkdir -p ${word} && sudo chown ${uid}:${gid} ${word}`;
  }
  const { uid: owner, isFolder } = describeFile(path);
  if (owner !== uid) return `Give it to that user:  sudo chown -R ${uid}:${gid} ${word}`;
  return `Let that user write it:  chmod ${isFolder ? "u+rwx" : "u+rw"} ${shellWord(path)}`;
}

function describeFile(path: string): { uid: number | undefined; isFolder: boolean } {
  try {
    const stat = statSync(path);
    return { uid: stat.uid, isFolder: stat.isDirectory() };
  } catch {
    return { uid: undefined, isFolder: false };
  }
}

/** Quotes a word for a shell, if it needs quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

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
