/*
 * The right of a node to be the primary: its term with the upload of the log, what tells that changes are uploaded, and
 * the search for another process with the same identity.
 */
import type { Clock, Timer } from "../../base/clock";
import type { NewId } from "../../base/ids";
import type { Log } from "../../base/log";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { DataDirectory } from "../../db/data-directory";
import type { Db } from "../../db/database";
import { OperatorError } from "../../db/errors";
import type { Txid } from "../../db/followed-database";
import { findLastTerm, insertTerm } from "../../db/schema-guard";
import type { Alarms } from "../../features/alarms/alarms";
import { type ObjectStore, ObjectStoreError } from "../../object-store/object-store";
import { fetchFleetStatus } from "../commands";
import {
  type Claim,
  claimLeadership,
  holdLease,
  isRecordOf,
  type LeaderRecord,
  type LeaderStore,
  type Lease,
  notPrimary,
  readLeader,
} from "../leader";
import { type Replication, requireLitestream, startReplication } from "../log/replication";
import { requireNewestState, watchLog } from "../log/restore";
import { fleetFolder, type FleetNode } from "../node";
import { readRestoreCheck, type RestoreCheck } from "../restore-check";
import { type FleetStore, fleetToken, probeStore } from "../store";

/** Pause before the store is asked again, if it does not answer at the start. */
const AGAIN_MS = 5_000;

/** Longest upload before the primary hands over, in ms. */
const RELEASE_MS = 10_000;

/** A node's time as the primary: its lease, its upload and the acknowledgement of its writes. */
export interface Primaryship {
  /** Id of this process. */
  readonly run: string;
  /** Takes the lease. Resolves to undefined if the store does not answer; it is then asked again and again. */
  begin(): Promise<Claim | undefined>;
  isHeld(): boolean;
  /** The leader record; undefined until the store has answered. */
  record(): LeaderRecord | undefined;
  leftMs(): number;
  /** Waits until all that is committed is in the store, for two seconds at most. Rejects if this node is no longer the primary. */
  waitForUpload(): Promise<Uploaded>;
  /** Waits like `waitForUpload` until the row with an id is in the store; at once if it is known to be. */
  waitForRow(id: string): Promise<void>;
  /** Uploads all that is committed. Resolves to the last transaction. Rejects after `limitMs`. */
  upload(limitMs: number): Promise<number>;
  /** Hands over: uploads everything, and lets any eligible replica take the record at once. */
  release(): Promise<void>;
  figures(): PrimaryFigures;
  /** Resolves when another node has become the primary. Rejects if this node must not go on. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

interface PrimaryFigures {
  /** Last uploaded transaction. */
  txid: number;
  localWrites: number;
  restarts: number;
}

interface Dependencies {
  ctx: Ctx;
  alarms: Alarms;
  directory: DataDirectory;
  node: FleetNode;
  store: FleetStore;
}

