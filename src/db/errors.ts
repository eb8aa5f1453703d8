import { Problem } from "../base/errors";

/** Error that the operator can fix; the message says how. */
export class OperatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "OperatorError";
  }
}

/** Returns SQLite's symbolic code of an error, which Drizzle may have wrapped. */
export function sqliteCode(error: unknown): string | undefined {
  for (let link = error; link instanceof Error; link = link.cause) {
    const code = (link as { code?: unknown }).code;
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  }
  return undefined;
}

/** Returns true if another connection has locked the database. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code === "SQLITE_LOCKED");
}

// Faults of the machine, not of the caller: no space, no memory, a failing disk.
const RESOURCE_FAILURE =
  /^SQLITE_(FULL|IOERR|NOMEM|BUSY|LOCKED|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|INTERRUPT)/;

export function isResourceFailure(error: unknown): boolean {
  return RESOURCE_FAILURE.test(sqliteCode(error) ?? "");
}

/** True for errors of a database that cannot be read now, such as one whose disk fails. */
export function isUnreadable(error: unknown): boolean {
  return isResourceFailure(error) || (error instanceof Problem && error.code === "unavailable");
}

/** Reasons for which changes cannot be stored, with the sentences of the health checks. */
export const STORAGE_FAULTS = {
  disk_full: "The disk is full.",
  disk_error: "The disk reports errors.",
  read_only: "The database is read-only.",
  locked: "Another process holds the database.",
  damaged: "The database file is damaged.",
  moved: "The data directory was moved, deleted or replaced while the server ran.",
  failing: "The database cannot be written.",
} as const;

export type StorageFault = keyof typeof STORAGE_FAULTS;

/** Error of a write if the open database file is no longer the one in the data directory. */
export class MovedError extends Error {
  constructor() {
    super(STORAGE_FAULTS.moved);
    this.name = "MovedError";
  }
}

// The first match counts. On a full disk, SQLite first fails to enlarge its shared memory.
const FAULT_OF_CODE: readonly [RegExp, StorageFault][] = [
  [/^SQLITE_(FULL|IOERR_SHMSIZE)/, "disk_full"],
  [/^SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS)/, "damaged"],
  [/^SQLITE_IOERR/, "disk_error"],
  [/^SQLITE_READONLY/, "read_only"],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, "locked"],
];

/** Returns the storage fault behind an error of a read or write. */
export function storageFaultOf(error: unknown): StorageFault {
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof MovedError || cause instanceof MovedError) return "moved";
  const code = sqliteCode(error) ?? "";
  return FAULT_OF_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? "failing";
}
