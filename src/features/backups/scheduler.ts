/* Writes scheduled backups into their place. Loaded only with --backup-to, on a server that may write. */
import { type Timer, within } from "../../base/clock";
import { Problem } from "../../base/errors";
import { sha256Hex } from "../../base/hash";
import { redactText } from "../../base/redaction";
import { describeStore } from "../../base/store-address";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import {
  type ObjectStore,
  ObjectStoreError,
  type StoredObject,
} from "../../object-store/object-store";
import { openObjectStore } from "../../object-store/open";
import type { Alarms } from "../alarms/alarms";
import type { Backups } from "./backups";
import {
  BACKUP_PREFIX,
  backupName,
  dueBackup,
  lastPlanned,
  obsoleteBackups,
  readScheduledBackups,
  recordScheduledBackup,
  type ScheduledBackup,
} from "./schedule";

/** Longest wait between two looks at the clock, which can be set, and the time from the start to the first. */
const LOOK_MS = MINUTE_MS;
const FIRST_LOOK_MS = 10 * SECOND_MS;
/** Pauses between tries after failures. */
const RETRY_MS = { first: 5 * MINUTE_MS, max: HOUR_MS };
/** Time after which a backup that is due and not complete is missing. */
const MISSING_MS = 2 * HOUR_MS;
/** Longest backup, with its upload. */
const WHOLE_MAX_MS = 12 * HOUR_MS;
/** Limit of each request: a part of an upload takes that long at half a megabit a second. */
const REQUEST_MAX_MS = 2 * MINUTE_MS;
/** Longest time for which a stop waits for a backup that it has cancelled. */
const STOP_MS = 2 * SECOND_MS;
/** Maximum length of an error, in characters. */
const ERROR_MAX = 500;

interface BackupSchedule {
  /** Resolves once no backup is being written. */
  settled(): Promise<void>;
  /** Cancels the backup that is being written. */
  stop(): Promise<void>;
}

interface Dependencies {
  ctx: Ctx;
  backups: Pick<Backups, "takeFor">;
  alarms: Pick<Alarms, "raise" | "clear" | "list">;
}

/** A failure whose message people read. */
class BackupFailure extends Error {}

/** The end of a backup whose node may not be the primary. It is no failure: the primary writes the backup. */
class NotPrimary extends BackupFailure {}

/**
 * Writes a backup each day at the time of the configuration, and at once if one was missed, or never written to this
 * place. A failed one is tried again. The record of them is in the database, so that the next primary of a fleet goes
 * on with it.
 */