export function createPrimaryship(deps: Dependencies): Primaryship {
  const { ctx, alarms, directory, node, store } = deps;
  const { clock, config, log } = ctx;
  const isAutomatic = config.failover === "automatic";
  const run = Buffer.from(ctx.random(8)).toString("hex");
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  let lease: Lease | undefined;
  let replication: Replication | undefined;
  let acknowledgement: Acknowledgement | undefined;
  let logWatch: ReturnType<typeof watchLog> | undefined;
  let again: Timer | undefined;
  /** A claim that was begun later than the start, and what follows it. */
  let claiming: Promise<void> | undefined;
  let isStopped = false;
  // A failure before anything waits for it is thrown by `begin`.
  ended.catch(() => {});

  async function claim(): Promise<Claim> {
    await probeStore(store, { random: ctx.random, log, isAutomatic });
    const own = { store: store.leader, node, run };
    await requireOnlyProcess(clock, config.fleetSecret ?? "", own);
    await requireNewestState({ directory, node, store });
    const lastTerm = findLastTerm(ctx.db, {})?.term ?? 0;
    const claimant = { directory, node, run, address: config.fleetAddress ?? null, lastTerm };
    const claimed = await claimLeadership(store.leader, clock, claimant);
    if (claimed.kind === "held") await hold(claimed);
    return claimed;
  }

  async function hold({ leader, writtenAt }: Extract<Claim, { kind: "held" }>): Promise<void> {
    const held = holdLease(
      { store: store.leader, clock, log, alarms, isAutomatic },
      leader,
      writtenAt,
    );
    lease = held;
    held.lost.on(() => {
      const own = { store: store.leader, node, run };
      findCopied(own).then(
        (copied) => (copied ? fail(copied) : end()),
        () => end(),
      );
    });
    held.regained.on(() => log.warn("this node is the primary again"));
    await writeTerm(leader.record);
    replication = await startReplication(
      {
        clock,
        log,
        litestream: store.litestream,
        database: directory.database,
        folder: fleetFolder(directory),
      },
      leader.record.prefix,
    );
    acknowledgement = createAcknowledgement({ ctx, clock, lease: held, replication, alarms });
    logWatch = watchLog({ clock, log, alarms, lease: held, replication, store });
    log.info({ term: leader.record.term, node: node.id }, "this node is the primary");
  }

  /** Stores the term, unless an earlier start has done so. */
  async function writeTerm({ term, previous }: LeaderRecord): Promise<void> {
    if ((findLastTerm(ctx.db, {})?.term ?? 0) >= term) return;
    const row = { term, previousTxid: previous?.txid ?? null, at: clock.now(), by: node.id };
    await ctx.db.write((tx) => insertTerm(tx, row));
  }

  async function begin(): Promise<Claim | undefined> {
    await requireLitestream(store.litestream.program);
    try {
      return await claim();
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      waitForStore(error);
      return undefined;
    }
  }

  function waitForStore(error: Error): void {
    alarms.raise(
      "lease_renewal",
      `The server serves reads only until it is known which node is the primary. ${error.message}`,
    );
    if (isStopped) return;
    again = clock.after(AGAIN_MS, () => {
      claiming = claim().then(
        (claimed) => {
          alarms.clear("lease_renewal");
          if (claimed.kind === "superseded") end();
          else ctx.db.recovered.emit();
        },
        (failure: unknown) => {
          if (failure instanceof ObjectStoreError) waitForStore(failure);
          else fail(failure);
        },
      );
    });
  }

  return {
    run,
    begin,
    isHeld: () => lease?.isHeld() ?? false,
    record: () => lease?.record,
    leftMs: () => lease?.leftMs() ?? 0,
    async waitForUpload() {
      if (!acknowledgement) throw new Error("nothing is uploaded yet");
      return acknowledgement.wait();
    },
    async waitForRow(id) {
      if (!acknowledgement) throw new Error("nothing is uploaded yet");
      await acknowledgement.waitForRow(id);
    },
    async upload(limitMs) {
      if (!replication) throw new Error("nothing is uploaded yet");
      return replication.sync(limitMs);
    },
    async release() {
      if (!lease || !replication) throw new Error("nothing is uploaded yet");
      await replication.sync(RELEASE_MS);
      if (!(await lease.change({ released: true }))) throw notPrimary();
    },
    figures: () => ({
      txid: replication?.lastTxid ?? 0,
      localWrites: acknowledgement?.localWrites ?? 0,
      restarts: replication?.restarts ?? 0,
    }),
    ended,
    async stop() {
      isStopped = true;
      again?.cancel();
      // It may take the lease and start Litestream, which end below.
      await claiming;
      await logWatch?.stop();
      await lease?.stop();
      await replication?.stop();
    },
  };
}

/** Silence from which a process counts as ended. */
const GONE_MS = 30 * SECOND_MS;

/**
 * Number of changes from one process to the other after which both are alive. A report of an ended process that arrives
 * late makes two.
 */
const CHANGES = 3;

/** Processes that report with one identity. */
interface Runs {
  first: string;
  second: string | undefined;
  last: string;
  changes: number;
  /** Monotonic time of the last report of the first. */
  seenAt: number;
}

/**
 * Returns a function that takes each report's node and process. It returns true for the later one of two processes that
 * report with one identity in turn. The data directory of a node was copied then. A node that was started again has
 * one process, since its former one never reports again.
 */
export function createRunWatch(clock: Pick<Clock, "monotonic">) {
  const nodes = new Map<string, Runs>();

  return function isCopy(node: string, run: string): boolean {
    const now = clock.monotonic();
    const runs = nodes.get(node);
    if (!runs || (run !== runs.first && run !== runs.second)) {
      const first = runs?.last ?? run;
      const second = runs && run;
      const seenAt = runs && first === runs.first ? runs.seenAt : now;
      nodes.set(node, { first, second, last: run, changes: 0, seenAt });
      return false;
    }
    if (run !== runs.last) runs.changes += 1;
    runs.last = run;
    if (run === runs.first) {
      runs.seenAt = now;
      return false;
    }
    if (now - runs.seenAt <= GONE_MS) return runs.changes >= CHANGES;
    nodes.set(node, { first: run, second: undefined, last: run, changes: 0, seenAt: now });
    return false;
  };
}

