import { type Dirent, readFileSync, renameSync } from "node:fs";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { within } from "../base/clock";
import { sha256Hex } from "../base/hash";
import { objectKeyError } from "../base/ids";
import type { FolderAddress } from "../base/store-address";
import { tryFileLock } from "../db/data-directory";
import {
  compareKeys,
  DEFAULT_DEADLINE_MS,
  GET_MAX_BYTES,
  type ObjectStore,
  ObjectStoreError,
  type StoreOperation,
  type PutOptions,
  removeEach,
  requireKey,
  type StoreDependencies,
  type StoredObject,
} from "./object-store";

/** Beginning of the names of files that are not objects: the lock, and files that are being written. */
const OWN_PREFIX = ".allclear-";

/** Age in ms at which an unfinished file of a killed process is removed. */
const UNFINISHED_MAX_MS = 60 * 60 * 1_000;

/** Files of a list that are read at once, each time with a deadline of their own. */
const FILES_AT_ONCE = 500;

/** Longest wait for another process that writes with a condition, in ms. It holds the lock for a rename. */
const LOCK_WAIT_MS = 100;

/**
 * Opens a folder, which is created by the first write. Files are written to a temporary name, flushed to the disk and
 * renamed. Conditions hold between the processes of one machine. The entity tag is a hash of the content.
 */
