import type { Ctx } from "../../context";
import type { DiskSpace } from "../../db/storage-watch";
import { SCHEMA_VERSION } from "../../db/migrations";
import { type LastBackup, readLastBackup } from "../../features/backups/last-backup";
import { countStatuses } from "../../features/components/store";
import { countMonitorsByState } from "../../features/monitors/store";
import { sum } from "../../base/numbers";

/** Facts about the installation and its server. Times are in unix ms, sizes in bytes. */
export interface InstallationFacts {
  now: number;
  startedAt: number;
  schemaVersion: number;
  databaseBytes: number;
  /** Size of the write-ahead log. */
  logBytes: number;
  /** Undefined if it cannot be read. */
  disk: DiskSpace | undefined;
  lastBackup: LastBackup | undefined;
  monitors: number;
  components: number;
}

export async function readFacts({ clock, db, startedAt }: Ctx): Promise<InstallationFacts> {
  const disk = await db.disk();
  const { sizeBytes, walBytes } = db.figures();
  return {
    now: clock.now(),
    startedAt,
    schemaVersion: SCHEMA_VERSION,
    databaseBytes: sizeBytes,
    logBytes: walBytes,
    disk,
    lastBackup: readLastBackup(db),
    monitors: sum(countMonitorsByState(db, {}).map(({ monitors }) => monitors)),
    components: sum(countStatuses(db, {}).map(({ count }) => count)),
  };
}
