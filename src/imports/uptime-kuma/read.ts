import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DockerHosts } from "../../base/config/network";
import { OperatorError } from "../../db/errors";
import type { Found, FoundHistory } from "../found";
import { findInData, isBackup, listUnknownTypes, readBackup } from "./backup";
import { canFindBeats, openKumaHistory } from "./history";
import { openKumaDatabase, readData } from "./database";
import type { ReadPicture } from "./pages";

/** Maximum size of a picture of a status page, in bytes. Larger ones are refused here anyway. */
const PICTURE_BYTES_MAX = 1024 * 1024;

/** Maximum size of a backup: 10,000 monitors have about 25 MB. */
const BACKUP_BYTES_MAX = 64 * 1024 * 1024;

const NO_INDEX =
  "The history is not imported, since the table heartbeat has no index to find it by. Create one in a copy of the database with CREATE INDEX monitor_time_index ON heartbeat (monitor_id, time), and import that.";

/** Number of bytes that tell a backup from a database. */
const START_BYTES = 100;

interface ReadOptions {
  dockerHosts?: DockerHosts;
  /** Time from which on heartbeats are not read, in unix ms. */
  now?: number;
}

/**
 * Reads an Uptime Kuma from its database, its data directory, or a JSON backup of 1.x. The database stays open with
 * the history, until that is disposed of. Throws an OperatorError for a path that cannot be used.
 */
export async function readUptimeKuma(
  path: string,
  { dockerHosts, now = Date.now() }: ReadOptions = {},
): Promise<Found> {
  const isDefined = (name: string) => dockerHosts?.has(name) ?? false;
  const backup = await findBackup(path);
  if (backup !== undefined) {
    const { rows, notRead } = readBackup(path, backup);
    const data = readData(rows);
    const found = findInData(data, { readPicture: () => undefined, isDefined });
    return { ...found, notRead: [...notRead, ...listUnknownTypes(data)] };
  }
  const kuma = await openKumaDatabase(path);
  let history: FoundHistory | undefined;
  try {
    const data = readData((table, columns) => kuma.rows(table, columns));
    const found = findInData(data, { readPicture: pictureReader(path), isDefined });
    kuma.requireUnchanged();
    const isFast = canFindBeats(kuma);
    history = isFast ? openKumaHistory(kuma, now) : undefined;
    return {
      ...found,
      ...(history ? { history } : {}),
      notRead: [...kuma.notRead, ...listUnknownTypes(data)],
      toDo: [...kuma.toDo, ...(isFast ? [] : [NO_INDEX]), ...found.toDo],
    };
  } finally {
    if (!history) kuma[Symbol.dispose]();
  }
}

/** Returns the text of a file that begins as a backup does; undefined for every other path. */
async function findBackup(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || !isBackup(await file.slice(0, START_BYTES).text())) return undefined;
  if (stat.size > BACKUP_BYTES_MAX) throw new OperatorError(`${path} is larger than 64 MiB.`);
  return await file.text();
}

/** Returns a reader of the folder of pictures beside a database. */
function pictureReader(path: string): ReadPicture {
  const folder = statSync(path).isDirectory() ? path : dirname(realpathSync(path));
  return (name) => {
    try {
      const pictures = realpathSync(join(folder, "upload"));
      const file = realpathSync(join(pictures, name));
      // A link out of the folder is not followed.
      if (dirname(file) !== pictures || statSync(file).size > PICTURE_BYTES_MAX) return undefined;
      return readFileSync(file);
    } catch {
      return undefined;
    }
  };
}
