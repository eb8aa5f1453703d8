/*
 * Reading the log of a database from the store: restoring from it, auditing that it is complete while it is written, and
 * the position up to which a data directory has it.
 */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { redactText } from "../../base/redaction";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import type { DataDirectory } from "../../db/data-directory";
import { syncFile } from "../../db/database-files";
import { OperatorError } from "../../db/errors";
import { formatTxid, type Txid } from "../../db/followed-database";
import { DATABASE_MODE } from "../../db/open";
import type { Alarms } from "../../features/alarms/alarms";
import { missingAsUndefined } from "../../object-store/folder";
import type { ObjectStore } from "../../object-store/object-store";
import {
  chainFrom,
  type LogFile,
  logFileName,
  parseLogFile,
  SNAPSHOT_LEVEL,
} from "../follow/log-fetcher";
import { freePrefix, isPrefix, isRecordOf, type Lease, nextPrefix, readLeader } from "../leader";
import { fleetFolder, type FleetNode } from "../node";
import type { FleetStore } from "../store";
import {
  environmentOf,
  levelPrefix,
  type LitestreamSetup,
  replicaSettings,
  type Replication,
} from "./replication";

/** A database that was restored from the store. */
interface RestoredLog {
  /** Beginning of the keys of its log. */
  prefix: string;
  /** Number of its last transaction. */
  txid: number;
}

/** Message of Litestream for a log that begins later, or that does not exist. */
const NOTHING = /no matching backup/;

/** Maximum length of Litestream's message. */
const MESSAGE_MAX = 500;

/** Error of Litestream that is a fault of the log or of the store. */
class RestoreError extends OperatorError {
  /** True if the log has nothing for the time. */
  readonly isEmpty: boolean;

  constructor(message: string, isEmpty: boolean) {
    super(message);
    this.isEmpty = isEmpty;
  }
}

/**
 * Restores one log of the store into a new file, up to a moment in unix ms, a transaction, or its end. Throws a
 * RestoreError. `signal` ends Litestream.
 */
