import { Database } from "bun:sqlite";
import {
  accessSync,
  constants,
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

/** Makes the directory if need be. Throws an OperatorError with the exact `chown` if it is not ours. */
export function openDataDirectory(path: string): DataDirectory {
  const absolute = resolve(path);
  try {
    mkdirSync(absolute, { recursive: true, mode: 0o750 });
    accessSync(absolute, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(explainAccess(absolute, error), error);
  }
  return {
    path: absolute,
    database: join(absolute, "allclear.db"),
    backups: join(absolute, "backups"),
  };
}

function explainAccess(path: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EROFS") return `The data directory ${path} is on a read-only file system.`;
  if (code === "EEXIST" || code === "ENOTDIR") return `${path} is not a directory.`;
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if ((code === "EACCES" || code === "EPERM") && uid !== undefined) {
    return [
      `The data directory ${path} cannot be written by user ${uid}.`,
      `Give it to that user:  sudo chown -R ${uid}:${gid} ${nearestExisting(path)}`,
    ].join("\n");
  }
  return `The data directory ${path} cannot be used: ${(error as Error).message}`;
}

/** A directory that could not be made has a parent that refused; that is the one to hand over. */
function nearestExisting(path: string): string {
  try {
    statSync(path);
    return path;
  } catch {
    return resolve(path, "..") === path ? path : nearestExisting(resolve(path, ".."));
  }
}

/**
 * Claims the directory for this process, or answers undefined when another process holds it.
 * The claim is an exclusive transaction on a database of its own, which kill -9 releases too.
 */
export function tryLock(directory: DataDirectory, command: string): DirectoryLock | undefined {
  const lock = new Database(join(directory.path, "allclear.lock"), {
    create: true,
    readwrite: true,
  });
  try {
    lock.run("PRAGMA journal_mode = DELETE");
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw new OperatorError(explainAccess(directory.path, error), error);
  }
  writeFileSync(holderFile(directory), JSON.stringify({ pid: process.pid, command }));
  return {
    // The closure also keeps the Database reachable: collected, it would give the lock away.
    release() {
      rmSync(holderFile(directory), { force: true });
      lock.run("ROLLBACK");
      lock.close();
    },
  };
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
  try {
    const holder = JSON.parse(readFileSync(holderFile(directory), "utf8")) as Holder;
    return `process ${holder.pid} (allclear ${holder.command})`;
  } catch {
    return "another process";
  }
}

function holderFile(directory: DataDirectory): string {
  return join(directory.path, "allclear.pid");
}
