import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config";
import type { DataDirectory } from "../db/data-directory";
import { systemClock } from "../kernel/clock";
import { openFleetStore } from "./fleet-store";
import { requireLitestream } from "./litestream";
import { type RestoredLog, restoreFromStore } from "./restore-log";

/**
 * Restores the fleet's database, as it was at a moment in unix ms or is now, into a file next to the database, which
 * has room for it, and passes that to `work`. The file is removed afterwards.
 */
export async function withDownloadedDatabase<T>(
  config: Config,
  { database }: DataDirectory,
  at: number | undefined,
  work: (file: string, restored: RestoredLog) => T,
): Promise<T> {
  await requireLitestream(config.litestream);
  const store = openFleetStore(config, systemClock());
  const folder = mkdtempSync(join(dirname(database), "from-fleet-store-"));
  try {
    const file = join(folder, "allclear.db");
    return work(file, await restoreFromStore(store, file, at));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
