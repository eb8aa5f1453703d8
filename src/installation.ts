import type { Config } from "./base/config/options";
import { listenUrl } from "./base/config/parse";
import type { Ctx, Signals } from "./context";
import { createDb, type Db } from "./db/database";
import { OperatorError } from "./db/errors";
import {
  type DataDirectory,
  describeHolder,
  type DirectoryLock,
  isHeldBy,
  lockOrExplain,
  openDataDirectory,
  requireInstallation,
  requireNoReplica,
  tryLock,
} from "./db/data-directory";
import type * as NewestIdModule from "./db/newest-id";
import { migrate, type MigrationReport, SCHEMA_VERSION } from "./db/migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite, schemaVersion } from "./db/open";
import { removeUnfinishedRestore } from "./db/database-files";
import { OutsideAnswers } from "./egress/outside";
import { createChangeSignals } from "./events/changes";
import { createOutbox } from "./events/outbox";
import type * as MailingsModule from "./features/mailings/mailings";
import type * as EnqueueModule from "./features/webhooks/enqueue";
import { type Clock, systemClock } from "./base/clock";
import { createIdFactory } from "./base/ids";
import { lazy } from "./base/lazy";
import { createLog, deduplicateLog, type Log } from "./base/log";
import { createSignal } from "./base/signal";
import { type RandomBytes, systemRandom } from "./base/hash";
import { redactText } from "./base/redaction";

const COMMAND_WAIT_MS = 5_000;
const COMMAND_POLL_MS = 50;

/** Open data directory, with the context for services. */
export interface Installation {
  ctx: Ctx;
  directory: DataDirectory;
  migration: MigrationReport | undefined;
  close(): void;
}

/**
 * Opens the installation for a server: locks the data directory, migrates, and never waits in
 * SQLite. Throws an OperatorError that names the process holding the lock. With `leavesLog`, another process moves the
 * write-ahead log into the database. With `isLocked`, the caller has the lock and keeps it.
 */
export function openForServer(
  config: Config,
  { leavesLog = false, isLocked = false }: { leavesLog?: boolean; isLocked?: boolean } = {},
): Installation {
  const directory = openDataDirectory(config.dataDir);
  const lock = isLocked ? { release() {} } : lockForServer(directory);
  return open(config, directory, lock, { busyTimeoutMs: 0, leavesLog });
}

/** Locks the data directory for a server. Throws an OperatorError that names the process holding the lock. */
export function lockForServer(directory: DataDirectory): DirectoryLock {
  return lockWhenCommandEnds(directory) ?? lockOrExplain(directory, "serve");
}

/**
 * Locks the data directory, waiting up to `COMMAND_WAIT_MS` for a command such as a backup.
 * Undefined if the lock is still held.
 */
function lockWhenCommandEnds(directory: DataDirectory): DirectoryLock | undefined {
  for (let waitedMs = 0; waitedMs < COMMAND_WAIT_MS; waitedMs += COMMAND_POLL_MS) {
    const lock = tryLock(directory, "serve");
    if (lock || isHeldBy(directory, "serve")) return lock;
    Bun.sleepSync(COMMAND_POLL_MS);
  }
  return undefined;
}

/**
 * Opens the installation for a command, also while another process uses it. A command that gets the
 * lock migrates; otherwise the schema must match this build. Without `canCreate` a missing database
 * is an error, since most likely the path is wrong.
 */
export function openForCommand(
  config: Config,
  command: string,
  { canCreate }: { canCreate: boolean },
): Installation {
  requireNoReplica(config.dataDir);
  if (!canCreate) requireInstallation(config.dataDir);
  const directory = openDataDirectory(config.dataDir);
  const lock = tryLock(directory, command);
  // A change would go to the database that the restore sets aside.
  if (!lock && isHeldBy(directory, "restore")) lockOrExplain(directory, command);
  // A server that runs moves the log into the database itself, or a process beside it does.
  return open(config, directory, lock, {
    busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS,
    leavesLog: !lock,
  });
}

