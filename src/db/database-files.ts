/*
 * Files of databases that are not in use: naming, moving and removing them, and what an interrupted restore leaves. Each
 * start needs them; `copies.ts` has the rest.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DataDirectory } from "./data-directory";

/** Suffixes of the files that SQLite keeps next to a database, in use or after a crash. */
export const COMPANION_SUFFIXES = ["-wal", "-shm", "-journal"] as const;

export function removeDatabase(file: string): void {
  for (const suffix of ["", ...COMPANION_SUFFIXES]) rmSync(file + suffix, { force: true });
}

/** Renames the existing logs of a database, and writes all changes of its directory to the disk. */
export function moveCompanions(from: string, to: string): void {
  for (const suffix of COMPANION_SUFFIXES) {
    if (existsSync(from + suffix)) renameSync(from + suffix, to + suffix);
  }
  syncFile(dirname(to));
}

/** Writes a file, or the entries of a directory, to the disk (fsync). */
export function syncFile(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Suffix of the unfinished copy; the time of the restore follows. */
export const RESTORING = ".restoring";

/** Suffix of the replaced database; the time of the restore follows. */
const KEPT = ".before-restore";

/**
 * Removes the files of an unfinished restore and restores the log of the database. The caller holds the lock
 * of the data directory.
 */
export function removeUnfinishedRestore({ database }: DataDirectory): void {
  const folder = dirname(database);
  const start = basename(database) + RESTORING;
  for (const name of readdirSync(folder).filter((name) => name.startsWith(start))) {
    const stamp = name.slice(start.length + 1);
    // The copy is removed last, so that an interrupted removal is repeated.
    if (stamp.endsWith("Z")) putLogBack(database, keptFile(database, stamp));
    removeDatabase(join(folder, name));
  }
}

/** Returns the name of the replaced database of a restore at that time. */
export function keptFile(database: string, stamp: string): string {
  return `${database}${KEPT}-${stamp}`;
}

/** Moves the log of a kept database back, and removes its second name if the first one still exists. */
function putLogBack(database: string, kept: string): void {
  const hasBothLogs = COMPANION_SUFFIXES.some(
    (suffix) => existsSync(kept + suffix) && existsSync(database + suffix),
  );
  // Another program has used the database without its log. Neither log may be overwritten.
  if (hasBothLogs) return;
  moveCompanions(kept, database);
  if (existsSync(database)) removeDatabase(kept);
}