export function startBackupSchedule({ ctx, backups, alarms }: Dependencies): BackupSchedule {
  const { clock, config, db, log } = ctx;
  const { backupAt: minutes, backupKeep: keep, backupAgeRecipient: recipients } = config;
  const address = config.backupTo;
  if (address === undefined) throw new Error("there is no place for backups");
  const place = describeStore(address);
  const target = sha256Hex(JSON.stringify([address, recipients])).slice(0, 16);
  const stopped = new AbortController();
  let running: Promise<void> | undefined;
  /** Ends the backup that is being written. */
  let cancel: (reason: BackupFailure) => void = () => {};
  let failures = 0;
  /** Moments on the monotonic clock: of the next try, and since when a backup is due. */
  let retryAt = 0;
  let dueSince: number | undefined;
  let timer = plan(FIRST_LOOK_MS);

  const earlier = alarms.list().find(({ kind }) => kind === "backup");
  // Raised again, so that the alarm of an earlier process goes on until a backup is complete, however long that takes.
  if (earlier && findDue() !== undefined) alarms.raise("backup", earlier.detail);

  /** Looks again after a while, or at the time of the next backup if that comes first. */
  function plan(delayMs: number): Timer {
    const next = lastPlanned(clock.now(), minutes) + DAY_MS - clock.now();
    return clock.after(Math.max(1, Math.min(delayMs, next)), look);
  }

  function look(): void {
    timer = plan(LOOK_MS);
    try {
      begin();
    } catch (error) {
      log.warn({ err: error }, "it is not known if a backup is due; looking again in a minute");
    }
  }

  /** Returns the time of the backup that is due, in unix ms. */
  function findDue(): number | undefined {
    const [last] = readScheduledBackups(db);
    return dueBackup(last, { now: clock.now(), minutes, target });
  }

  function begin(): void {
    if (!ctx.isPrimary()) {
      dueSince = undefined;
      return cancel(new NotPrimary());
    }
    const dueAt = findDue();
    if (dueAt === undefined) {
      dueSince = undefined;
      if (!running) alarms.clear("backup");
      return;
    }
    dueSince ??= clock.monotonic();
    // After a failure, the alarm has its reason.
    if (failures === 0 && clock.monotonic() - dueSince > MISSING_MS) {
      raise(dueAt, running ? "It is still being written." : "Another backup is being written.");
    }
    if (running || clock.monotonic() < retryAt) return;
    running = run(dueAt).finally(() => {
      running = undefined;
    });
  }

  /** Writes, sends and records one backup. Never rejects. */
  async function run(dueAt: number): Promise<void> {
    const at = clock.now();
    const name = backupName(at, recipients.length > 0);
    const backup: ScheduledBackup = { dueAt, at, target, place, name };
    const limit = new AbortController();
    cancel = (reason) => limit.abort(reason);
    const limitTimer = clock.after(WHOLE_MAX_MS, () =>
      cancel(new BackupFailure("It took longer than 12 hours.")),
    );
    const signal = AbortSignal.any([stopped.signal, limit.signal]);
    try {
      // In a fleet, this also proves that no other node is the primary.
      await record(backup);
      const done = await write(backup, signal);
      if (done === undefined) return;
      await record(done);
      failures = 0;
      dueSince = undefined;
      alarms.clear("backup");
      log.info({ place, name, bytes: done.bytes }, "a scheduled backup was written");
    } catch (error) {
      const reason: unknown = limit.signal.aborted ? limit.signal.reason : error;
      if (stopped.signal.aborted) return;
      if (reason instanceof NotPrimary || !ctx.isPrimary()) {
        log.warn({ place, name }, "a scheduled backup was left to the primary");
        return;
      }
      await fail(backup, reason);
    } finally {
      cancel = () => {};
      limitTimer.cancel();
    }
  }

  /** Writes a backup into its place. Resolves to undefined if another one is being written. */
  async function write(
    backup: ScheduledBackup,
    signal: AbortSignal,
  ): Promise<ScheduledBackup | undefined> {
    const store = openStore(ctx);
    let warning: string | undefined;
    const folder = address?.kind === "folder" ? address.path : undefined;
    const taken = await backups.takeFor({ recipients, folder }, signal, async (file, bytes) => {
      requirePrimary();
      await store.upload(backup.name, file, signal);
      warning = await removeObsolete(store, backup.name, bytes);
    });
    if ("bytes" in taken) return { ...backup, bytes: taken.bytes, ...(warning && { warning }) };
    if (taken.status === 409) return undefined;
    throw new BackupFailure(taken.message);
  }

  /** Checks what the place has, and removes old backups. Resolves to a sentence if they cannot be removed. */
  async function removeObsolete(
    store: ObjectStore,
    name: string,
    bytes: number,
  ): Promise<string | undefined> {
    let listed: StoredObject[];
    try {
      listed = await store.list(BACKUP_PREFIX);
    } catch (error) {
      // Credentials that may only write protect the backups from whoever steals them.
      return keep === 0 ? undefined : notRemoved(error);
    }
    // Without it, older ones are all that there is.
    const size = listed.find(({ key }) => key === name)?.size ?? 0;
    if (size !== bytes) throw new BackupFailure(`The place has ${size} of its ${bytes} bytes.`);
    const keys = listed.map(({ key }) => key);
    try {
      requirePrimary();
      await store.remove(obsoleteBackups(keys, name, keep));
      return undefined;
    } catch (error) {
      return notRemoved(error);
    }
  }

  function notRemoved(error: unknown): string {
    log.warn({ err: error, place }, "old backups were not removed");
    return `Old backups were not removed. ${describe(error)}`.slice(0, ERROR_MAX);
  }

  /** Throws if another node may be the primary, which writes the backups. */
  function requirePrimary(): void {
    if (!ctx.isPrimary()) throw new NotPrimary();
  }

  function record(backup: ScheduledBackup): Promise<void> {
    return db.write((tx) => recordScheduledBackup(tx, backup, clock.now()));
  }

  async function fail(backup: ScheduledBackup, error: unknown): Promise<void> {
    failures += 1;
    const pause = Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** (failures - 1));
    retryAt = clock.monotonic() + pause;
    const reason = describe(error);
    log.error({ err: error, place }, "a scheduled backup failed; trying again");
    raise(backup.dueAt, reason);
    try {
      await record({ ...backup, error: reason });
    } catch (failure) {
      log.warn({ err: failure }, "the failure of a backup could not be recorded");
    }
  }

  function raise(dueAt: number, reason: string): void {
    const due = toIso(dueAt).slice(0, 16).replace("T", " ");
    alarms.raise(
      "backup",
      `The backup of ${due} UTC for ${place} is not complete. ${reason} It is tried again until it works.`,
    );
  }

  return {
    async settled() {
      await running;
    },
    async stop() {
      timer.cancel();
      stopped.abort();
      if (running) await within(clock, STOP_MS, running, () => {});
    },
  };
}

/** Opens the place of scheduled backups, without a request. */
function openStore({ clock, config }: Ctx): ObjectStore {
  const { backupTo: address, backupStoreKeyId: keyId, backupStoreSecret: secret } = config;
  if (address === undefined) throw new Error("there is no place for backups");
  const credentials = keyId === undefined || secret === undefined ? undefined : { keyId, secret };
  const ca = config.caFile?.pem;
  return openObjectStore(address, credentials, { clock, deadlineMs: REQUEST_MAX_MS, ca });
}

/** Returns the reason of a failure for people. */
function describe(error: unknown): string {
  const kinds = [BackupFailure, ObjectStoreError, Problem];
  if (!(error instanceof Error) || !kinds.some((kind) => error instanceof kind)) {
    return "The server's log has the reason.";
  }
  return redactText(error.message).slice(0, ERROR_MAX);
}
