import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../base/config/options";
import type { DataDirectory } from "../../db/data-directory";
import { systemClock } from "../../base/clock";
import { openFleetStore } from "../fleet-store";
import { requireLitestream } from "../log/litestream";
import { type RestoredState, restoreFromStore } from "../log/restore";

/** Beginning of the names of folders; the number of the process and random characters follow. */
const FOLDER = "from-fleet-store-";
const FOLDERS = new RegExp(`^${FOLDER}(\\d+)-`);

/** Removes whole databases that were left by commands which were killed. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = FOLDERS.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It may be another user's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * Restores the fleet's database, as it was at a moment in unix ms or is now, into a file next to the database, which
 * has room for it, and passes that to `work`. The file is removed afterwards.
 */
export async function withDownloadedDatabase<T>(
  config: Config,
  { database }: DataDirectory,
  at: number | undefined,
  work: (file: string, restored: RestoredState) => T,
): Promise<T> {
  await requireLitestream(config.litestream);
  const store = openFleetStore(config, systemClock());
  const parent = dirname(database);
  removeLeftovers(parent);
  const folder = mkdtempSync(join(parent, `${FOLDER}${process.pid}-`));
  try {
    const file = join(folder, "allclear.db");
    return work(file, await restoreFromStore(store, file, at));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
