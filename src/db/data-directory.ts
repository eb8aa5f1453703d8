import { Database } from "bun:sqlite";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { isBusy } from "./sqlite-errors";

/** Something the person at the command line can mend; its message says how. */
export class OperatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "OperatorError";
  }
}

/** Where everything that Allclear keeps lies. */
export interface DataDirectory {
  path: string;
  database: string;
  backups: string;
}

/** The exclusive claim on a data directory. The operating system releases it when the process dies. */
export interface DirectoryLock {
  release(): void;
}

interface Holder {
  pid: number;
  command: string;
}

/**
 * Makes the directory if need be. Throws an OperatorError with the exact `chown` if it, or a file in
 * it that must be written, is not ours.
 */
export function openDataDirectory(path: string): DataDirectory {
  const absolute = resolve(path);
  const database = databaseIn(absolute);
  try {
    mkdirSync(absolute, { recursive: true, mode: 0o750 });
    accessSync(absolute, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(
      explainAccess(absolute, `The data directory ${absolute}`, error),
      error,
    );
  }
  // A command that was run as root leaves such files. SQLite would open them, read-only.
  for (const file of [database, `${database}-wal`, `${database}-shm`, lockFile(absolute)]) {
    try {
      accessSync(file, constants.R_OK | constants.W_OK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
      throw new OperatorError(explainAccess(absolute, file, error), error);
    }
  }
  return { path: absolute, database, backups: join(absolute, "backups") };
}

/** What to do about a directory, or a file in it (`what`), that cannot be used. */
function explainAccess(directory: string, what: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EROFS") return `${what} is on a read-only file system.`;
  if (code === "EEXIST" || code === "ENOTDIR") return `${directory} is not a directory.`;
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if ((code === "EACCES" || code === "EPERM") && uid !== undefined) {
    const path = shellWord(directory);
    return [
      `${what} cannot be written by user ${uid}.`,
      existsSync(directory)
        ? `Give it to that user:  sudo chown -R ${uid}:${gid} ${path}`
        : `Make it for that user:  sudo mkdir -p ${path} && sudo chown ${uid}:${gid} ${path}`,
    ].join("\n");
  }
  return `${what} cannot be used: ${(error as Error).message}`;
}

/** Quotes a word for a shell where it needs quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Throws an OperatorError where a path is no data directory with a database in it. */
export function requireInstallation(path: string): void {
  const directory = resolve(path);
  const database = databaseIn(directory);
  if (existsSync(database)) return;
  if (existsSync(directory) && !statSync(directory).isDirectory()) {
    throw new OperatorError(`${directory} is not a directory.`);
  }
  throw new OperatorError(
    `There is no database at ${database}. Name the data directory with --data-dir or ALLCLEAR_DATA_DIR.`,
  );
}

function databaseIn(directory: string): string {
  return join(directory, "allclear.db");
}

/**
 * Claims the directory for this process, or answers undefined when another process holds it.
 * The claim is an exclusive transaction on a database of its own, which kill -9 releases too.
 */
export function tryLock(directory: DataDirectory, command: string): DirectoryLock | undefined {
  const lock = claim(directory.path);
  if (!lock) return undefined;
  leaveNote(directory, command);
  return {
    // The closure also keeps the Database reachable: collected, it would give the lock away.
    release() {
      rmSync(holderFile(directory), { force: true });
      lock.run("ROLLBACK");
      lock.close(true);
    },
  };
}

function claim(directory: string): Database | undefined {
  const file = lockFile(directory);
  let lock: Database | undefined;
  try {
    lock = new Database(file, { create: true, readwrite: true });
    // Nothing is ever written, so that the lock can be had on a full disk too.
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close(true);
    if (isBusy(error)) return undefined;
    throw new OperatorError(explainAccess(directory, file, error), error);
  }
}

/** Tells others who holds the directory. The lock holds without it, on a full disk for instance. */
function leaveNote(directory: DataDirectory, command: string): void {
  try {
    writeFileSync(holderFile(directory), JSON.stringify({ pid: process.pid, command }));
  } catch {
    rmSync(holderFile(directory), { force: true });
  }
}

/** Claims the directory or throws an OperatorError that names the process that holds it. */
export function lockOrExplain(directory: DataDirectory, command: string): DirectoryLock {
  const lock = tryLock(directory, command);
  if (lock) return lock;
  throw new OperatorError(
    `The data directory ${directory.path} is in use by ${describeHolder(directory)}. One server at a time can use it.`,
  );
}

/** Who holds the directory, as far as its note tells. */
export function describeHolder(directory: DataDirectory): string {
  const holder = readNote(directory);
  return holder ? `process ${holder.pid} (allclear ${holder.command})` : "another process";
}

/** True if the directory's note names this command as the one that holds it. */
export function isHeldBy(directory: DataDirectory, command: string): boolean {
  return readNote(directory)?.command === command;
}

function readNote(directory: DataDirectory): Holder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(directory), "utf8")) as Holder;
  } catch {
    return undefined;
  }
}

function lockFile(directory: string): string {
  return join(directory, "allclear.lock");
}

function holderFile(directory: DataDirectory): string {
  return join(directory.path, "allclear.pid");
}