/** Interval at which the last result is read, and time after the start in which the replicas have reported. */
const LOOK_MS = 10 * MINUTE_MS;
const FIRST_MS = MINUTE_MS;
/** Age from which the last result is too old. */
const OLD_MS = 26 * HOUR_MS;

interface Watch {
  clock: Clock;
  log: Log;
  store: ObjectStore;
  alarms: {
    raise(kind: "restore_test", detail: string): void;
    clear(kind: "restore_test"): void;
  };
  /** True if a node may check. */
  hasEligible(): boolean;
}

/** Raises an alarm on the primary if the last check failed or is older than 26 hours. */
export function watchRestoreCheck({ clock, log, store, alarms, hasEligible }: Watch): Timer {
  /** Time since which a node may check; undefined while none may. */
  let eligibleSince: number | undefined;

  async function look(): Promise<void> {
    try {
      updateAlarm(await readRestoreCheck(store));
    } catch (error) {
      // Other alarms are about a store that does not answer.
      log.debug({ err: error }, "the result of the nightly restore could not be read");
    }
  }

  function updateAlarm(last: RestoreCheck | undefined): void {
    const now = clock.now();
    eligibleSince = hasEligible() ? (eligibleSince ?? now) : undefined;
    if (last && last.error !== null) {
      alarms.raise("restore_test", `${toIso(last.at)}: ${last.error}`);
      return;
    }
    if (eligibleSince === undefined || now - (last?.at ?? eligibleSince) <= OLD_MS) {
      alarms.clear("restore_test");
      return;
    }
    const success = last && `The last restore that worked was at ${toIso(last.at)}.`;
    alarms.raise("restore_test", success ?? "The log in the fleet store was never restored.");
  }

  // An alarm of an earlier process ends if it is not raised again within 7 minutes.
  const timers = [
    clock.after(FIRST_MS, () => void look()),
    clock.every(LOOK_MS, () => void look()),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Longest wait of a write for the store. */
const WAIT_MS = 2_000;
/** Pause between two attempts of a round. */
const PAUSE_MS = 100;

/** Last uploaded transaction; undefined if what was committed is on this machine only. */
export type Uploaded = Txid | undefined;

interface Acknowledgement {
  /**
   * Waits until all that is committed is uploaded, and the leader record was read afterwards and is this process's own.
   * Resolves to the last uploaded transaction, or to undefined if the store does not answer within two seconds. Rejects
   * with `unavailable` if another node is the primary: the write may be missing there.
   */
  wait(): Promise<Uploaded>;
  /**
   * Waits until the row with an id is in the store, for two seconds at most. Does not wait if a round has begun since
   * the row was committed and has succeeded, or if the store has not answered for two seconds since. Rejects with
   * `unavailable` if another node is the primary.
   */
  waitForRow(id: string): Promise<void>;
  /** Writes that were acknowledged without an upload. */
  readonly localWrites: number;
}

/** Beginning of a round. What was committed before is in the store once the round has succeeded. */
interface Beginning {
  /** Sorts after the ids that this process had created. They are committed in the turn in which they are created. */
  order: string;
  /** Changes with each commit of another process, whose ids may be older than their commit. */
  foreignVersion: number;
}

interface AcknowledgementDependencies {
  ctx: { newId: NewId; db: Pick<Db, "foreignVersion"> };
  clock: Clock;
  lease: Lease;
  replication: Replication;
  alarms: Pick<Alarms, "raise" | "clear">;
}

/** Acknowledges writes. One round serves all that wait when it begins; those that come later share the next one. */
export function createAcknowledgement({
  ctx,
  clock,
  lease,
  replication,
  alarms,
}: AcknowledgementDependencies): Acknowledgement {
  let running: Promise<Uploaded> | undefined;
  let next: Promise<Uploaded> | undefined;
  let localWrites = 0;
  /** Beginning of the newest round, and of the newest one that has succeeded. */
  let begun: Beginning | undefined;
  let uploaded: Beginning | undefined;
  /** Sorts after the ids for which the store has not answered in time. Empty once it has answered. */
  let overdueOrder = "";

  /** Resolves once all is uploaded and the record is this process's own, or to undefined after the time limit. */
  async function round(): Promise<Uploaded> {
    const beginning = {
      order: orderOf(ctx.newId("dlv")),
      foreignVersion: ctx.db.foreignVersion(),
    };
    begun = beginning;
    const until = clock.monotonic() + WAIT_MS;
    for (let leftMs = WAIT_MS; leftMs > 0; leftMs = until - clock.monotonic()) {
      try {
        const { prefix } = replication;
        const txid = await replication.sync(leftMs);
        const record = await lease.confirm();
        if (!record) throw notPrimary();
        // Nobody would read what was uploaded to another prefix.
        if (record.prefix === prefix && replication.prefix === prefix) {
          uploaded = beginning;
          overdueOrder = "";
          return txid;
        }
      } catch (error) {
        if (!lease.isHeld()) throw error;
      }
      await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve));
    }
    return undefined;
  }

  /** Joins a round that has not begun yet. */
  function join(): Promise<Uploaded> {
    next ??= (running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        next = undefined;
        running = round().finally(() => (running = undefined));
        return running;
      });
    return next;
  }

  function isBefore(id: string, beginning: Beginning | undefined): boolean {
    return (
      beginning !== undefined &&
      orderOf(id) < beginning.order &&
      ctx.db.foreignVersion() === beginning.foreignVersion
    );
  }

  /** Returns the first round that uploads a row. If the running one fails, that is the next one. */
  function roundFor(id: string): Promise<Uploaded> {
    if (!running || !isBefore(id, begun)) return join();
    return running.then((txid) => txid ?? join());
  }

  /** Resolves to undefined if a round has not succeeded within the time limit. */
  async function inTime(begin: () => Promise<Uploaded>): Promise<Uploaded> {
    lease.requireHeld();
    const { promise: overdue, resolve } = Promise.withResolvers<Uploaded>();
    const timer = clock.after(WAIT_MS, () => resolve(undefined));
    let txid: Uploaded;
    try {
      const joined = begin();
      // Its error is that of the lease, which is tested below.
      joined.catch(() => {});
      txid = await Promise.race([joined, overdue]);
      lease.requireHeld();
    } catch {
      throw notPrimary();
    } finally {
      timer.cancel();
    }
    if (txid === undefined) {
      alarms.raise(
        "durability_local",
        `The fleet store has not answered within ${WAIT_MS / 1_000} s, so writes are on one machine only.`,
      );
    } else alarms.clear("durability_local");
    return txid;
  }

  return {
    async wait() {
      const txid = await inTime(join);
      if (txid === undefined) localWrites += 1;
      return txid;
    },
    async waitForRow(id) {
      lease.requireHeld();
      if (isBefore(id, uploaded) || orderOf(id) < overdueOrder) return;
      const order = orderOf(ctx.newId("dlv"));
      const txid = await inTime(() => roundFor(id));
      // Else each of the connections for mails would send one in two seconds until the store answers.
      if (txid === undefined && order > overdueOrder) overdueOrder = order;
    },
    get localWrites() {
      return localWrites;
    },
  };
}

