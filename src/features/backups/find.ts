/* Backups to restore: found in a folder or a bucket, downloaded and decrypted. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../base/clock";
import type { Config } from "../../base/config/options";
import { parsePlace, type S3Address } from "../../base/store-address";
import { OperatorError } from "../../db/errors";
import { withPrivateFolder } from "../../db/private-folder";
import type { ObjectStore } from "../../object-store/object-store";
import { openObjectStore } from "../../object-store/open";
import { decryptFile, isEncrypted } from "./age";
import { BACKUP_PREFIX, isBackupName, newestBackup } from "./schedule";

/** Beginning of the names of folders with a downloaded or decrypted backup. */
const FOLDER = "from-backup-";

interface Dependencies {
  config: Config;
  /** Database that will be replaced. What is downloaded and decrypted needs room next to it. */
  database: string;
  /** File with identities of age. */
  identityFile: string | undefined;
}

/**
 * Passes a backup to `work` as a file that is not encrypted, with its name for people. `address` is a file, a folder with
 * scheduled backups, an object, or the path of such objects; of several, the newest is taken. Throws an OperatorError.
 */
export async function withBackup<T>(
  address: string,
  deps: Dependencies,
  work: (file: string, name: string) => T,
): Promise<T> {
  const place = parseAddress(address);
  return withPrivateFolder(dirname(deps.database), FOLDER, async (folder) => {
    if (place.kind === "folder") {
      const file = findFile(place.path);
      return withDecrypted(file, file, folder, deps, work);
    }
    const store = openParent(place, deps.config);
    const key = await findObject(store, lastSegment(place.path));
    const name = `${store.name}/${key}`;
    const file = join(folder, "downloaded");
    await download(store, key, file, name);
    return withDecrypted(file, name, folder, deps, work);
  });
}

/** Passes a file to `work`, decrypted if it is encrypted. Pipes are not. */
export async function withPlainFile<T>(
  file: string,
  deps: Omit<Dependencies, "config">,
  work: (file: string, name: string) => T,
): Promise<T> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return work(file, file);
  if (!(await isEncrypted(file))) return work(file, file);
  return withPrivateFolder(dirname(deps.database), FOLDER, (folder) =>
    withDecrypted(file, file, folder, deps, work),
  );
}

async function withDecrypted<T>(
  file: string,
  name: string,
  folder: string,
  { identityFile }: Pick<Dependencies, "identityFile">,
  work: (file: string, name: string) => T,
): Promise<T> {
  let plain = file;
  if (await isEncrypted(file)) {
    plain = join(folder, "decrypted");
    await decryptFile(file, plain, { name, identityFile });
    // The database that is restored needs the space.
    if (dirname(file) === folder) rmSync(file);
  }
  try {
    return work(plain, name);
  } catch (error) {
    if (!(error instanceof OperatorError) || plain === name) throw error;
    throw new OperatorError(error.message.replaceAll(plain, name), error);
  }
}

function parseAddress(text: string) {
  try {
    return parsePlace(text);
  } catch (error) {
    throw new OperatorError(`The address after --from ${(error as Error).message}.`);
  }
}

function findFile(path: string): string {
  if (!existsSync(path)) throw new OperatorError(`There is no file or folder ${path}.`);
  if (!statSync(path).isDirectory()) return path;
  const name = newestBackup(readdirSync(path), Date.now());
  if (name === undefined) throw new OperatorError(`There is no backup in ${path}.`);
  return join(path, name);
}

/** Opens the path above an object. */
function openParent(address: S3Address, { backupStoreKeyId, backupStoreSecret, caFile }: Config) {
  if (backupStoreKeyId === undefined || backupStoreSecret === undefined) {
    throw new OperatorError(
      "A bucket needs ALLCLEAR_BACKUP_STORE_KEY_ID and ALLCLEAR_BACKUP_STORE_SECRET.",
    );
  }
  const path = address.path.split("/").slice(0, -1).join("/");
  const credentials = { keyId: backupStoreKeyId, secret: backupStoreSecret };
  const deps = { clock: systemClock(), ca: caFile?.pem };
  return openObjectStore({ ...address, path }, credentials, deps);
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the key of an object, of the newest backup in a path, or of the newest whose name begins with `last`. */
async function findObject(store: ObjectStore, last: string): Promise<string> {
  // Credentials that may only read objects are enough for one that is named.
  if (isBackupName(last)) return last;
  const folder = last === "" ? "" : `${last}/`;
  const listed = await explained(store.list(`${folder}${BACKUP_PREFIX}`));
  const names = listed.map(({ key }) => key.slice(folder.length));
  const newest = newestBackup(names, Date.now());
  if (newest !== undefined) return `${folder}${newest}`;
  const keys = last === "" ? [] : (await explained(store.list(last))).map(({ key }) => key);
  const named = keys.includes(last) ? last : newestBackup(keys, Date.now());
  if (named === undefined) throw new OperatorError(`There is no backup in ${store.name}/${last}.`);
  return named;
}

async function download(store: ObjectStore, key: string, file: string, name: string) {
  const found = await explained(store.download(key, file), name);
  if (found === undefined) throw new OperatorError(`There is no object ${name}.`);
}

/** Returns the result of a request. Throws an OperatorError for failures of the store and of the disk. */
async function explained<T>(request: Promise<T>, name?: string): Promise<T> {
  try {
    return await request;
  } catch (error) {
    const { message } = error as Error;
    const text = name === undefined ? message : `${name} could not be downloaded: ${message}`;
    throw new OperatorError(text, error);
  }
}
