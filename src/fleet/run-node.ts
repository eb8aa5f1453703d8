import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, systemClock, type Timer } from "../base/clock";
import type { Config } from "../base/config/options";
import { systemRandom } from "../base/hash";
import { createLog, type Log } from "../base/log";
import { redactText } from "../base/redaction";
import { type DataDirectory, hasInstallation, openDataDirectory } from "../db/data-directory";
import { removeDatabase, syncFile } from "../db/database-files";
import { OperatorError } from "../db/errors";
import { formatTxid } from "../db/followed-database";
import { SCHEMA_VERSION } from "../db/migrations";
import {
  closeSqlite,
  COMMAND_BUSY_TIMEOUT_MS,
  openSqlite,
  pragma,
  schemaVersion,
} from "../db/open";
import { countRows } from "../db/orphans";
import { findLastTerm, readSchemaVersion } from "../db/schema-guard";
import type { Alarms } from "../features/alarms/alarms";
import { lockForServer } from "../installation";
import { ObjectStoreError } from "../object-store/object-store";
import type { RunningServer } from "../server";
import { VERSION } from "../version";
import { type ControlAnswer, type ControlCommand, listenForCommands } from "./commands";
import { SNAPSHOT_LEVEL } from "./follow/log-fetcher";
import {
  createLeader,
  describeOther,
  freePrefix,
  hasLeaseEnded,
  holdLease,
  isRecordOf,
  type Leader,
  type LeaderRecord,
  type Lease,
  ownFacts,
  prefixOf,
  readLeader,
  type SeenRecord,
  watchRecord,
  writeInTerm,
  writeLeader,
} from "./leader";
import { levelPrefix } from "./log/replication";
import { restoreLog } from "./log/restore";
import {
  findReplicaFile,
  fleetFolder,
  type FleetNode,
  nodeName,
  readNode,
  replicaFolder,
} from "./node";
import { explainSuperseded, startPrimary } from "./primary/primary";
import type { RunningReplica } from "./replica/serve";
import { checkRestore, RESTORE_CHECK, startNightlyCheck } from "./restore-check";
import { findWrongClock, type FleetStore, openFleetStore, probeStore } from "./store";
import type { UsageBatch } from "./usage";

interface NodeOptions {
  /** Shows how the server is reached. */
  announce(server: RunningServer): void;
  announceReplica(url: string): void;
  /** Resolves when the process is to end. */
  stopRequested: Promise<void>;
  isReplica: boolean;
  /** True for a replica that may be promoted. */
  isEligible: boolean;
  /** True if a node whose term has ended goes on as a replica. */
  rejoins: boolean;
}

type Role = "primary" | "replica";

/** Runs a node of a fleet, in one role after another, until it is stopped. Throws an OperatorError if it must not go on. */
export async function runNode(config: Config, options: NodeOptions): Promise<void> {
  const directory = openDataDirectory(config.dataDir);
  // Before the role is decided: another process may be changing what the decision rests on.
  const lock = lockForServer(directory);
  let node: ReturnType<typeof createRoles> | undefined;
  try {
    node = createRoles(config, options, directory);
    for (let role: Role | "stop" = await node.firstRole(); role !== "stop";) {
      role = await (role === "primary" ? node.runPrimary() : node.runReplica());
    }
  } finally {
    await node?.stop();
    lock.release();
  }
}

