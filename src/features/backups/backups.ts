/*
 * Backups of the database: `createBackups` writes them for downloads and for `scheduler.ts`, in another process. The
 * last one of the dashboard or the command line is recorded.
 */
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Actor } from "../../base/actor";
import { formatBytes } from "../../base/numbers";
import {
  COPY_COMMAND,
  ENCRYPTED,
  environmentWithoutSettings,
  ownProgram,
} from "../../base/own-program";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type DiskSpace, readDiskSpace } from "../../db/storage-watch";
import { audit } from "../../events/audit";
import { findSetting, putSetting } from "../settings/store";

/** Prefix of the names of files written for a download. */
const DOWNLOAD = "dashboard-download-";

/** Prefix of the names of files written for a place of scheduled backups. */
const SCHEDULED = "scheduled-backup-";

/** Maximum time for writing the file. */
const WRITING_MAX_MS = 30 * MINUTE_MS;

/** Time after which the file of a download is removed: the runtime opens it as soon as the answer starts. */
const OPENED_AFTER_MS = SECOND_MS;

/** Free space that a large backup must leave, so that the server can still store changes. */
const MARGIN_BYTES = 16 * 1024 * 1024;

/** Reason why no backup was written, as a sentence, with the HTTP status of the answer. */
export interface BackupRejection {
  /** 409 while another backup is being written. */
  status: 409 | 503;
  message: string;
}

/** Complete backup for a download. Its file is removed one second later. */
interface TakenBackup {
  path: string;
  /** Name for the downloaded file. */
  name: string;
  bytes: number;
}

export interface Backups {
  /**
   * Writes a backup and passes its size to `record`. The file is removed once the answer has started, if
   * the client disconnects, and if `record` rejects. Only one is written at a time.
   */
  take(
    request: Request,
    record: (bytes: number) => Promise<void>,
  ): Promise<TakenBackup | BackupRejection>;
  /**
   * Writes a backup, encrypted for the recipients if there are any, and passes its file and size to `send`. The file is
   * then removed. Rejects with the errors of `send`.
   */
  takeFor(
    place: BackupPlace,
    signal: AbortSignal,
    send: (file: string, bytes: number) => Promise<void>,
  ): Promise<{ bytes: number } | BackupRejection>;
  /** Removes the files that an interrupted process left. */
  sweep(): Promise<void>;
  /** Ends a backup that is being written. */
  stop(): void;
}

/** Destination of scheduled backups. */
export interface BackupPlace {
  /** Public keys of age; none for a backup that is not encrypted. */
  recipients: readonly string[];
  /** Path of a folder, which can share a disk with the database; undefined for a bucket. */
  folder: string | undefined;
}

interface BackupOptions {
  /** Returns the folder of unfinished files; that of the data directory by default. */
  folder?: () => string;
  copy?: CopyDatabase;
  /** Keeps the connection of a request open without traffic, until the returned function is called. */
  holdOpen?: (request: Request) => () => void;
}

const BUSY: BackupRejection = {
  status: 409,
  message: "Another backup is being written. Try again when it has ended.",
};

