/* The directory of all stored data: opening it with advice if it cannot be used, and its locks. */
import { Database } from "bun:sqlite";
import {
  accessSync,
  constants,
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
import { isBusy, OperatorError } from "./errors";
import { walOf } from "./open";

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
function isReplicaDirectory(path: string): boolean {
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

/** Throws an OperatorError unless the file or folder at `path`, called `what`, can be written. */
function requireAccess(directory: string, what: string, path: string): void {
  try {
    const isFolder = statSync(path).isDirectory();
    const mode = constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0);
    accessSync(path, mode);
  } catch (error) {
    throw new OperatorError(explainAccess(directory, what, path, error), error);
  }
}

/** Returns advice about a directory, or a file in it, that cannot be used. `what` names the one at `path`. */
function explainAccess(directory: string, what: string, path: string, error: unknown): string {
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

/** Returns the path of the shared memory for a database's write-ahead log. */
function shmOf(database: string): string {
  return `${database}-shm`;
}
