import { Database } from "bun:sqlite";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { shmOf, walOf } from "./database-files";
import { isBusy, OperatorError } from "./errors";
import { explainAccess, requireAccess, tryFileLock } from "./file-access";

/** Directory of all stored data. */
export interface DataDirectory {
  path: string;
  database: string;
  backups: string;
}

/** Exclusive lock on a data directory. The operating system releases it when the process dies. */
export interface DirectoryLock {
  release(): void;
}

/** Longest wait of a start for commands, if the database has hard links. */
const LINKED_BUSY_TIMEOUT_MS = 1_000;

interface Holder {
  pid: number;
  command: string;
}

/**
 * Creates the directory if it is missing. Throws an OperatorError with the exact `chmod` or `chown` if it,
 * or a file in it, cannot be written. If the database is a symbolic link, the result names its target,
 * since logs and lock are kept next to that.
 */
export function openDataDirectory(path: string): DataDirectory {
  const absolute = resolve(path);
  try {
    mkdirSync(absolute, { recursive: true, mode: 0o750 });
  } catch (error) {
    throw new OperatorError(
      explainAccess(absolute, `The data directory ${absolute}`, absolute, error),
      error,
    );
  }
  requireAccess(absolute, `The data directory ${absolute}`, absolute);
  const directory = {
    path: absolute,
    database: followLink(databaseIn(absolute)),
    backups: join(absolute, "backups"),
  };
  const { database } = directory;
  const folder = dirname(database);
  if (folder !== absolute) requireAccess(folder, `The directory ${folder} of the database`, folder);
  // A command run as root leaves files that this user cannot write. SQLite would open them read-only.
  for (const file of [database, walOf(database), shmOf(database), lockFile(directory)]) {
    if (existsSync(file)) requireAccess(folder, file, file);
  }
  return directory;
}

/** Returns the target of a symbolic link, even if it is missing; any other path unchanged. */
function followLink(file: string): string {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file;
  return existsSync(file) ? realpathSync(file) : resolve(dirname(file), readlinkSync(file));
}

/** Returns true if a path is a data directory with a database. */
export function hasInstallation(path: string): boolean {
  return existsSync(databaseIn(resolve(path)));
}

/** Returns true for the data directory of a replica: it has the identity of a node, and no database of its own. */
export function isReplicaDirectory(path: string): boolean {
  return existsSync(join(resolve(path), "fleet", "node.json")) && !hasInstallation(path);
}

/** Throws an OperatorError for the data directory of a replica, which could not start beside a new database. */
export function requireNoReplica(path: string): void {
  if (!isReplicaDirectory(path)) return;
  throw new OperatorError(
    `The data directory ${resolve(path)} is that of a replica. Run this command in that of the primary.`,
  );
}

/** Throws an OperatorError unless a path is a data directory with a database. */
export function requireInstallation(path: string): void {
  const directory = resolve(path);
  const database = databaseIn(directory);
  if (hasInstallation(path)) return;
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
 * Locks the directory for this process; returns undefined if another process has locked it. The lock is an
 * exclusive transaction on a database of its own, so that kill -9 releases it too. Throws an OperatorError
 * while another process uses the database under another name of the same file.
 */
export function tryLock(directory: DataDirectory, command: string): DirectoryLock | undefined {
  const lock = claim(directory, lockFile(directory));
  if (!lock) return undefined;
  if (isUsedByOtherName(directory.database)) {
    lock.close(true);
    throw new OperatorError(
      `Another process uses ${directory.database} by another name of the same file, a hard link. Give each data directory a file of its own:  cp instead of ln.`,
    );
  }
  leaveNote(directory, command);
  return {
    // The closure also keeps the Database reachable: garbage collection would release the lock.
    release() {
      rmSync(holderFile(directory), { force: true });
      lock.run("ROLLBACK");
      lock.close(true);
    },
  };
}

/**
 * Locks imports into the directory for this process, which the caller releases; returns undefined while another process
 * imports. The operating system releases the lock when the process dies.
 */
export function tryImportLock(directory: DataDirectory): DirectoryLock | undefined {
  const lock = claim(directory, besides(directory, ".import-lock"));
  return (
    lock && {
      release() {
        lock.run("ROLLBACK");
        lock.close(true);
      },
    }
  );
}

/** Takes the exclusive lock of a file, which is created; undefined if another process has it. */
function claim(directory: DataDirectory, file: string): Database | undefined {
  try {
    return tryFileLock(file);
  } catch (error) {
    throw new OperatorError(explainAccess(directory.path, file, file, error), error);
  }
}

/**
 * Returns true if the file has hard links and a process has it open. Waits for commands, since they can
 * have it open under this name while the caller holds the lock.
 */
function isUsedByOtherName(database: string): boolean {
  if ((statSync(database, { throwIfNoEntry: false })?.nlink ?? 1) < 2) return false;
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(database, { create: false, readwrite: true });
    sqlite.run(`PRAGMA busy_timeout = ${LINKED_BUSY_TIMEOUT_MS}`);
    // Reading then locks the file itself, under all its names.
    sqlite.run("PRAGMA locking_mode = EXCLUSIVE");
    sqlite.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    // Other errors are reported when the file is opened.
    return isBusy(error);
  } finally {
    sqlite?.close(true);
  }
}

/** Writes process id and command for the messages of other processes. The lock works without it. */
function leaveNote(directory: DataDirectory, command: string): void {
  try {
    writeFileSync(holderFile(directory), JSON.stringify({ pid: process.pid, command }));
  } catch {
    rmSync(holderFile(directory), { force: true });
  }
}

/** Locks the directory. Throws an OperatorError that names the process that has locked it. */
export function lockOrExplain(directory: DataDirectory, command: string): DirectoryLock {
  const lock = tryLock(directory, command);
  if (lock) return lock;
  throw new OperatorError(
    `The data directory ${directory.path} is in use by ${describeHolder(directory)}. One server at a time can use it.`,
  );
}

/** Describes the process that locks the directory, from its note. */
export function describeHolder(directory: DataDirectory): string {
  const holder = readNote(directory);
  return holder ? `process ${holder.pid} (allclear ${holder.command})` : "another process";
}

/** Returns true if the directory is locked by this command, according to its note. */
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

function lockFile(directory: DataDirectory): string {
  return besides(directory, ".lock");
}

function holderFile(directory: DataDirectory): string {
  return besides(directory, ".pid");
}

// Next to the database itself, not to a symbolic link, and named after it: each database has its own lock.
function besides({ database }: DataDirectory, extension: string): string {
  return join(dirname(database), `${basename(database, ".db")}${extension}`);
}