/** Creates the service that writes backups for downloads and for the place of scheduled ones. */
export function createBackups(ctx: Ctx, options: BackupOptions = {}): Backups {
  const { clock, config, db, log } = ctx;
  const { copy = copyInProcess, holdOpen } = options;
  const { folder: folderOf = () => join(resolve(config.dataDir), "backups") } = options;
  const stopped = new AbortController();
  let isWriting = false;
  let written = 0;

  /** Reads the space for the file, whose folder may be on another disk than the database. */
  async function diskOfFolder(): Promise<DiskSpace | undefined> {
    const folder = folderOf();
    const [device, own] = await Promise.all([folder, db.path].map(deviceOf));
    const isOther = device !== undefined && own !== undefined && device !== own;
    return isOther ? readDiskSpace(join(folder, DOWNLOAD)) : db.disk();
  }

  /** Returns how many copies are on the disk of unfinished files at the same time until a backup is in its place. */
  async function copiesFor({ recipients, folder }: BackupPlace): Promise<1 | 2> {
    if (recipients.length > 0) return 2;
    if (folder === undefined) return 1;
    const [device, own] = await Promise.all([folder, folderOf()].map(deviceAbove));
    return device === own ? 2 : 1;
  }

  /** Returns the rejection of a backup whose copies do not fit on the disk. */
  async function shortage(copies: number): Promise<BackupRejection | undefined> {
    const disk = await diskOfFolder();
    const { sizeBytes, walBytes } = db.figures();
    const needed = copies * (sizeBytes + walBytes);
    if (!disk || disk.freeBytes >= needed + Math.min(needed, MARGIN_BYTES)) return undefined;
    const message = `The disk has no room for a backup, which needs ${formatBytes(needed)} on the disk of the data directory. Free some space, or write it to another disk:  allclear backup FILE`;
    return { status: 503, message };
  }

  /** Writes a file. Resolves to the rejection, if there is one. */
  async function write(
    path: string,
    cancelled: AbortSignal,
    recipients: readonly string[] = [],
  ): Promise<BackupRejection | undefined> {
    const limit = new AbortController();
    const timer = clock.after(WRITING_MAX_MS, () => limit.abort());
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      const signal = AbortSignal.any([cancelled, limit.signal, stopped.signal]);
      const error = await copy(db.path, path, signal, recipients);
      if (limit.signal.aborted) {
        return failed(`It took longer than ${WRITING_MAX_MS / MINUTE_MS} minutes.`);
      }
      if (signal.aborted) return failed("It was cancelled.");
      return error === undefined ? undefined : explain(error);
    } catch (error) {
      return explain((error as Error).message);
    } finally {
      timer.cancel();
    }
  }

  /** Logs an error and returns the rejection for it. */
  function explain(error: string): BackupRejection {
    log.error({ reason: error }, "a backup could not be written");
    const isFull = /disk is full|ENOSPC|no space left/i.test(error);
    return failed(isFull ? "The disk is full." : "The server's log has the reason.");
  }

  /** Removes a file and its unfinished copies. A file that is open may stay on some systems until it is closed. */
  async function remove(path: string): Promise<void> {
    await removeAll(dirname(path), (name) => name.startsWith(basename(path)));
  }

  async function removeAll(folder: string, isObsolete: (name: string) => boolean): Promise<void> {
    try {
      const names = await readdir(folder);
      await Promise.all(
        names.filter(isObsolete).map((name) => rm(join(folder, name), { force: true })),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      log.warn(
        { err: error },
        "the temporary file of a backup was not removed; the next start removes it",
      );
    }
  }

  async function take(
    request: Request,
    record: (bytes: number) => Promise<void>,
  ): Promise<TakenBackup | BackupRejection> {
    const missing = await shortage(1);
    if (missing) return missing;
    const at = new Date(clock.now()).toISOString();
    written += 1;
    const path = join(folderOf(), `${DOWNLOAD}${clock.now()}-${written}.db`);
    let isTaken = false;
    const release = holdOpen?.(request);
    try {
      const rejection = await write(path, request.signal).finally(release);
      if (rejection) return rejection;
      const bytes = (await stat(path)).size;
      await record(bytes);
      isTaken = !request.signal.aborted;
      return { path, bytes, name: `allclear-${at.slice(0, 19).replaceAll(":", "-")}Z.db` };
    } finally {
      if (isTaken) clock.after(OPENED_AFTER_MS, () => void remove(path));
      else await remove(path);
    }
  }

  return {
    async take(request, record) {
      if (isWriting) return BUSY;
      isWriting = true;
      try {
        return await take(request, record);
      } finally {
        isWriting = false;
      }
    },
    async takeFor(place, signal, send) {
      if (isWriting) return BUSY;
      isWriting = true;
      written += 1;
      const path = join(folderOf(), `${SCHEDULED}${clock.now()}-${written}.db`);
      let isSending = false;
      try {
        const { recipients } = place;
        const isPlain = recipients.length === 0;
        const rejection =
          (await shortage(await copiesFor(place))) ?? (await write(path, signal, recipients));
        if (rejection) return rejection;
        // Others can be written while this one is sent.
        isSending = true;
        isWriting = false;
        const file = isPlain ? path : path + ENCRYPTED;
        const bytes = (await stat(file)).size;
        await send(file, bytes);
        return { bytes };
      } finally {
        if (!isSending) isWriting = false;
        await remove(path);
      }
    },
    sweep: () =>
      removeAll(folderOf(), (name) => name.startsWith(DOWNLOAD) || name.startsWith(SCHEDULED)),
    stop: () => stopped.abort(),
  };
}

