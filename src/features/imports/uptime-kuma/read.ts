import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DockerHosts } from "../../../config";
import { OperatorError } from "../../../db";
import type { Found } from "../source";
import { isBackup, readBackup } from "./backup";
import { readData } from "./data";
import { openKumaDatabase } from "./database";
import { findInData, listUnknownTypes } from "./found";
import type { ReadPicture } from "./pages";

/** Maximum size of a picture of a status page, in bytes. Larger ones are refused here anyway. */
const PICTURE_BYTES_MAX = 1024 * 1024;

/** Maximum size of a backup: 10,000 monitors have about 25 MB. */
const BACKUP_BYTES_MAX = 64 * 1024 * 1024;

/** Number of bytes that tell a backup from a database. */
const START_BYTES = 100;

/**
 * Reads an Uptime Kuma from its database, its data directory, or a JSON backup of 1.x. Throws an OperatorError for a
 * path that cannot be used.
 */
export async function readUptimeKuma(
  path: string,
  { dockerHosts }: { dockerHosts?: DockerHosts } = {},
): Promise<Found> {
  const isDefined = (name: string) => dockerHosts?.has(name) ?? false;
  const backup = await findBackup(path);
  if (backup !== undefined) {
    const { rows, notRead } = readBackup(path, backup);
    const data = readData(rows);
    const found = findInData(data, { readPicture: () => undefined, isDefined });
    return { ...found, notRead: [...notRead, ...listUnknownTypes(data)] };
  }
  using kuma = await openKumaDatabase(path);
  const data = readData((table, columns) => kuma.rows(table, columns));
  const found = findInData(data, { readPicture: pictureReader(path), isDefined });
  kuma.requireUnchanged();
  return {
    ...found,
    notRead: [...kuma.notRead, ...listUnknownTypes(data)],
    toDo: [...kuma.toDo, ...found.toDo],
  };
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
