import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { AppOptions } from "../../app";
import type { Config } from "../../base/config/options";
import type { RandomBytes } from "../../base/hash";
import { describeStore } from "../../base/store-address";
import type { Ctx } from "../../context";
import { type DataDirectory, openDataDirectory } from "../../db/data-directory";
import type { Db } from "../../db/database";
import { moveCompanions, syncFile } from "../../db/database-files";
import { OperatorError } from "../../db/errors";
import { formatTxid } from "../../db/followed-database";
import { SCHEMA_VERSION } from "../../db/migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../../db/open";
import { type Alarms, createAlarms } from "../../features/alarms/alarms";
import { type FleetState, readUndismissed } from "../../features/alarms/fleet";
import { createReadiness } from "../../http/health";
import type { MetricFamily } from "../../features/metrics/metrics";
import type { RequestContext } from "../../http/request-context";
import type { Handle } from "../../http/route-table";
import { type Installation, openForServer } from "../../installation";
import { type RunningServer, startServer } from "../../server";
import { VERSION } from "../../version";
import type { FleetStatus } from "../commands";
import type { PrimaryParts } from "../fleet";
import { KEYS_UNKNOWN, keysUnknown, nodeHealthRoutes, type NodeState } from "../health-routes";
import { notPrimary } from "../leader";
import { endLeftoverReplication } from "../log/replication";
import { fleetFolder, type FleetNode, nodeName, readNode, writeNode } from "../node";
import { orphansFamily, watchSetAside } from "../replica/follow-leader";
import { openForPrimary } from "../shared-memory";
import { type FleetStore, NODES_PATH, openFleetStore } from "../store";
import { storeUsageBatch, type UsageBatch } from "../usage";
import type { Valkey } from "../valkey/client";
import type { PrimaryMemory } from "../valkey/nodes";
import { createNodeRegistry, type NodeReport, primaryMetrics } from "./nodes";
import {
  createPrimaryship,
  type Primaryship,
  type Uploaded,
  watchRestoreCheck,
} from "./primaryship";

/** Longest upload of a changed key, in ms. */
const UPLOAD_MS = 10_000;

/** A node whose earlier term has ended: its database has another name now. */
interface Superseded {
  /** Path of the database that was set aside. */
  kept: string;
  /** Id of the node that is the primary now. */
  by: string;
}

interface RunningPrimary {
  server: RunningServer;
  /** Resolves when another node has become the primary. Rejects if this node must not go on. */
  ended: Promise<void>;
  stop(): Promise<void>;
  /**
   * Stops, uploads everything, sets the database aside, and lets any eligible replica become the primary. Resolves to
   * false if the upload fails: this node is still the primary, and must be started again.
   */
  handOver(): Promise<boolean>;
}

/**
 * Starts the primary of a fleet, and stores the uses of keys that the node counted as a replica. Resolves to
 * `Superseded` if another node has begun a later term: its database is set aside. Until the store answers, only reads are
 * served. The caller has locked the data directory.
 */
export async function startPrimary(
  config: Config,
  unsent: readonly UsageBatch[] = [],
): Promise<RunningPrimary | Superseded> {
  const installation = openForServer(config, { leavesLog: true, isLocked: true });
  let created: Primaryship | undefined;
  let memory: PrimaryMemory | undefined;
  try {
    const { ctx, directory } = installation;
    const node = readNode(directory, ctx.random);
    const alarms = createAlarms(ctx);
    const store = openFleetStore(config, ctx.clock);
    const primary = createPrimaryship({ ctx, alarms, directory, node, store });
    created = primary;
    const { isHeld } = primary;
    ctx.isPrimary = isHeld;
    ctx.db.guard(() => (isHeld() ? undefined : notPrimary()));
    const claim = await primary.begin();
    if (claim?.kind === "superseded") {
      await primary.stop();
      await alarms.stop();
      installation.close();
      return { kept: await setAside(config, ctx.random), by: claim.by.node };
    }
    memory = await openForPrimary({ ctx, alarms, node: node.id }, primary);
    const parts = createPrimaryParts({
      ctx,
      alarms,
      directory,
      node,
      store,
      primaryship: primary,
      valkey: memory?.valkey,
    });
    ctx.attempts = memory?.attempts;
    if (config.ack !== "local") ctx.waitToSend = createWaitToSend(primary);
    ctx.findNodesBehind = memory?.findNodesBehind;
    const server = await startServer(config, {
      // Closed below, once the log is uploaded.
      installation: { ...installation, close() {} },
      app: {
        ...appOptionsOf(ctx, primary),
        wrap: acknowledgeWith(primary, config, installation, memory),
        shareLimits: memory?.shareLimits,
      },
      metrics: [...primaryMetrics(primary), ...parts.metrics, ...(memory?.metrics ?? [])],
      primary: parts,
    });
    memory?.applyHeartbeats(server.monitoring);
    for (const batch of unsent) {
      storeUsageBatch(ctx, batch).catch((error: unknown) =>
        ctx.log.warn({ err: error }, "the use of keys before the promotion could not be stored"),
      );
    }
    // A key that a command revoked is uploaded as early as one that was revoked here.
    ctx.signals.keysChanged.on(() => void primary.upload(UPLOAD_MS).catch(() => {}));
    async function close(): Promise<void> {
      await primary.stop();
      installation.close();
    }
    async function stopServer(): Promise<void> {
      await server.stop();
      parts.stop();
      await memory?.stop();
      await alarms.stop();
      ctx.db.close();
    }
    return {
      server,
      ended: primary.ended,
      async stop() {
        await stopServer();
        await close();
      },
      async handOver() {
        await stopServer();
        const failure = await primary.release().then(
          () => undefined,
          (error: unknown) => ({ error }),
        );
        if (failure) ctx.log.error({ err: failure.error }, "the primary could not hand over");
        await close();
        if (!failure) await setAside(config, ctx.random);
        return !failure;
      },
    };
  } catch (error) {
    await memory?.stop();
    await created?.stop();
    installation.close();
    throw error;
  }
}

