import { renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { OperatorError } from "../../db/errors";
import type { DataDirectory } from "../../db/data-directory";
import { removeDatabase, syncFile } from "../../db/database-files";
import { formatTxid } from "../../db/followed-database";
import { SCHEMA_VERSION, schemaVersion } from "../../db/migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite, pragma } from "../../db/open";
import type { Alarms } from "../../features/alarms/alarms";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { freePrefix, ownFacts, writeInTerm } from "../leader/claim";
import type { FleetStore } from "../fleet-store";
import { SNAPSHOT_LEVEL } from "../follow/log-files";
import {
  isRecordOf,
  type Leader,
  type LeaderRecord,
  prefixOf,
  readLeader,
  writeLeader,
} from "../leader/record";
import { holdLease, type Lease } from "../leader/lease";
import { levelPrefix } from "../log/litestream";
import { fleetFolder, type FleetNode } from "../node";
import { restoreLog } from "../log/restore";
import { VERSION } from "../../version";

/** A replica's copy of the database. */
export interface PromotedCopy {
  /** Beginning of the keys of the log that it has; undefined before the first restore. */
  prefix(): string | undefined;
  /** Last applied transaction. */
  txid(): number;
  /** Last term in the copy; 0 without one. Needed if the store has no record. */
  lastTerm(): Promise<number>;
  /** Schema version of the copy. Needed if the store has no record. */
  schema(): Promise<number>;
  /** Applies all that the store has, and ends. Returns the path of the database, which is not open. */
  finish(): Promise<string>;
}

export interface Candidate {
  directory: DataDirectory;
  node: FleetNode;
  /** Id of this process. */
  run: string;
  address: string | null;
  store: FleetStore;
  copy: PromotedCopy;
  clock: Clock;
  log: Log;
  alarms: Pick<Alarms, "raise" | "clear">;
}

/** Another node was faster. */
export class TakenError extends OperatorError {}

/**
 * Makes a replica's copy the database of this data directory, and this node the primary of the next term. `before` is
 * the record on which the decision rests: the promotion fails with a TakenError if it was changed since. Resolves to the
 * lease, which is renewed until the caller stops it, so that no other candidate takes over before the primary starts.
 */
export async function promoteReplica(
  candidate: Candidate,
  before: Leader | undefined,
): Promise<Lease> {
  const { alarms, clock, copy, directory, log, node, store } = candidate;
  requireOwnSchema(before ? before.record.schema : await copy.schema());
  const last = before ? before.record.term : await copy.lastTerm();
  const term = Math.max(last, node.term ?? 0) + 1;
  const prefix = await freePrefix(store.leader, prefixOf(term, 1));
  const previous = before ? await findLastLog(candidate, before.record) : null;
  const facts = ownFacts(candidate);
  const record = { ...facts, term, prefix, previous, renewal: 0 };
  const writtenAt = clock.monotonic();
  const written = await writeInTerm(directory, node, term, () =>
    writeLeader(store.leader, before, record),
  );
  if (written === "changed") {
    throw new TakenError("Another node has become the primary meanwhile. Nothing was changed.");
  }
  log.warn({ term, node: node.id }, "this node becomes the primary");
  const lease = holdLease(
    { store: store.leader, clock, log, alarms, isAutomatic: true },
    written,
    writtenAt,
  );
  try {
    const { file, txid } = await completeCopy(candidate, previous?.prefix);
    if (previous) await lease.change({ previous: { ...previous, txid } });
    placeDatabase(directory, file);
    return lease;
  } catch (error) {
    await lease.stop();
    throw error;
  }
}

/** Completes an earlier promotion of this node that was interrupted, from the log of the term before. */
export async function completePromotion(
  { directory, store }: Pick<Candidate, "directory" | "store">,
  { previous }: LeaderRecord,
): Promise<void> {
  if (!previous) return;
  const { file } = await restoreInto(directory, store, previous.prefix);
  placeDatabase(directory, file);
}

/**
 * Returns the newest log. A term whose promotion was interrupted has none: its copy is the log before, or, after a
 * promotion without a record, this node's own.
 */
async function findLastLog(
  { copy, node, store }: Candidate,
  { node: by, term, prefix, previous }: LeaderRecord,
): Promise<LeaderRecord["previous"]> {
  const hasNone = (previous !== null || by === node.id) && !(await hasBegun(store, prefix));
  return hasNone ? previous : { term, prefix, txid: copy.txid() };
}

/** Throws an OperatorError for a database that a later version of Allclear has migrated. */
function requireOwnSchema(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new OperatorError(
    `The database has schema version ${version}, and this Allclear ${VERSION} has ${SCHEMA_VERSION}, so it cannot be the primary. Upgrade this node, or promote one that is upgraded.`,
  );
}

/** Returns true if a log has files from its first transaction on. */
export async function hasBegun(
  { leader: store, litestream }: FleetStore,
  prefix: string,
): Promise<boolean> {
  const levels = Array.from({ length: SNAPSHOT_LEVEL + 1 }, (_, level) =>
    store.list(`${levelPrefix(litestream.store, prefix, level)}${formatTxid(1)}-`),
  );
  return (await Promise.all(levels)).some((files) => files.length > 0);
}

/** File of a completed copy, which is not open, and its last transaction. */
interface CompleteCopy {
  file: string;
  txid: number;
}

/**
 * Applies the rest of the log with this prefix, or what is known without one. A copy that cannot do so, or that is of
 * another log, is replaced by a restore from the store.
 */
async function completeCopy(
  { copy, directory, log, store }: Candidate,
  prefix: string | undefined,
): Promise<CompleteCopy> {
  try {
    const own = copy.prefix();
    if (prefix !== undefined && own !== prefix) {
      throw new Error(`the copy has the log ${own ?? "of no term"} instead of ${prefix}`);
    }
    const file = await copy.finish();
    return { file, txid: copy.txid() };
  } catch (error) {
    if (prefix === undefined) throw error;
    log.warn({ err: error }, "the copy cannot be completed; restoring the log from the store");
    return restoreInto(directory, store, prefix);
  }
}

async function restoreInto(
  directory: DataDirectory,
  { litestream }: FleetStore,
  prefix: string,
): Promise<CompleteCopy> {
  const file = join(fleetFolder(directory), "promoted.db");
  removeDatabase(file);
  const { txid } = await restoreLog(litestream, prefix, file);
  return { file, txid };
}

/**
 * Checks a database and gives it the name of the data directory's own. Throws an OperatorError if it is damaged or of a
 * later schema.
 */
function placeDatabase({ database }: DataDirectory, file: string): void {
  const sqlite = openSqlite(file, COMMAND_BUSY_TIMEOUT_MS, { canCreate: false });
  try {
    if (pragma(sqlite, "quick_check") !== "ok") {
      throw new OperatorError(`${file} is damaged, so this node cannot be the primary.`);
    }
    requireOwnSchema(schemaVersion(sqlite));
  } finally {
    closeSqlite(sqlite);
  }
  syncFile(file);
  renameSync(file, database);
  syncFile(dirname(database));
}

/**
 * Returns the record if this node's promotion was interrupted: it is its own, there is no database, and nothing was
 * written in its term. A node that has lost its database follows its own log instead.
 */
export async function findInterrupted(
  { node, store }: Pick<Candidate, "node" | "store">,
  hasDatabase: boolean,
): Promise<LeaderRecord | undefined> {
  if (hasDatabase || node.term === undefined) return undefined;
  const record = (await readLeader(store.leader, node))?.record;
  if (!record || !isRecordOf(record, node)) return undefined;
  return (await hasBegun(store, record.prefix)) ? undefined : record;
}
