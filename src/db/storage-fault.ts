import { sqliteCode } from "./sqlite-errors";

/** Reasons for which changes cannot be stored, each with the sentence that health checks answer. */
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

/** Refuses a change because the open database file is no longer the one in the data directory. */
export class MovedError extends Error {
  constructor() {
    super(STORAGE_FAULTS.moved);
    this.name = "MovedError";
  }
}

// The first that matches. A shared-memory file that cannot grow is SQLite's first sign of a full disk.
const FAULT_OF_CODE: readonly [RegExp, StorageFault][] = [
  [/^SQLITE_(FULL|IOERR_SHMSIZE)/, "disk_full"],
  [/^SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS)/, "damaged"],
  [/^SQLITE_IOERR/, "disk_error"],
  [/^SQLITE_READONLY/, "read_only"],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, "locked"],
];

/** Names the storage fault that an error of a write or read stands for. */
export function storageFaultOf(error: unknown): StorageFault {
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof MovedError || cause instanceof MovedError) return "moved";
  const code = sqliteCode(error) ?? "";
  return FAULT_OF_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? "failing";
}
