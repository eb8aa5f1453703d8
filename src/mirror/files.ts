import { sha256Hex } from "../base/hash";
import { toIso } from "../base/time";
import type { ObjectStore } from "../object-store/object-store";
import type { MirrorDocument } from "./documents";

/** Number of files that are written at the same time. */
const CONCURRENT_WRITES = 16;

/** Name of the list of all files. */
const INDEX = "mirror.json";
/** The list is read by monitors and by the script of copies. */
const INDEX_CACHE = "public, max-age=15";

/** Paths that belong to the mirror. Other files in the same place are left alone. */
const OWN_PATH =
  /^(?:status|assets|api\/v2)\/|^(?:index\.html|history\.(?:atom|rss)|icon\.svg|robots\.txt|favicon\.ico|apple-touch-icon\.png)$/;

/** Owner of files that belong to no page. */
export const SHARED = "shared";

/** File of the mirror. */
interface MirrorFile {
  /** Id of the page that it shows, or `SHARED`; undefined for one of an earlier process. */
  owner: string | undefined;
  /** Fingerprint and hash of its bytes; undefined if they are not known. */
  written: { fingerprint: string; sha256: string } | undefined;
}

/** Position of the data in a fleet. */
export interface Position {
  term: number;
  txid: string;
}

/** Files of a mirror, and what is known of their content. */
export interface MirrorFiles {
  readonly byPath: ReadonlyMap<string, MirrorFile>;
  /** True once the files of earlier processes are known. */
  readonly isOpen: boolean;
  /**
   * Lists the files of earlier processes. An empty place is marked as a mirror. Throws if it has files of another
   * program at the paths of the mirror.
   */
  open(): Promise<void>;
  /**
   * Compares the list with the files that are there, and lists them unless that is done. Missing files are written
   * again, such as those that a rule of a bucket removed. Unknown ones are those of a write that arrived late.
   */
  compare(): Promise<void>;
  /**
   * Begins to write a document, unless an equal one was written. Waits while too many are being written, and begins
   * nothing if `isCancelled` says so then. Throws if an earlier write has failed.
   */
  write(document: MirrorDocument, owner: string, isCancelled: () => boolean): Promise<void>;
  /** Waits for the writes that were begun. Throws the first error of one. */
  flush(): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
  /** Writes the list of all files. `asOf` is the time of the data in unix ms; undefined before the first copy. */
  writeIndex(asOf: number | undefined, position: Position | undefined): Promise<void>;
}

export function createMirrorFiles(store: ObjectStore): MirrorFiles {
  const byPath = new Map<string, MirrorFile>();
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let isOpen = false;

  async function put(
    { path, mediaType, cacheControl, fingerprint }: MirrorDocument,
    file: MirrorFile,
    bytes: Uint8Array,
  ) {
    try {
      await store.put(path, bytes, { type: mediaType, cacheControl });
      file.written = { fingerprint, sha256: sha256Hex(bytes) };
    } catch (error) {
      failure ??= { error };
    }
  }

  function throwFailure(): void {
    if (!failure) return;
    const { error } = failure;
    failure = undefined;
    throw error;
  }

  const files: MirrorFiles = {
    byPath,
    get isOpen() {
      return isOpen;
    },

    async open() {
      if (!isOpen) await files.compare();
    },

    async compare() {
      const keys = new Set((await store.list("")).map(({ key }) => key));
      const own = [...keys].filter((key) => OWN_PATH.test(key));
      if (!isOpen && !keys.has(INDEX)) {
        if (own.length > 0) {
          throw new Error(
            `${store.name} has files of another program, such as ${own[0]}. Name an empty folder or path for the mirror.`,
          );
        }
        await files.writeIndex(undefined, undefined);
      }
      for (const path of own) {
        if (!byPath.has(path)) byPath.set(path, { owner: undefined, written: undefined });
      }
      for (const [path, file] of byPath) if (!keys.has(path)) file.written = undefined;
      isOpen = true;
    },

    async write(document, owner, isCancelled) {
      const { path, fingerprint } = document;
      const current = byPath.get(path);
      if (current?.written?.fingerprint === fingerprint) {
        current.owner = owner;
        return;
      }
      // Noted before the write begins, so that a removal finds it. Its bytes are unknown until it ends.
      const file: MirrorFile = { owner, written: undefined };
      byPath.set(path, file);
      const bytes = document.make();
      while (running.size >= CONCURRENT_WRITES) await Promise.race(running);
      throwFailure();
      if (isCancelled()) return;
      const writing = put(document, file, bytes).finally(() => running.delete(writing));
      running.add(writing);
    },

    async flush() {
      await Promise.all(running);
      throwFailure();
    },

    async remove(paths) {
      if (paths.length === 0) return;
      for (const path of paths) {
        const file = byPath.get(path);
        if (file) file.written = undefined;
      }
      await store.remove(paths);
      for (const path of paths) byPath.delete(path);
    },

    async writeIndex(asOf, position) {
      const hashes = Array.from(byPath)
        .flatMap(([path, { written }]) => (written ? [[path, written.sha256] as const] : []))
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
      // The time comes first, since readers ask for the first bytes only.
      const index = {
        as_of: asOf === undefined ? null : toIso(asOf),
        term: position?.term ?? null,
        txid: position?.txid ?? null,
        files: Object.fromEntries(hashes),
      };
      await store.put(INDEX, new TextEncoder().encode(JSON.stringify(index)), {
        type: "application/json",
        cacheControl: INDEX_CACHE,
      });
    },
  };
  return files;
}