export function openFolder(
  { path }: FolderAddress,
  { clock, deadlineMs = DEFAULT_DEADLINE_MS }: StoreDependencies,
): ObjectStore {
  const name = `file://${path}`;
  const fileOf = (key: string) => join(path, requireFileKey(key));

  /**
   * Returns the result of some work. Throws an ObjectStoreError if it fails or passes the deadline, and calls `onLate`
   * in the second case.
   */
  async function limited<T>(
    operation: StoreOperation,
    key: string,
    work: Promise<T>,
    onLate?: () => void,
  ): Promise<T> {
    const subject = `${operation} ${key}`.trim();
    try {
      const done = await within(clock, deadlineMs, wrapped(work), () => {});
      if (done !== undefined) return done.value;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      const reason = describeFileError(error, code);
      throw new ObjectStoreError(
        "unreachable",
        `The store ${name} failed (${reason}): ${subject}.`,
      );
    }
    onLate?.();
    const seconds = deadlineMs / 1_000;
    const message = `The store ${name} did not answer within ${seconds} s: ${subject}.`;
    throw new ObjectStoreError("timeout", message);
  }

  /** Opens a file. One that opens after the deadline is closed. */
  function openLimited<T extends FileHandle | undefined>(
    operation: StoreOperation,
    key: string,
    opening: Promise<T>,
  ): Promise<T> {
    return limited(operation, key, opening, () => {
      opening.then(
        (handle) => handle?.close(),
        () => {},
      );
    });
  }

  async function writeFile(
    key: string,
    bytes: Uint8Array,
    options: PutOptions,
    signal: AbortSignal,
  ): Promise<{ etag: string } | "changed"> {
    const file = fileOf(key);
    const temporary = join(dirname(file), `${OWN_PREFIX}${crypto.randomUUID()}`);
    try {
      await writeFlushed(temporary, bytes);
      // A write that has failed for the caller does not replace what the caller writes or removes later.
      signal.throwIfAborted();
      if (options.ifMatch !== undefined || options.ifNoneMatch === true) {
        if (!replaceIf(options, temporary, file)) return "changed";
      } else {
        await rename(temporary, file);
      }
      return { etag: etagOf(bytes) };
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Renames a file if the condition holds. Does not wait in between, so the lock is held briefly. */
  function replaceIf(options: PutOptions, temporary: string, file: string): boolean {
    const lock = tryFileLock(join(path, `${OWN_PREFIX}lock`), LOCK_WAIT_MS);
    if (!lock) throw Object.assign(new Error("locked"), { code: "EBUSY" });
    try {
      const current = missingAsUndefined(() => readFileSync(file));
      if (options.ifNoneMatch === true && current !== undefined) return false;
      const { ifMatch } = options;
      if (ifMatch !== undefined && (!current || etagOf(current) !== ifMatch)) return false;
      renameSync(temporary, file);
      return true;
    } finally {
      lock.close(true);
    }
  }

  async function listFiles(prefix: string, startAfter: string): Promise<StoredObject[]> {
    const top = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    const folder = top === "" ? path : fileOf(top.slice(0, -1));
    const entries = await limited("list", prefix, readTree(folder, prefix.slice(top.length)));
    const files = entries.flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const key = file.slice(path.length + 1);
      const isListed = key.startsWith(prefix) && compareKeys(key, startAfter) > 0;
      return entry.isFile() && (isListed || entry.name.startsWith(OWN_PREFIX)) ? [file] : [];
    });
    const found: StoredObject[] = [];
    while (files.length > 0) {
      const part = files.splice(-FILES_AT_ONCE);
      const objects = await limited("list", prefix, Promise.all(part.map(readFacts)));
      for (const object of objects) if (object) found.push(object);
    }
    return found.toSorted((a, b) => compareKeys(a.key, b.key));
  }

  /** Returns the facts of an object. Removes an unfinished file of a killed process. */
  async function readFacts(file: string): Promise<StoredObject | undefined> {
    const facts = await stat(file).catch(undefinedIfMissing);
    if (facts === undefined) return undefined;
    const name = basename(file);
    if (name.startsWith(OWN_PREFIX)) {
      const isOld = clock.now() - facts.mtimeMs > UNFINISHED_MAX_MS;
      if (isOld && !name.endsWith("lock")) await rm(file, { force: true });
      return undefined;
    }
    const key = file.slice(path.length + 1);
    if (objectKeyError(key) !== undefined) return undefined;
    return { key, size: facts.size, modifiedAt: Math.round(facts.mtimeMs) };
  }

  /** Removes a file, and the folders that it leaves empty. */
  async function removeFile(key: string): Promise<void> {
    const file = fileOf(key);
    await unlink(file).catch(undefinedIfMissing);
    for (let folder = dirname(file); folder.length > path.length; folder = dirname(folder)) {
      const isRemoved = await rmdir(folder).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
    }
  }

  return {
    name,
    clockSkewMs: () => undefined,

    async get(key) {
      const file = fileOf(key);
      const read = async () => {
        const handle = await open(file).catch(undefinedIfMissing);
        if (handle === undefined) return undefined;
        await using _closing = handle;
        const facts = await handle.stat();
        if (!facts.isFile()) return undefined;
        if (facts.size > GET_MAX_BYTES) throw tooLarge(name, key);
        const bytes = await handle.readFile();
        return { bytes, etag: etagOf(bytes) };
      };
      return limited("read", key, read());
    },

    async download(key, file) {
      const source = await openLimited("read", key, open(fileOf(key)).catch(undefinedIfMissing));
      if (source === undefined) return undefined;
      await using _source = source;
      if (!(await limited("read", key, source.stat())).isFile()) return undefined;
      await using target = await open(file, "w", 0o600);
      const read = (buffer: Buffer) => limited("read", key, source.read(buffer));
      try {
        return await copyPieces(read, (piece) => target.writeFile(piece));
      } catch (error) {
        await rm(file, { force: true });
        throw error;
      }
    },

    async put(key, bytes, options = {}) {
      const folder = dirname(fileOf(key));
      const late = new AbortController();
      const write = async () => {
        await mkdir(folder, { recursive: true });
        try {
          return await writeFile(key, bytes, options, late.signal);
        } catch (error) {
          if (codeOf(error) !== "ENOENT") throw error;
          // The folder was removed with its last object in between.
          await mkdir(folder, { recursive: true });
          return await writeFile(key, bytes, options, late.signal);
        }
      };
      return limited("write", key, write(), () => late.abort());
    },

    async upload(key, file, signal) {
      const target = fileOf(key);
      const limit = <T>(work: Promise<T>) => limited("write", key, work);
      await limit(mkdir(dirname(target), { recursive: true, mode: 0o750 }));
      const temporary = join(dirname(target), `${OWN_PREFIX}${crypto.randomUUID()}`);
      try {
        await using source = await open(file);
        {
          await using copy = await openLimited("write", key, open(temporary, "wx", 0o600));
          let unsynced = 0;
          await copyPieces(
            (buffer) => source.read(buffer),
            async (piece) => {
              signal?.throwIfAborted();
              await limit(copy.writeFile(piece));
              unsynced += piece.length;
              if (unsynced < SYNC_BYTES) return;
              unsynced = 0;
              await limit(copy.sync());
            },
          );
          await limit(copy.sync());
        }
        signal?.throwIfAborted();
        await limit(rename(temporary, target));
        await using folder = await openLimited("write", key, open(dirname(target)));
        await limit(folder.sync());
      } finally {
        await rm(temporary, { force: true });
      }
    },

    async list(prefix, startAfter = "") {
      return listFiles(prefix, startAfter);
    },

    async remove(keys) {
      for (const key of keys) requireFileKey(key);
      await removeEach(keys, 1, (key) => limited("remove", key, removeFile(key)));
    },
  };
}

