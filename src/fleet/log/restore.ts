import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redactText } from "../../base/redaction";
import { toIso } from "../../base/time";
import { OperatorError } from "../../db/errors";
import { formatTxid, type Txid } from "../../db/followed-database";
import { DATABASE_MODE } from "../../db/open";
import type { ObjectStore } from "../../object-store/object-store";
import {
  chainFrom,
  type LogFile,
  logFileName,
  parseLogFile,
  SNAPSHOT_LEVEL,
} from "../follow/log-fetcher";
import { readLeader } from "../leader/lease";
import type { FleetStore } from "../store";
import { findEnd, type LogPosition } from "./position";
import { environmentOf, type LitestreamSetup, replicaSettings } from "./replication";

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
export async function auditLog(audited: Audited): Promise<AuditOutcome> {
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