function acknowledgeWith(
  primaryship: Primaryship,
  { ack }: Config,
  { ctx }: Installation,
  memory: PrimaryMemory | undefined,
): (handle: Handle) => Handle {
  const isLocal = ack === "local";
  return createAcknowledge(ctx.db, async () => {
    if (!primaryship.isHeld()) throw notPrimary();
    if (isLocal) return undefined;
    const txid = await primaryship.waitForUpload();
    memory?.hint();
    return txid;
  });
}

/** Creates the function that waits until a row is uploaded. Attempts whose row another primary may lack do not begin. */
function createWaitToSend(primaryship: Primaryship): (id: string) => Promise<boolean> {
  return (id) =>
    primaryship.waitForRow(id).then(
      () => true,
      () => false,
    );
}

/** Gives the closed database of an ended term another name, and returns its path. */
async function setAside(config: Config, random: RandomBytes): Promise<string> {
  const directory = openDataDirectory(config.dataDir);
  // That of a process which was killed would go on with the file.
  await endLeftoverReplication({ database: directory.database, folder: fleetFolder(directory) });
  // The last connection moves the log into the database when it is closed.
  closeSqlite(openSqlite(directory.database, COMMAND_BUSY_TIMEOUT_MS));
  const node = readNode(directory, random);
  const kept = setDatabaseAside(directory, node.term ?? 0);
  writeNode(directory, { ...node, term: undefined });
  return kept;
}

/** Returns the message for a node whose term has ended. */
export function explainSuperseded({ kept, by }: Superseded): OperatorError {
  return new OperatorError(
    `The primary is ${by} now. The database of this node's earlier term is kept in ${kept}; its changes are not merged. Start this node with --replica, or with --rejoin to do so by itself.`,
  );
}

/** Longest upload that a purge waits for, in ms. */
const PARTS_UPLOAD_MS = 3_000;

/** Health checks of the primary, and the refusal of keys while another node may have revoked them. */
function appOptionsOf(ctx: Ctx, primaryship: Primaryship): AppOptions {
  const readiness = createReadiness();
  const { isHeld } = primaryship;
  const state = (): NodeState => ({
    role: isHeld() ? "primary" : "replica",
    term: primaryship.record()?.term,
    txid: primaryship.figures().txid || undefined,
    asOf: isHeld() ? ctx.clock.now() : undefined,
    schema: SCHEMA_VERSION,
    apiProblem: isHeld() ? undefined : KEYS_UNKNOWN,
  });
  return {
    readiness,
    plainRoutes: nodeHealthRoutes(ctx, readiness, state),
    elsewhere: () => ({
      answer: ({ match }) =>
        match.route?.operation.access.kind === "key" && !isHeld() ? keysUnknown() : undefined,
      catchUp: () => undefined,
    }),
  };
}

interface Dependencies {
  ctx: Ctx;
  directory: DataDirectory;
  alarms: Alarms;
  node: FleetNode;
  store: FleetStore;
  primaryship: Primaryship;
  /** Undefined without --valkey. */
  valkey: Pick<Valkey, "name" | "isAvailable"> | undefined;
}