export async function restoreLog(
  litestream: LitestreamSetup,
  prefix: string,
  file: string,
  { at, txid, signal }: { at?: number; txid?: number; signal?: AbortSignal } = {},
): Promise<RestoredLog> {
  // Settings in a file, since a URL in an argument cannot have everything that an address can.
  const folder = mkdtempSync(join(tmpdir(), "allclear-restore-"));
  const config = join(folder, "litestream.yml");
  const database = join(folder, "log");
  const replica = replicaSettings(litestream.store, prefix);
  const settings = { logging: { level: "error" }, dbs: [{ path: database, replica }] };
  const moment = at === undefined ? [] : ["-timestamp", toIso(at)];
  const last = txid === undefined ? [] : ["-txid", formatTxid(txid)];
  const unfinished = `${file}.unfinished`;
  const options = ["-config", config, "-no-expand-env", "-json", ...moment, ...last];
  try {
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
    rmSync(unfinished, { force: true });
    const child = Bun.spawn(
      [litestream.program, "restore", ...options, "-o", unfinished, database],
      {
        env: environmentOf(litestream),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        ...(signal && { signal }),
        killSignal: "SIGKILL",
      },
    );
    const [output, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw failureOf(prefix, signal?.aborted ? "It took too long." : errors, code);
    chmodSync(unfinished, DATABASE_MODE);
    renameSync(unfinished, file);
    const restored = JSON.parse(output) as { txid: string };
    return { prefix, txid: Number.parseInt(restored.txid, 16) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(unfinished, { force: true });
  }
}

function failureOf(prefix: string, errors: string, code: number | null): RestoreError {
  const lines = errors.trim().split("\n").slice(-3).join(" ");
  const reason = redactText(lines || `exit code ${code}`).slice(0, MESSAGE_MAX);
  return new RestoreError(
    `The log ${prefix} could not be restored: ${reason}`,
    NOTHING.test(errors),
  );
}

/** State of a fleet's database, and the end of its newest log before that was restored. */
export interface RestoredState extends RestoredLog {
  end: LogPosition;
}

/**
 * Restores the newest state of a fleet's database into a new file, or that of a moment in unix ms, which may be of
 * an earlier term. Throws an OperatorError if the store has none.
 */
export async function restoreFromStore(
  store: FleetStore,
  file: string,
  at?: number,
): Promise<RestoredState> {
  const { files, litestream } = store;
  const leader = await readLeader(store.leader);
  if (!leader) throw new OperatorError(`There is no fleet in ${files.name}.`);
  const { prefix } = leader.record;
  const end = await findEnd(store, prefix);
  if (at !== undefined) return { ...(await restoreMoment(store, file, at)), end };
  const restored = await restoreLog(litestream, prefix, file);
  return { ...restored, end: { prefix, txid: Math.max(end.txid, restored.txid) } };
}

async function restoreMoment(
  { files, litestream }: FleetStore,
  file: string,
  at: number,
): Promise<RestoredLog> {
  for (const prefix of await listPrefixes(files)) {
    try {
      return await restoreLog(litestream, prefix, file, { at });
    } catch (error) {
      // A log begins with its term, so an earlier moment is in the one before.
      if (!(error instanceof RestoreError && error.isEmpty)) throw error;
    }
  }
  throw new OperatorError(`The logs in ${files.name} begin after ${toIso(at)}.`);
}

const PREFIX = /^(term-\d{6,15}-\d{1,9})\//;

/** Lists the beginnings of the keys of all logs, newest first. */
async function listPrefixes(store: ObjectStore): Promise<string[]> {
  const found = new Set<string>();
  for (const { key } of await store.list("term-")) {
    const prefix = PREFIX.exec(key)?.[1];
    if (prefix !== undefined) found.add(prefix);
  }
  const orderOf = (prefix: string) => prefix.split("-").slice(1).map(Number);
  return [...found].sort((a, b) => {
    const [termA = 0, sequenceA = 0] = orderOf(a);
    const [termB = 0, sequenceB = 0] = orderOf(b);
    return termB - termA || sequenceB - sequenceA;
  });
}

/** State of a log in the store: without a hole, repaired from this machine's files, or not to be repaired. */
type AuditOutcome = { kind: "whole" } | { kind: "filled"; files: number } | { kind: "lost" };

interface Audited {
  store: ObjectStore;
  prefix: string;
  /** Returns the beginning of the keys of a level. */
  levelPrefix(prefix: string, level: number): string;
  /** Folder of the newest files on this machine. */
  localFiles: string;
  /** Last transaction that must be in the store. */
  until: Txid;
}

/** Last transaction that a restore reaches, and the first one after the hole that stops it. */
interface Reach {
  txid: Txid;
  next: Txid;
}

/**
 * Checks that a restore from the store reaches a transaction: the newest whole database and the files after it must
 * follow each other without a hole. Uploads missing files again, as far as this machine still has them.
 */
export async function examineLog(audited: Audited): Promise<AuditOutcome> {
  let filled = 0;
  for (;;) {
    const reach = await findReach(audited);
    if (reach.txid >= audited.until) {
      return filled === 0 ? { kind: "whole" } : { kind: "filled", files: filled };
    }
    const count = await fill(audited, reach);
    if (count === 0) return { kind: "lost" };
    filled += count;
  }
}

async function findReach(audited: Audited): Promise<Reach> {
  const { until } = audited;
  const snapshots = await listLevel(audited, SNAPSHOT_LEVEL, 0);
  const newest = snapshots.at(-1)?.max ?? 0;
  // Merged files may begin before the newest whole database, but not before the one before.
  const since = snapshots.at(-2)?.max ?? 0;
  const merged: LogFile[] = [];
  for (let level = SNAPSHOT_LEVEL - 1; level > 0; level--) {
    merged.push(...(await listLevel(audited, level, since)));
  }
  const reached = chainFrom(merged, newest).at(-1)?.max ?? newest;
  const files = [...merged, ...(await listLevel(audited, 0, reached))];
  const txid = chainFrom(files, newest).at(-1)?.max ?? newest;
  const later = files.map(({ min }) => min).filter((min) => min > txid + 1);
  return { txid, next: Math.min(until + 1, ...later) };
}

/** Lists the files of a level that begin after a transaction. */
async function listLevel(
  { store, levelPrefix, prefix }: Audited,
  level: number,
  after: Txid,
): Promise<LogFile[]> {
  const start = levelPrefix(prefix, level);
  const objects = await store.list(start, `${start}${formatTxid(after)}`);
  return objects
    .map(({ key, size }) => parseLogFile(level, key.slice(start.length), size))
    .filter((file) => file !== undefined);
}

/** Uploads the files of a hole. Returns their number, or 0 if one is missing here too. */
async function fill(audited: Audited, { txid, next }: Reach): Promise<number> {
  const { levelPrefix, localFiles, prefix, store } = audited;
  let count = 0;
  for (let missing = txid + 1; missing < next; missing++) {
    const name = logFileName({ level: 0, min: missing, max: missing, size: 0 });
    let bytes: Uint8Array;
    try {
      bytes = await readFile(join(localFiles, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
      throw error;
    }
    await store.put(`${levelPrefix(prefix, 0)}${name}`, bytes);
    count += 1;
  }
  return count;
}

/** Last transaction of a log. */
interface LogPosition {
  /** Beginning of the keys of the log. */
  prefix: string;
  /** 0 if the log has none. */
  txid: number;
}

interface OwnLog {
  directory: DataDirectory;
  node: FleetNode;
  store: FleetStore;
}

/**
 * Throws an OperatorError if the log of this node's term has transactions in the store that this data directory has
 * never had, such as after a snapshot of the machine was brought back: Litestream would upload the older database as
 * the newest state. Litestream flushes each file of the log to the disk before it uploads it, so transactions that are
 * not uploaded yet, or a power failure, cause no error.
 */
export async function requireNewestState({ directory, node, store }: OwnLog): Promise<void> {
  const record = (await readLeader(store.leader, node))?.record;
  if (!record || !isRecordOf(record, node)) return;
  const { prefix } = record;
  const folder = fleetFolder(directory);
  const { txid: stored } = await findEnd(store, prefix, localTxid(folder, prefix));
  // A Litestream that outlived its server may have written and uploaded more meanwhile.
  const local = localTxid(folder, prefix);
  if (stored <= local || hasLaterLog(folder, prefix)) return;
  throw new OperatorError(
    `The log ${prefix} in ${store.leader.name} ends with transaction ${stored}, but this data directory has it only up to ${local}, as if an older copy of the directory had been put in place. The server does not start, since it would replace the newer state. To go on with that, run:  allclear restore --from-store`,
  );
}

/** Returns the end of a log in the store, of which transactions up to `after` are known. */
async function findEnd(
  { leader: store, litestream }: FleetStore,
  prefix: string,
  after = 0,
): Promise<LogPosition> {
  const start = levelPrefix(litestream.store, prefix, 0);
  const objects = await store.list(start, `${start}${formatTxid(after)}`);
  return { prefix, txid: newestOf(objects.map(({ key }) => key.slice(start.length))) };
}

/** Stores durably that the database was replaced on purpose when a log had this end. */
export function noteRestored(directory: DataDirectory, end: LogPosition): void {
  const folder = fleetFolder(directory);
  if (!existsSync(folder)) return;
  const file = noteIn(folder);
  writeFileSync(`${file}.new`, JSON.stringify(end));
  syncFile(`${file}.new`);
  renameSync(`${file}.new`, file);
  syncFile(folder);
}

/** Returns the last transaction of a log that the data directory has had; 0 for none. */
function localTxid(folder: string, prefix: string): number {
  const files = missingAsUndefined(() => readdirSync(join(folder, prefix, "ltx", "0"))) ?? [];
  const note = missingAsUndefined(() => readFileSync(noteIn(folder), "utf8"));
  const restored = note === undefined ? undefined : (JSON.parse(note) as LogPosition);
  return Math.max(newestOf(files), restored?.prefix === prefix ? restored.txid : 0);
}

/** True if this node has begun the log that follows within the term, and ended before the record named it. */
function hasLaterLog(folder: string, prefix: string): boolean {
  const [, term, sequence] = prefix.split("-").map(Number);
  return readdirSync(folder).some((name) => {
    const [, ofTerm, later] = isPrefix(name) ? name.split("-").map(Number) : [];
    return ofTerm === term && Number(later) > Number(sequence);
  });
}

function newestOf(names: readonly string[]): number {
  return names.reduce((newest, name) => Math.max(newest, parseLogFile(0, name, 0)?.max ?? 0), 0);
}

function noteIn(folder: string): string {
  return join(folder, "restored.json");
}

/** Interval of looks at the upload, and number of looks from one audit to the next. */
const LOOK_MS = 10_000;
const LOOKS_PER_AUDIT = 6;
/** Time without an upload after which there is an alarm. */
const STALLED_MS = 30_000;
/** Longest wait for an upload, in ms. */
const UPLOAD_MS = 5_000;

interface LogWatchDependencies {
  clock: Clock;
  log: Log;
  alarms: Pick<Alarms, "raise" | "clear">;
  lease: Lease;
  replication: Replication;
  store: FleetStore;
}

/** Watches the upload of the log, and once a minute checks that a restore from the store reaches its end. */
export function watchLog(deps: LogWatchDependencies): { stop(): Promise<void> } {
  const { alarms, clock, lease, log, replication, store } = deps;
  let uploadedAt = clock.monotonic();
  let looks = 0;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    looks += 1;
    let txid: number;
    try {
      txid = await replication.sync(UPLOAD_MS);
    } catch (error) {
      const seconds = Math.round((clock.monotonic() - uploadedAt) / 1_000);
      if (seconds * 1_000 < STALLED_MS) return;
      const reason = (error as Error).message;
      alarms.raise("upload_stalled", `Nothing was uploaded for ${seconds} s: ${reason}`);
      return;
    }
    uploadedAt = clock.monotonic();
    alarms.clear("upload_stalled");
    // An earlier change of the record may have failed.
    if (replication.prefix !== lease.record.prefix) await name(replication.prefix);
    // Writes that were acknowledged before their upload are in the store now.
    if (replication.prefix === lease.record.prefix) alarms.clear("durability_local");
    if (looks % LOOKS_PER_AUDIT === 0) await audit(txid);
  }

  async function audit(until: number): Promise<void> {
    const outcome = await examineLog({
      store: store.files,
      prefix: replication.prefix,
      levelPrefix: (prefix, level) => levelPrefix(store.litestream.store, prefix, level),
      localFiles: replication.localFiles(),
      until,
    });
    if (outcome.kind === "whole") return alarms.clear("log_hole");
    if (outcome.kind === "filled") {
      const files = plural(outcome.files, "file");
      return alarms.raise("log_hole", `The log lacked ${files}, which were uploaded again.`);
    }
    // An earlier process may have begun the next one and ended before it was named.
    const next = await freePrefix(store.files, nextPrefix(replication.prefix));
    alarms.raise(
      "log_hole",
      `The log ${replication.prefix} cannot be repaired from the files of this machine. A new one begins: ${next}.`,
    );
    await replication.moveTo(next);
    await replication.sync(UPLOAD_MS);
    await name(next);
  }

  async function name(prefix: string): Promise<void> {
    if (await lease.change({ prefix })) log.warn({ prefix }, "replicas read the new log");
  }

  const timer = clock.every(LOOK_MS, () => {
    if (!lease.isHeld()) return;
    looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, "the log could not be checked"))
      .finally(() => (looking = undefined));
  });
  return {
    async stop() {
      timer.cancel();
      await looking;
    },
  };
}