function requireFileKey(key: string): string {
  requireKey(key);
  const isOwn = key.split("/").some((segment) => segment.startsWith(OWN_PREFIX));
  if (isOwn) throw new Error(`A key begins with ${OWN_PREFIX}: ${key}`);
  return key;
}

async function wrapped<T>(work: Promise<T>): Promise<{ value: T }> {
  return { value: await work };
}

function tooLarge(name: string, key: string): ObjectStoreError {
  const message = `The store ${name} holds more than ${GET_MAX_BYTES} bytes: read ${key}.`;
  return new ObjectStoreError("refused", message);
}

/** Bytes that are copied at once. */
const PIECE_BYTES = 1_024 * 1_024;

/** Bytes after which an upload flushes to the disk, so that no flush takes long. */
const SYNC_BYTES = 64 * PIECE_BYTES;

/**
 * Reads a folder with everything below it, but of its own entries only those that begin with `start`, and unfinished files.
 * Others may be very many, or a folder that only another user can read, such as `lost+found`.
 */
async function readTree(folder: string, start: string): Promise<Dirent[]> {
  async function read(path: string, recursive: boolean): Promise<Dirent[]> {
    const reading = readdir(path, { recursive, withFileTypes: true });
    return (await reading.catch(undefinedIfMissing)) ?? [];
  }
  if (start === "") return read(folder, true);
  const entries = (await read(folder, false)).filter(({ name }) =>
    [start, OWN_PREFIX].some((beginning) => name.startsWith(beginning)),
  );
  const folders = entries.filter((entry) => entry.isDirectory());
  const below = await Promise.all(folders.map(({ name }) => read(join(folder, name), true)));
  return [...entries, ...below.flat()];
}

/** Creates a file and flushes it to the disk. */
async function writeFlushed(file: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(file, "wx");
  await handle.writeFile(bytes);
  await handle.sync();
}

/** Passes what `read` returns to `write` until it returns nothing. Resolves to the size and the entity tag. */
async function copyPieces(
  read: (buffer: Buffer) => Promise<{ bytesRead: number }>,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<{ size: number; etag: string }> {
  const hash = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (let size = 0; ;) {
    const { bytesRead } = await read(buffer);
    if (bytesRead === 0) return { size, etag: `"${hash.digest("hex")}"` };
    size += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await write(piece);
  }
}

/** Returns the entity tag of some content. */
function etagOf(bytes: Uint8Array): string {
  return `"${sha256Hex(bytes)}"`;
}

/** Returns the code of an error of the file system. */
function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** Returns the code of an error of the file system with its text, such as "EACCES: permission denied". */
function describeFileError(error: unknown, code: string): string {
  const [, text] = /^\w+: ([a-z -]+)/.exec((error as Error).message) ?? [];
  return text === undefined ? code : `${code}: ${text}`;
}

/** Returns true if a path has no file: nothing, a folder, or a path below a file. */
function isMissing(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR|EISDIR)$/.test(codeOf(error) ?? "");
}

/** Returns undefined for the error of a missing file, and throws all others. */
function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Returns undefined if the file that is read is missing. */
export function missingAsUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return undefinedIfMissing(error);
  }
}