function open(
  config: Config,
  directory: DataDirectory,
  lock: DirectoryLock | undefined,
  { busyTimeoutMs, leavesLog }: { busyTimeoutMs: number; leavesLog: boolean },
): Installation {
  const clock = systemClock();
  const log = deduplicateLog(createLog(config.logLevel, redactText), clock, redactText);
  let sqlite: ReturnType<typeof openSqlite> | undefined;
  let db: Db | undefined;
  try {
    if (lock) removeUnfinishedRestore(directory);
    sqlite = openSqlite(directory.database, busyTimeoutMs, { leavesLog });
    const migration = lock ? migrate(sqlite, directory) : undefined;
    if (!lock) requireSameSchema(schemaVersion(sqlite), directory);
    db = createDb(sqlite, clock, log, { leavesLog });
    const ctx = createContext({ config, db, clock, log, random: systemRandom });
    const close = () => {
      db?.close();
      log.flush();
      lock?.release();
    };
    return { ctx, directory, migration, close };
  } catch (error) {
    if (db) db.close();
    else if (sqlite) closeSqlite(sqlite);
    lock?.release();
    throw error;
  }
}

function requireSameSchema(version: number, directory: DataDirectory): void {
  if (version === SCHEMA_VERSION) return;
  throw new OperatorError(
    `The data directory is in use by ${describeHolder(directory)} with schema version ${version}; this Allclear has version ${SCHEMA_VERSION}. Use the same Allclear for both.`,
  );
}

/** Creates a context from the parts that differ between server, commands and tests. */
export function createContext(parts: {
  config: Config;
  db: Db;
  clock: Clock;
  log: Log;
  random: RandomBytes;
}): Ctx {
  const { config, db, clock, log, random } = parts;
  // Required with the first id, which shortens the start.
  const newId = createIdFactory(clock, random, () => {
    const { newestId } = require("./db/newest-id") as typeof NewestIdModule;
    return newestId(db);
  });
  const changes = createChangeSignals(clock);
  const signals: Signals = {
    ...changes.signals,
    deliveriesQueued: createSignal(),
    mailsQueued: createSignal(),
    alertTried: createSignal(),
    deliveryTried: createSignal(),
    deliveriesBatched: createSignal(),
    signUpsRequested: createSignal(),
    passwordsForgotten: createSignal(),
    mailingsRecorded: createSignal(),
    databaseChangedElsewhere: createSignal(),
    databaseReplaced: createSignal(),
  };
  signals.databaseChangedElsewhere.on(() => changes.emitForeign(db));
  signals.databaseReplaced.on(changes.forget);
  const outbox = createOutbox(clock, newId);
  const baseUrl = config.baseUrl ?? listenUrl(config.listen);
  const allowedNetworks = config.outboundAllow ?? [];
  const startedAt = clock.now();
  const ofFleet = {
    shownAsOf: undefined,
    newerKeys: undefined,
    findNodesBehind: undefined,
    attempts: undefined,
    waitToSend: undefined,
  };
  const settings = { config, baseUrl, allowedNetworks, startedAt, ...ofFleet };
  const isPrimary = () => true;
  const ctx: Ctx = {
    ...settings,
    outside: new OutsideAnswers(clock),
    db,
    clock,
    random,
    newId,
    log,
    outbox,
    signals,
    isPrimary,
  };
  // Added here and not in `createApp`, so that changes by commands are delivered as well.
  // Both are required with the first event, which shortens the start.
  const deliveries = lazy(() => {
    const { enqueueDeliveries } = require("./features/webhooks/enqueue") as typeof EnqueueModule;
    return enqueueDeliveries(ctx);
  });
  outbox.subscribe((tx, groups) => deliveries()(tx, groups));
  const mailings = lazy(() => {
    const { recordMailings } = require("./features/mailings/mailings") as typeof MailingsModule;
    return recordMailings(ctx);
  });
  outbox.subscribe((tx, groups) => mailings()(tx, groups));
  return ctx;
}
