import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { extname, isAbsolute, join, resolve } from "node:path";
import type { Ctx } from "../../context";
import type { ImportSource } from "../../base/import-sources";
import { unavailable } from "../../base/errors";
import { encodeBase62 } from "../../base/hash";

/** Folders of the data directory: for files that operators put there, and for those of forms. */
const OFFERED = "import";
const UPLOADS = "import-uploads";

/** Maximum number of offered names, and of entries of an offered folder that are looked at. */
const NAMES_MAX = 200;
const ENTRIES_MAX = 10_000;

/** Error of a file that cannot be stored. */
const NOT_STORED =
  "The file cannot be stored in the data directory. Free space on its disk, and try again.";
const RETRY_SECONDS = 60;

/** File, or folder, that can be imported by its name. */
export interface OfferedFile {
  name: string;
  isFolder: boolean;
  bytes: number;
}

/** Files of imports in the data directory. */
export interface ImportFiles {
  /** Folder of the offered files. */
  readonly folder: string;
  /** Lists what a source may be read from, by name. Symbolic links and hidden files are not offered. */
  list(source: Pick<ImportSource, "takes">): Promise<OfferedFile[]>;
  /** Returns the path of an offered file; undefined for every other name. */
  find(source: Pick<ImportSource, "takes">, name: string): Promise<string | undefined>;
  /** Stores a file that only this user can read, and returns its path. Throws `unavailable`. */
  store(bytes: Uint8Array, name: string): Promise<string>;
  /** Removes a stored file. Logs failures of the system. */
  remove(path: string): Promise<void>;
  /** Removes all stored files. */
  sweep(): Promise<void>;
}

export function createImportFiles(
  { config, log, random }: Ctx,
  directoryOf = () => resolve(config.dataDir),
): ImportFiles {
  const uploads = () => join(directoryOf(), UPLOADS);
  const offered = () => join(directoryOf(), OFFERED);

  /** Lists nothing if the folder cannot be read, so that a form can be opened without it. */
  async function list(source: Pick<ImportSource, "takes">): Promise<OfferedFile[]> {
    try {
      return await listFolder(source);
    } catch (error) {
      log.warn({ err: error }, "the folder of files to import cannot be read");
      return [];
    }
  }

  async function listFolder({ takes }: Pick<ImportSource, "takes">): Promise<OfferedFile[]> {
    const folder = offered();
    // A link could lead out of the data directory.
    if (!(await isFolder(folder))) return [];
    const entries = await readdir(folder, { withFileTypes: true });
    const shown = entries.filter(
      (entry) =>
        !/^\.|-(wal|shm|journal)$/.test(entry.name) &&
        (entry.isFile() || (entry.isDirectory() && takes.includes("folder"))),
    );
    shown.sort((a, b) => (a.name < b.name ? -1 : 1));
    return Promise.all(
      shown.slice(0, NAMES_MAX).map(async (entry) => ({
        name: entry.name,
        isFolder: entry.isDirectory(),
        bytes: (await lstat(join(folder, entry.name))).size,
      })),
    );
  }

  async function withoutFailing(removal: Promise<void>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      log.warn({ err: error }, "files of imports were not removed; the next start removes them");
    }
  }

  return {
    get folder() {
      return offered();
    },
    list,

    async find(source, name) {
      const file = (await list(source)).find((each) => each.name === name);
      if (!file) return undefined;
      const path = join(offered(), name);
      return file.isFolder && (await hasLinks(path)) ? undefined : path;
    },

    async store(bytes, name) {
      const extension = /^\.[a-z0-9]{1,8}$/i.test(extname(name)) ? extname(name) : "";
      const path = join(uploads(), `${encodeBase62(random(16), 22)}${extension}`);
      try {
        await mkdir(uploads(), { recursive: true, mode: 0o700 });
        await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
        return path;
      } catch (error) {
        await rm(path, { force: true }).catch(() => {});
        throw unavailable(NOT_STORED, RETRY_SECONDS, error);
      }
    },

    async remove(path) {
      await withoutFailing(rm(path, { force: true }));
    },

    async sweep() {
      await withoutFailing(rm(uploads(), { recursive: true, force: true }));
    },
  };
}

/** Returns a text with the name of the file as people know it. A stored file has a random one. */
export function withPlaceName(text: string, place: string, name: string): string {
  if (!isAbsolute(place)) return text;
  return text.replaceAll(join(place, "/"), `${name}/`).replaceAll(place, `“${name}”`);
}

async function isFolder(path: string): Promise<boolean> {
  const [result] = await Promise.allSettled([lstat(path)]);
  return result.status === "fulfilled" && result.value.isDirectory();
}

/** Returns true if a folder has symbolic links, which could lead out of it, or too many entries to know. */
async function hasLinks(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.length > ENTRIES_MAX || entries.some((entry) => entry.isSymbolicLink());
}