function createRoles(config: Config, options: NodeOptions, directory: DataDirectory) {
  const { isEligible, isReplica, stopRequested } = options;
  const folder = fleetFolder(directory);
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  /** Uses of keys that this node counted as a replica, and stores as the primary. */
  const unsent: UsageBatch[] = [];
  /** True if the first role as a replica ends at once, since its promotion was interrupted. */
  let isInterrupted = false;
  /** Resolves when the next role has begun. */
  let begun = Promise.withResolvers<Role>();
  /** Runs a command in the present role. During the start, commands wait for the first one. */
  let run = async (command: ControlCommand): Promise<ControlAnswer> => {
    await begun.promise;
    return run(command);
  };
  const control = listenForCommands(folder, async (command) => {
    try {
      return await run(command);
    } catch (error) {
      return { isDone: false, text: (error as Error).message };
    }
  });

  function begin(role: Role, runCommand: typeof run): void {
    run = runCommand;
    begun.resolve(role);
    begun = Promise.withResolvers<Role>();
  }

  /** Answers when the next role has begun, which is another one than wanted if the upload failed. */
  async function answerBegun(next: Promise<Role>, wanted: Role): Promise<ControlAnswer> {
    const name = wanted === "primary" ? "the primary" : "a replica";
    if ((await next) === wanted) return { isDone: true, text: `This node is ${name} now.` };
    return { isDone: false, text: `This node is not ${name}: the log says why.` };
  }

  async function firstRole(): Promise<Role> {
    if (!isReplica) return hasInstallation(config.dataDir) ? "primary" : roleOfEmptyDirectory();
    const eligible = isEligible ? openEligible(config, directory) : undefined;
    const place = await eligible?.findPlaceAtStart();
    if (place === "primary") return place;
    isInterrupted = place === "interrupted";
    const node = readNode(directory, systemRandom);
    if (node.term === undefined || !hasInstallation(config.dataDir)) return "replica";
    // The primary itself is no replica, which is refused because of its database.
    if (!isEligible && (await isStillPrimary({ node, store: openStore() }))) return "replica";
    // The database of an earlier term is set aside by the start as a primary.
    return "primary";
  }

  const openStore = () => openFleetStore(config, systemClock());

  function roleOfEmptyDirectory(): Promise<Role> {
    return roleWithoutDatabase({
      node: readNode(directory, systemRandom),
      store: openStore(),
      rejoins: options.rejoins,
      hasCopy: findReplicaFile(replicaFolder(directory)) !== undefined,
    });
  }

  async function runPrimary(): Promise<Role | "stop"> {
    const primary = await startPrimary(config, unsent.splice(0));
    if ("kept" in primary) {
      if (!isReplica && !options.rejoins) throw explainSuperseded(primary);
      return "replica";
    }
    const demotion = Promise.withResolvers<"demote">();
    begin("primary", async (command) => {
      if (command !== "demote") return { isDone: false, text: "This node is the primary." };
      const next = begun.promise;
      demotion.resolve("demote");
      return answerBegun(next, "replica");
    });
    options.announce(primary.server);
    const ended = primary.ended.then(
      () => "ended" as const,
      (error: unknown) => ({ error }),
    );
    const event = await Promise.race([
      ended,
      demotion.promise,
      stopRequested.then(() => "stop" as const),
    ]);
    if (event === "demote") {
      return (await primary.handOver()) ? "replica" : "primary";
    }
    if (event === "stop") await Promise.race([primary.server.drain(), ended]);
    await primary.stop();
    if (typeof event === "object") throw event.error;
    // The next start finds the later term and sets the database aside.
    return event === "ended" ? "primary" : "stop";
  }

  async function runReplica(): Promise<Role | "stop"> {
    const { startReplica } = await import("./replica/serve");
    const replica = await startReplica(config, { isEligible, stopRequested });
    if (!replica) return "stop";
    const promoted = Promise.withResolvers<Lease>();
    const eligible = isEligible ? openEligible(config, directory) : undefined;
    const watch = eligible?.watch(replica, promoted.resolve);
    const nightly = isEligible ? startNightlyRestore(replica) : undefined;
    begin("replica", async (command) => {
      if (command === "demote") return { isDone: false, text: "This node is a replica." };
      if (!watch) throw new OperatorError("Start this replica with --eligible to promote it.");
      const next = begun.promise;
      await watch.promote(command === "promote --force");
      return answerBegun(next, "primary");
    });
    options.announceReplica(replica.url);
    if (isInterrupted) {
      isInterrupted = false;
      watch
        ?.promote(true)
        .catch((error: unknown) =>
          replica.log.error({ err: error }, "the interrupted promotion could not be completed"),
        );
    }
    const event = await Promise.race([promoted.promise, stopRequested.then(() => "stop" as const)]);
    nightly?.cancel();
    watch?.stop();
    if (event === "stop") await replica.drain();
    else replica.usage.hold();
    await replica.stop();
    if (event === "stop") return event;
    unsent.push(...replica.usage.takeRest());
    removeCopy(replica.folder);
    await event.stop();
    return "primary";
  }

  return { firstRole, runPrimary, runReplica, stop: () => control.stop() };
}

