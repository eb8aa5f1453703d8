import { renameSync, rmSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { COMPANION_SUFFIXES } from "../../db/database-files";
import {
  formatTxid,
  parseTxid,
  prepareFollowed,
  type Txid,
  txidFileOf,
} from "../../db/followed-database";
import type { ObjectStore } from "../../object-store/object-store";
import { type ChildProcess, startChild } from "../log/replication";

/** Downloads of small files at the same time. */
const DOWNLOADS_AT_ONCE = 8;
const TEMPORARY_SUFFIX = ".part";

/**
 * Files that the follower gets at once. It notes a transaction only after all files that it has found, and nothing can
 * be read until then.
 */
const BATCH_FILES = 20;

/** Result of a listing of the newest files. */
export interface Listing {
  /** Times of its beginning, by the wall clock and by the monotonic one. Later changes may be missing. */
  startedAt: number;
  startedMonotonic: number;
  /** Last transaction in the store; 0 without any. */
  newest: Txid;
  /** True if more files are copied once the follower has applied those of the folder. */
  isPartial: boolean;
}

/** Copies the log of one prefix into a folder. Calls throw an error of the store or the disk, and can be repeated. */
export interface LogFetcher {
  readonly folder: string;
  /** Lists and downloads what is newer than the applied transaction. */
  fetchNew(applied: Txid): Promise<Listing>;
  /** Lists all levels, downloads what a restore needs, and removes files that neither it nor the follower needs. */
  fetchLevels(applied: Txid): Promise<void>;
  /** Returns the files from which the folder can be restored, in order. */
  plan(): LogFile[];
  /** Last transaction that the follower, or a restore, can reach with the folder. */
  reach(applied: Txid): Txid;
  /** True if the newest files do not continue `applied`, so that merged ones are needed. */
  hasHole(applied: Txid): boolean;
  /** Begins no further download. */
  close(): void;
}

/** Place of the logs. */
export interface LogSource {
  /** Opened with a deadline of two seconds. */
  store: ObjectStore;
  /** Returns the beginning of the keys of a level of a log, which Litestream chooses by the kind of the store. */
  levelPrefix(prefix: string, level: number): string;
}

/** A file that is known from a listing or from the folder. */
interface KnownFile extends LogFile {
  path: string;
  isLocal: boolean;
}

export function createLogFetcher(
  deps: LogSource & { clock: Clock },
  prefix: string,
  folder: string,
): LogFetcher {
  const { store, clock } = deps;
  const levelKey = (level: number) => deps.levelPrefix(prefix, level);
  const known = new Map<string, KnownFile>();
  /** Last listed name of each level of merged files. */
  const listedUntil = new Map<number, string>();
  let readFolder: Promise<void> | undefined;
  let newest: Txid = 0;
  let isClosed = false;

  /** Finds the files of an earlier run. */
  async function readLocal(): Promise<void> {
    for (let level = 0; level <= SNAPSHOT_LEVEL; level++) {
      const levelFolder = join(folder, levelPath(level));
      await mkdir(levelFolder, { recursive: true, mode: 0o700 });
      for (const name of await readdir(levelFolder)) {
        const { size } = await stat(join(levelFolder, name));
        const file = parseLogFile(level, name, size);
        if (file) know(file, true);
        else if (name.endsWith(TEMPORARY_SUFFIX)) await rm(join(levelFolder, name));
      }
    }
  }

  function know(file: LogFile, isLocal: boolean): void {
    const path = logFilePath(file);
    const before = known.get(path);
    // A file in the folder had its size compared when it arrived.
    if (before?.isLocal !== true) known.set(path, { ...file, path, isLocal });
    newest = Math.max(newest, file.max);
  }

  async function list(level: number, afterName: string | undefined, applied: Txid): Promise<void> {
    const snapshot = newestSnapshot(known.values())?.max ?? 0;
    /** True for files that neither a restore nor the follower needs: months of merged ones can be stored. */
    const isOld = ({ max }: LogFile) =>
      level < SNAPSHOT_LEVEL && max <= snapshot && (applied === 0 || max <= applied);
    const start = levelKey(level);
    const after = afterName === undefined ? undefined : `${start}${afterName}`;
    for (const { key, size } of await store.list(start, after)) {
      const name = key.slice(start.length);
      const file = parseLogFile(level, name, size);
      if (!file) continue;
      if (!isOld(file)) know(file, false);
      if (level > 0) listedUntil.set(level, name);
    }
  }

  /** Downloads a file to a temporary name and renames it when it is whole. */
  async function download(file: KnownFile): Promise<void> {
    if (file.isLocal) return;
    const target = join(folder, file.path);
    const part = `${target}${TEMPORARY_SUFFIX}`;
    const key = `${levelKey(file.level)}${logFileName(file)}`;
    const found = await store.download(key, part);
    if (found === undefined) {
      // It was merged into another one after the listing.
      known.delete(file.path);
      return;
    }
    if (found.size !== file.size) {
      await rm(part, { force: true });
      const lengths = `${found.size} instead of ${file.size} bytes`;
      throw new Error(`the store ${store.name} sent ${lengths} of ${key}`);
    }
    const handle = await open(part, "r+");
    await handle.sync().finally(() => handle.close());
    await rename(part, target);
    file.isLocal = true;
  }

  async function downloadAll(files: readonly KnownFile[]): Promise<void> {
    const left = files.values();
    const work = async () => {
      for (const file of left) {
        if (isClosed) throw new Error("the replica ends");
        await download(file);
      }
    };
    // All downloads have ended before the next attempt writes the same files.
    const results = await Promise.allSettled(Array.from({ length: DOWNLOADS_AT_ONCE }, work));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  function local(): KnownFile[] {
    return Array.from(known.values()).filter(({ isLocal }) => isLocal);
  }

  /** Last transaction of all known files that continue `from` without a hole. */
  function endOf(files: Iterable<LogFile>, from: Txid): Txid {
    return chainFrom(files, from).at(-1)?.max ?? from;
  }

  /** First transaction that a restore and the follower need. */
  function begin(applied: Txid): Txid {
    return applied === 0 ? (planRestore([...known.values()]).at(-1)?.max ?? 0) : applied;
  }

  async function removeUnneeded(applied: Txid): Promise<void> {
    const plan = planRestore(local());
    // Without a way back to what is applied, everything may be needed.
    if (applied === 0 || (plan.at(-1)?.max ?? 0) < applied) return;
    const needed = new Set<LogFile>(plan);
    for (const file of known.values()) {
      if (needed.has(file) || file.max > applied) continue;
      if (file.isLocal) await rm(join(folder, file.path), { force: true });
      known.delete(file.path);
    }
  }

  return {
    folder,

    async fetchNew(applied) {
      await (readFolder ??= readLocal());
      const startedAt = clock.now();
      const startedMonotonic = clock.monotonic();
      // A file can appear before listed ones, since the primary fills holes.
      const reached = endOf(known.values(), begin(applied));
      await list(0, `${formatTxid(reached)}-~`, applied);
      const all = [...known.values()];
      const needed = (applied === 0 ? planRestore(all) : chainFrom(all, applied)) as KnownFile[];
      const missing = needed.filter(({ level, isLocal }) => level === 0 && !isLocal);
      const room = BATCH_FILES - needed.filter(({ isLocal }) => isLocal).length;
      const wanted = applied === 0 ? missing : missing.slice(0, Math.max(0, room));
      await downloadAll(wanted);
      const isPartial = wanted.length < missing.length;
      return { startedAt, startedMonotonic, newest, isPartial };
    },

    async fetchLevels(applied) {
      await (readFolder ??= readLocal());
      for (let level = SNAPSHOT_LEVEL; level > 0; level--)
        await list(level, listedUntil.get(level), applied);
      const all = [...known.values()];
      const bridges = applied === 0 ? [] : chainFrom(all, applied);
      const wanted = new Set([...planRestore(all), ...bridges] as KnownFile[]);
      await downloadAll(Array.from(wanted).filter(({ level }) => level > 0));
      await removeUnneeded(applied);
    },

    plan: () => planRestore(local()),
    reach: (applied) => Math.max(endOf(local(), applied), planRestore(local()).at(-1)?.max ?? 0),
    hasHole: (applied) => endOf(known.values(), applied) < newest,
    close: () => void (isClosed = true),
  };
}

/** A file of the log: pages that the transactions from `min` to `max` have changed. */
export interface LogFile {
  /** 0 for files as the primary wrote them, 1 to 8 for merged ones, 9 for whole databases. */
  level: number;
  min: Txid;
  max: Txid;
  size: number;
}

/** Level of the files that contain the whole database. */
export const SNAPSHOT_LEVEL = 9;

/** Returns the path of a level in a folder from which Litestream restores. */
function levelPath(level: number): string {
  return `ltx/${level}/`;
}

/** Returns the path of a file in a folder from which Litestream restores. */
export function logFilePath(file: LogFile): string {
  return `${levelPath(file.level)}${logFileName(file)}`;
}

/** Returns the name of a file, in the folder and in the store. */
export function logFileName({ min, max }: LogFile): string {
  return `${formatTxid(min)}-${formatTxid(max)}.ltx`;
}

/** Returns the file with a name; undefined for names of other files. */
export function parseLogFile(level: number, name: string, size: number): LogFile | undefined {
  const [, first = "", last = ""] = /^([0-9a-f]{16})-([0-9a-f]{16})\.ltx$/.exec(name) ?? [];
  const [min, max] = [parseTxid(first), parseTxid(last)];
  if (min === undefined || max === undefined || min > max || min === 0) return undefined;
  return { level, min, max, size };
}

/** Returns the newest file that contains the whole database. */
export function newestSnapshot(files: Iterable<LogFile>): LogFile | undefined {
  let newest: LogFile | undefined;
  for (const file of files) {
    if (file.level === SNAPSHOT_LEVEL && file.max > (newest?.max ?? 0)) newest = file;
  }
  return newest;
}

/**
 * Returns the files that continue `from` without a hole, in order: at each step the one that reaches furthest, as
 * Litestream chooses them. Whole databases continue nothing.
 */
export function chainFrom(files: Iterable<LogFile>, from: Txid): LogFile[] {
  const sorted = Array.from(files)
    .filter(({ level, max }) => level < SNAPSHOT_LEVEL && max > from)
    .sort((a, b) => a.min - b.min);
  const chain: LogFile[] = [];
  let reached = from;
  let best: LogFile | undefined;
  for (const file of sorted) {
    if (file.min > reached + 1 && best) {
      chain.push(best);
      reached = best.max;
      best = undefined;
    }
    if (file.min > reached + 1) break;
    if (file.max > reached && isFurther(file, best)) best = file;
  }
  if (best) chain.push(best);
  return chain;
}

function isFurther(file: LogFile, than: LogFile | undefined): boolean {
  if (than === undefined || file.max !== than.max) return file.max > (than?.max ?? 0);
  return file.level > than.level;
}

/** Returns the files from which the newest state can be restored, in order; none without a beginning. */
export function planRestore(files: readonly LogFile[]): LogFile[] {
  const snapshot = newestSnapshot(files);
  return [...(snapshot ? [snapshot] : []), ...chainFrom(files, snapshot?.max ?? 0)];
}

const FOLLOW_INTERVAL = "100ms";
const RESTORE_SUFFIX = ".new";

interface Litestream {
  /** Path or name of the program. */
  program: string;
  log: Log;
}

/** Returns the path of the file with the process that follows a database. */
export function followerPidFile(database: string): string {
  return `${database}-follower`;
}

/** Starts the process that applies the log of a folder to a prepared database, from its noted transaction on. */
export function startFollower(
  { program, log }: Litestream,
  database: string,
  folder: string,
): ChildProcess {
  const source = pathToFileURL(folder).href;
  const options = ["-f", "-follow-interval", FOLLOW_INTERVAL, "-o", database];
  return startChild([program, "restore", ...options, source], {
    pidFile: followerPidFile(database),
    onLine: (line) => {
      if (/level=(ERROR|WARN)/.test(line)) log.warn({ line }, "Litestream reported a problem");
      else log.debug({ line }, "Litestream");
    },
  });
}

/** A restore that runs. */
interface Restore {
  /** Resolves when the database is at its path. Rejects with Litestream's message. */
  done: Promise<void>;
  cancel(): Promise<void>;
}

/** Restores the log of a folder up to a transaction into a new database, and prepares it for a follower. */
export function startRestore(
  { program }: Litestream,
  database: string,
  folder: string,
  txid: Txid,
): Restore {
  removeFollowed(database);
  const unfinished = `${database}${RESTORE_SUFFIX}`;
  removeFollowed(unfinished);
  let last = "";
  const options = ["-txid", formatTxid(txid), "-o", unfinished];
  const child = startChild([program, "restore", ...options, pathToFileURL(folder).href], {
    onLine: (line) => (last = line),
  });
  async function finish(): Promise<void> {
    const end = await child.ended;
    if (end !== "exit code 0") throw new Error(`litestream restore ended with ${end}: ${last}`);
    prepareFollowed(unfinished, txid);
    renameSync(txidFileOf(unfinished), txidFileOf(database));
    renameSync(unfinished, database);
  }
  return { done: finish(), cancel: () => child.stop("at once") };
}

/** Removes a database that is not in use, with everything that was written for it. */
export function removeFollowed(database: string): void {
  const suffixes = ["", "-txid", "-txid.tmp", ".tmp", ...COMPANION_SUFFIXES];
  for (const suffix of suffixes) rmSync(`${database}${suffix}`, { force: true });
}
