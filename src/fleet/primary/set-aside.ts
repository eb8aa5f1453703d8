import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { DataDirectory } from "../../db/data-directory";
import { moveCompanions, syncFile } from "../../db/database-files";

/**
 * Gives the database of an earlier term another name, such as `allclear.db.term-6`, and returns its path. The caller
 * holds the lock of the data directory.
 */
export function setDatabaseAside({ database }: DataDirectory, term: number): string {
  const name = `${database}.term-${term}`;
  let kept = name;
  for (let number = 2; existsSync(kept); number++) kept = `${name}-${number}`;
  // The log has its new name first: a database without its log would lack its newest changes.
  moveCompanions(database, kept);
  renameSync(database, kept);
  syncFile(dirname(database));
  return kept;
}
