import type { Acknowledge } from "../../app";
import type { Config } from "../../base/config/options";
import { OperatorError } from "../../db/errors";
import { openDataDirectory } from "../../db/data-directory";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../../db/open";
import { createAlarms } from "../../features/alarms/alarms";
import { type Installation, openForServer } from "../../installation";
import type { RandomBytes } from "../../base/hash";
import { type RunningServer, startServer } from "../../server";
import { createAcknowledge } from "./acknowledge";
import { openFleetStore } from "../fleet-store";
import { notPrimary } from "../leader/lease";
import { fleetFolder, readNode, writeNode } from "../node";
import { primaryMetrics } from "./metrics";
import { appOptionsOf, createPrimaryParts } from "./parts";
import { createPrimaryship, type Primaryship } from "./primaryship";
import { endLeftoverReplication } from "../log/replication";
import { setDatabaseAside } from "./set-aside";
import { openForPrimary } from "../shared-memory";
import type { UsageBatch } from "../usage";
import { storeUsageBatch } from "../usage-routes";
import type { PrimaryMemory } from "../valkey/primary-memory";

/** Longest upload of a changed key, in ms. */
const UPLOAD_MS = 10_000;

/** A node whose earlier term has ended: its database has another name now. */
export interface Superseded {
  /** Path of the database that was set aside. */
  kept: string;
  /** Id of the node that is the primary now. */
  by: string;
}

export interface RunningPrimary {
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
        acknowledge: acknowledgeWith(primary, config, installation, memory),
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
): Acknowledge {
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