/** Removes what was needed to follow: the copy is the database now. A nightly restore may still be under way. */
function removeCopy(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(RESTORE_CHECK)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Restores the log from the store each night, unless another replica has, and compares the result with this replica's database. */
function startNightlyRestore(replica: RunningReplica): Timer {
  const { clock, log, folder, following } = replica;
  const { files, litestream } = replica.store;
  const node = nodeName(replica.node);
  const { db } = following;

  /** Reads the rows of one version of the database. */
  function read() {
    const counts = countRows(db);
    const prefix = following.prefix() ?? "";
    return { prefix, txid: db.txid() ?? 0, counts };
  }

  const parts = { clock, log, store: files, node };
  return startNightlyCheck(parts, () =>
    checkRestore({ ...parts, litestream, folder, read: async () => db.read(read) }),
  );
}

/** A replica's copy of the database. */
interface PromotedCopy {
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

interface Candidate {
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
class TakenError extends OperatorError {}

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
async function hasBegun(
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

/** Longest time for applying the rest of the log, in ms, before it is restored from the store. */
const FINISH_MS = 10_000;

/** A replica's way to become the primary. */
interface EligibleWatch {
  /**
   * Promotes the replica. Without `isForced`, throws an OperatorError while the primary's lease is alive or if the
   * store does not answer.
   */
  promote(isForced: boolean): Promise<void>;
  stop(): void;
}

/** Role of a replica at the start of its process. */
type Place = "primary" | "replica" | "interrupted";

/** Alarms of a promotion: there is no database for them yet. */
const NO_ALARMS = { raise() {}, clear() {} };

/** Prepares the promotion of the replica in a data directory. */
export function openEligible(config: Config, directory: DataDirectory) {
  const clock = systemClock();
  const log = createLog(config.logLevel, redactText);
  const store = openFleetStore(config, clock);
  const node = readNode(directory, systemRandom);
  const run = Buffer.from(systemRandom(8)).toString("hex");
  const address = config.fleetAddress ?? null;
  const isAutomatic = config.failover === "automatic";

  /**
   * Returns "primary" if this node is the primary without a promotion: the first node of a new fleet with automatic
   * failover, unless it has the copy of a replica, or one whose promotion was interrupted, which is completed. Returns
   * "interrupted" if it must be promoted again with its own copy. Throws an OperatorError if the store has no conditional
   * writes.
   */
  async function findPlaceAtStart(): Promise<Place> {
    try {
      return await findPlace();
    } catch (error) {
      // A replica also starts while the store does not answer.
      if (!(error instanceof ObjectStoreError)) throw error;
      log.warn({ err: error }, "the store does not answer, so this node starts as a replica");
      return "replica";
    }
  }

  async function findPlace(): Promise<Place> {
    const hasDatabase = hasInstallation(config.dataDir);
    if (isAutomatic) await probeStore(store, { random: systemRandom, log, isAutomatic });
    const interrupted = await findInterrupted({ node, store }, hasDatabase);
    const hasCopy = findReplicaFile(replicaFolder(directory)) !== undefined;
    if (interrupted) {
      if (!interrupted.previous && hasCopy) return "interrupted";
      await completePromotion({ directory, store }, interrupted);
      return "primary";
    }
    if (!isAutomatic || hasDatabase || hasCopy || (await readLeader(store.leader))) {
      return "replica";
    }
    const claimant = { directory, node, run, address, lastTerm: 0 };
    return (await createLeader(store.leader, claimant)) === "changed" ? "replica" : "primary";
  }

  function watch(
    { following, rank }: RunningReplica,
    onPromoted: (lease: Lease) => void,
  ): EligibleWatch {
    let promoting: Promise<void> | undefined;
    /** Reason why the last attempt failed, which is logged once. */
    let failure: string | undefined;
    const candidate: Candidate = {
      directory,
      node,
      run,
      address,
      store,
      clock,
      log,
      alarms: NO_ALARMS,
      copy: {
        prefix: following.prefix,
        txid: following.txid,
        lastTerm: async () => following.db.read(() => findLastTerm(following.db, {})?.term ?? 0),
        schema: async () => following.db.read(() => readSchemaVersion(following.db)),
        finish: () => following.finish(FINISH_MS),
      },
    };

    function begin({ leader }: SeenRecord): Promise<void> {
      promoting ??= promoteReplica(candidate, leader)
        .then((lease) => {
          record.stop();
          onPromoted(lease);
        })
        .finally(() => (promoting = undefined));
      return promoting;
    }

    const record = watchRecord({
      store: store.leader,
      clock,
      log,
      node: node.id,
      rank,
      onEnded(seen) {
        if (!isAutomatic || promoting) return;
        begin(seen).catch((error: unknown) => {
          const { message } = error as Error;
          if (error instanceof TakenError) log.info("another node has become the primary");
          else if (message !== failure)
            log.error({ err: error }, "this node could not become the primary");
          failure = message;
        });
      },
    });
    return {
      async promote(isForced) {
        const seen = await record.look();
        if (!isForced && !seen.leader) {
          throw new OperatorError(
            `The store ${store.leader.name} has no record of a primary. Add --force to begin a new log there with this replica's copy.`,
          );
        }
        if (!isForced && seen.leader && !hasLeaseEnded(seen, { clock, node: node.id })) {
          throw new OperatorError(
            `The primary ${seen.leader.record.node} may be alive: it has renewed its lease within the last 15 s. Stop it and try again 15 s later, or add --force to take over now.`,
          );
        }
        await begin(seen);
      },
      stop: record.stop,
    };
  }

  return { findPlaceAtStart, watch };
}

interface EmptyDirectory {
  node: FleetNode;
  store: FleetStore;
  /** True if the node goes on as a replica when another one is the primary. */
  rejoins: boolean;
  /** True if the data directory has the copy of a replica. */
  hasCopy: boolean;
}

/**
 * Returns the role of a node that is started as a primary and has no database. It begins an empty one only if it is known
 * that the fleet has none, since replicas would follow it. Throws an OperatorError if it can be neither.
 */
export async function roleWithoutDatabase(
  directory: EmptyDirectory,
): Promise<"primary" | "replica"> {
  const { node, store, rejoins, hasCopy } = directory;
  const { name } = store.leader;
  try {
    const current = await readLeader(store.leader, node);
    if (!current && !hasCopy) return "primary";
    if (!current && rejoins) return "replica";
    if (!current) throw describeCopy(name);
    const { record } = current;
    const isFirst =
      !hasCopy && record.previous === null && (await findInterrupted(directory, false));
    if (isFirst) return "primary";
    if (rejoins) return "replica";
    if (record.node !== node.id) throw describeOther(record, name);
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    const wrongClock = findWrongClock(store.leader);
    if (wrongClock) throw wrongClock;
    if (rejoins && hasCopy) return "replica";
    throw new OperatorError(
      `${error.message} The data directory has no database, and it is not known if the fleet has one. Start this node again when the store answers.`,
      error,
    );
  }
  throw new OperatorError(
    `This node was the last primary of the fleet in ${name}, but its data directory has no database. Start it with --replica --eligible, and promote it once it follows the log.`,
  );
}

/** Returns the error of a node that would begin an empty database beside the copy of a replica. */
function describeCopy(store: string): OperatorError {
  return new OperatorError(
    `The data directory has the copy of a replica, but ${store} has no record of a primary. Start this node with --replica. If the fleet is lost, start it with --replica --eligible and run allclear promote --force.`,
  );
}

/** Returns true if the record is that of this node's last term. False while the store does not answer. */
export async function isStillPrimary({
  node,
  store,
}: Pick<EmptyDirectory, "node" | "store">): Promise<boolean> {
  try {
    const current = await readLeader(store.leader, node);
    return current !== undefined && isRecordOf(current.record, node);
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    return false;
  }
}
