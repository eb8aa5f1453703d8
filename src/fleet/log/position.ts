import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../db/errors";
import type { DataDirectory } from "../../db/data-directory";
import { syncFile } from "../../db/database-files";
import { formatTxid } from "../../db/followed-database";
import { missingAsUndefined } from "../../object-store/folder";
import type { FleetStore } from "../store";
import { parseLogFile } from "../follow/log-fetcher";
import { isPrefix, isRecordOf, readLeader } from "../leader/lease";
import { fleetFolder, type FleetNode } from "../node";
import { levelPrefix } from "./replication";

/** Last transaction of a log. */
export interface LogPosition {
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
export async function findEnd(
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
