import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { formatTxid, type Txid } from "../../db/followed-database";
import type { ObjectStore } from "../../object-store/model";
import {
  chainFrom,
  type LogFile,
  logFileName,
  parseLogFile,
  SNAPSHOT_LEVEL,
} from "../follow/log-files";

/** State of a log in the store: without a hole, repaired from this machine's files, or not to be repaired. */
export type AuditOutcome = { kind: "whole" } | { kind: "filled"; files: number } | { kind: "lost" };

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