/** Returns the number of the file system of a path; undefined if the path does not exist. */
async function deviceOf(path: string): Promise<number | undefined> {
  const [result] = await Promise.allSettled([stat(path)]);
  return result.status === "fulfilled" ? result.value.dev : undefined;
}

/** Returns the number of the file system that has a path, or will have it once its folders are created. */
async function deviceAbove(path: string): Promise<number | undefined> {
  const device = await deviceOf(path);
  const parent = dirname(path);
  return device ?? (parent === path ? undefined : deviceAbove(parent));
}

function failed(reason: string): BackupRejection {
  return { status: 503, message: reason };
}

/** Maximum number of characters of an error. */
const ERROR_MAX = 2_000;

/**
 * Copies a database into a new file until the signal aborts; with recipients, into an encrypted one with another name.
 * Resolves to the error, if there is one.
 */
type CopyDatabase = (
  database: string,
  file: string,
  signal: AbortSignal,
  recipients: readonly string[],
) => Promise<string | undefined>;

/**
 * Copies a database in another process, which the signal kills. In this process, copying a large database
 * would delay all requests and could not be stopped.
 */
const copyInProcess: CopyDatabase = async (database, file, signal, recipients) => {
  if (signal.aborted) return "aborted";
  const further = recipients.length === 0 ? [] : [recipients.join(",")];
  const child = Bun.spawn([...ownProgram(), COPY_COMMAND, database, file, ...further], {
    // The child neither needs nor validates the settings.
    env: environmentWithoutSettings(),
    // Not the working directory of the server, which could contain settings for the runtime.
    cwd: dirname(file),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    const errors = await new Response(child.stderr).text();
    const exitCode = await child.exited;
    return exitCode === 0 ? undefined : errors.slice(0, ERROR_MAX) || `exit code ${exitCode}`;
  } finally {
    signal.removeEventListener("abort", kill);
  }
};

const LAST_BACKUP = "last_backup";

/** Last backup from the dashboard or the command line. */
export interface LastBackup {
  /** Unix ms. */
  at: number;
  /** Size of the file. */
  bytes: number;
  /** Name of the user, or "Command line". */
  by: string;
}

/** Records a backup of `bytes`. A setting keeps it longer than the audit log, whose rows expire. */
export function recordBackup(ctx: Ctx, tx: Tx, bytes: number, actor: Actor): void {
  const now = ctx.clock.now();
  const last: LastBackup = { at: now, bytes, by: actor.label };
  putSetting(tx, { name: LAST_BACKUP, value: last, now });
  const verb = actor.kind === "user" ? "Downloaded" : "Wrote";
  const summary = `${verb} a backup of the database, ${formatBytes(bytes)}`;
  audit(ctx, tx, actor, "database.backup", "database", summary);
}

/** Returns the last backup; undefined before the first one. */
export function readLastBackup(reader: Reader): LastBackup | undefined {
  const value = findSetting(reader, { name: LAST_BACKUP })?.value as
    Partial<LastBackup> | undefined;
  const { at, bytes, by } = value ?? {};
  const isComplete = typeof at === "number" && typeof bytes === "number" && typeof by === "string";
  return isComplete ? { at, bytes, by } : undefined;
}