/** Returns the part of an id that sorts by creation time, also among objects of different kinds. */
function orderOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

interface OwnProcess {
  store: LeaderStore;
  node: FleetNode;
  /** Id of this process. */
  run: string;
}

/**
 * Throws an OperatorError if a primary with this node's identity answers at the address of the leader record. The data
 * directory of this node was copied then. After an ordinary stop nothing answers there.
 */
export async function requireOnlyProcess(
  clock: Clock,
  secret: string,
  { store, node, run }: OwnProcess,
): Promise<void> {
  const record = (await readLeader(store, node))?.record;
  const address = record && isRecordOf(record, node) ? record.address : null;
  if (!record || address === null) return;
  const status = await fetchFleetStatus(clock, address, fleetToken(secret)).catch(() => undefined);
  // While the store does not answer, this process listens before it knows its role.
  if (!status || status.run === run) return;
  // Another program may have the address by now.
  const nodes: unknown = status.nodes;
  const isOwn =
    Array.isArray(nodes) &&
    status.nodes.some(({ isSelf, name }) => isSelf && name.endsWith(`/${node.id}`));
  if (isOwn) throw describeCopied(record);
}

/** Returns the error of a primary whose record another process with its identity has taken; undefined otherwise. */
async function findCopied({ store, node, run }: OwnProcess): Promise<OperatorError | undefined> {
  const record = (await readLeader(store, node))?.record;
  return record && isRecordOf(record, node) && record.run !== run
    ? describeCopied(record)
    : undefined;
}

function describeCopied({ node, address }: LeaderRecord): OperatorError {
  const place = address === null ? "" : ` at ${address}`;
  return new OperatorError(
    `Another process${place} is the primary with the identity of this node, ${node}: the data directory was copied. Only one of the two may run. Start the other with --replica and an empty data directory.`,
  );
}