/** Knows the replicas of the primary. `stop` ends the checks of them. */
export function createPrimaryParts(
  deps: Dependencies,
): PrimaryParts & { metrics: readonly MetricFamily[]; stop(): void } {
  const { ctx, alarms, directory, node, store, primaryship, valkey } = deps;
  const { clock, db, log } = ctx;
  const name = nodeName(node);
  const setAside = watchSetAside({ clock, log, directory, node: name }, (work) => work(db));
  const own = (): NodeReport => {
    const { txid } = primaryship.figures();
    return {
      node: name,
      isEligible: true,
      version: VERSION,
      schema: SCHEMA_VERSION,
      txid: txid === 0 ? null : formatTxid(txid),
      lagSeconds: null,
      clockSkewMs: store.leader.clockSkewMs() ?? null,
      setAside: setAside.list(),
    };
  };
  const registry = createNodeRegistry({ clock, alarms, readUndismissed: undismissed }, own);

  function undismissed(): ReturnType<typeof readUndismissed> {
    try {
      return readUndismissed(db);
    } catch (error) {
      log.debug({ err: error }, "dismissed events of earlier terms could not be read");
      return ({ events }) => events > 0;
    }
  }

  const watch = watchRestoreCheck({
    clock,
    log,
    store: store.files,
    alarms,
    hasEligible: () =>
      registry.list().some(({ role, isEligible }) => role === "replica" && isEligible),
  });
  const { failover, ack, fleetStore } = ctx.config;
  const nodes = (): FleetState => ({
    term: primaryship.record()?.term,
    store: fleetStore ? describeStore(fleetStore) : "",
    failover,
    ack,
    valkey: valkey && { address: valkey.name, isAvailable: valkey.isAvailable() },
    nodes: registry.list(),
    orphans: registry.orphans(),
  });
  return {
    alarms,
    nodes,
    metrics: [orphansFamily(setAside)],
    position() {
      const term = primaryship.record()?.term;
      const { txid } = primaryship.figures();
      return term === undefined || txid === 0 ? undefined : { term, txid: formatTxid(txid) };
    },
    async whenApplied() {
      // The number of a transaction is known once it is in the store.
      await registry.whenApplied(await primaryship.upload(PARTS_UPLOAD_MS));
    },
    handlers: {
      [`POST ${NODES_PATH}`]: registry.take,
      [`GET ${NODES_PATH}`]: () => {
        const status: FleetStatus = {
          ...nodes(),
          alarms: alarms.list(),
          run: primaryship.run,
        };
        return Response.json(status);
      },
    },
    stop() {
      registry.stop();
      watch.cancel();
      setAside.cancel();
    },
  };
}

/** Header of an answer to a write that is on one machine only. */
const DURABILITY_HEADER = "Allclear-Durability";

/** Header of an answer to a write that is in the store: a transaction that contains it. */
const TXID_HEADER = "Allclear-Txid";

/** Paths whose writes never wait: they begin and end sessions. */
const SESSION_PATHS: ReadonlySet<string> = new Set([
  "/admin/sign-in",
  "/admin/sign-in/code",
  "/admin/sign-out",
]);

/**
 * Creates what runs in place of a handler: it holds an answer back until `wait` resolves, if its request has changed something, or
 * repeats the answer to a change, which is read in a transaction. Other answers, refused requests and the results of
 * checks do not wait.
 */
export function createAcknowledge(
  db: Pick<Db, "changes">,
  wait: () => Promise<Uploaded>,
): (handle: Handle) => Handle {
  return (handle) => (call) => {
    const { method } = call.request;
    const isRead = method === "GET" || method === "HEAD";
    if (isRead || neverWaits(call.requestContext)) return handle(call);
    return (async () => {
      const before = db.changes;
      const response = await handle(call);
      if (response.status >= 400 || db.changes === before) return response;
      const txid = await wait();
      if (txid === undefined) response.headers.set(DURABILITY_HEADER, "local");
      else response.headers.set(TXID_HEADER, formatTxid(txid));
      return response;
    })();
  };
}

function neverWaits({ caller, route }: RequestContext): boolean {
  return caller.kind === "job" || SESSION_PATHS.has(route?.path ?? "");
}

/**
 * Gives the database of an earlier term another name, such as `allclear.db.term-6`, and returns its path. The caller
 * holds the lock of the data directory.
 */
function setDatabaseAside({ database }: DataDirectory, term: number): string {
  const name = `${database}.term-${term}`;
  let kept = name;
  for (let number = 2; existsSync(kept); number++) kept = `${name}-${number}`;
  // The log has its new name first: a database without its log would lack its newest changes.
  moveCompanions(database, kept);
  renameSync(database, kept);
  syncFile(dirname(database));
  return kept;
}
