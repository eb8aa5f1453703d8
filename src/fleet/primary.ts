import type { Acknowledge, AppOptions } from "../app";
import type { Config } from "../config";
import type { AppContext } from "../context";
import { OperatorError } from "../db";
import { lockOrExplain } from "../db/data-directory";
import { SCHEMA_VERSION } from "../db/migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../db/open";
import { createAlarms } from "../features/alarms";
import { createReadiness } from "../features/health";
import { type Installation, openForServer } from "../installation";
import { type RunningServer, startServer } from "../server";
import { createAcknowledge } from "./acknowledge";
import { openFleetStore } from "./fleet-store";
import { type NodeState, nodeHealthRoutes } from "./health-routes";
import { notPrimary } from "./lease";
import { KEYS_UNKNOWN, keysUnknown } from "./keys-unknown";
import { readNode, writeNode } from "./node";
import { primaryMetrics } from "./primary-metrics";
import { createPrimaryship, type Primaryship } from "./primaryship";
import { setDatabaseAside } from "./set-aside";

/** A node whose earlier term has ended: its database has another name now. */
export interface Superseded {
  /** Path of the database that was set aside. */
  kept: string;
  /** Id of the node that is the primary now. */
  by: string;
}

export interface RunningPrimary {
  server: RunningServer;
  primaryship: Primaryship;
  /** Resolves when another node has become the primary. Rejects if this node must not go on. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the primary of a fleet. Resolves to `Superseded` if another node has begun a later term: its database is set
 * aside. Until the store answers, only reads are served.
 */
export async function startPrimary(config: Config): Promise<RunningPrimary | Superseded> {
  const installation = openForServer(config, { leavesLog: true });
  let primaryship: Primaryship | undefined;
  try {
    const { ctx, directory } = installation;
    const node = readNode(directory, ctx.random);
    const alarms = createAlarms(ctx);
    const store = openFleetStore(config, ctx.clock);
    primaryship = createPrimaryship({ ctx, alarms, directory, node, store });
    const { isHeld } = primaryship;
    ctx.isPrimary = isHeld;
    ctx.db.guard(() => (isHeld() ? undefined : notPrimary()));
    const claim = await primaryship.begin();
    if (claim?.kind === "superseded") {
      await primaryship.stop();
      return setAside(config, installation, claim.term, claim.by.node);
    }
    const server = await startServer(config, {
      // Closed below, once the log is uploaded.
      installation: { ...installation, close() {} },
      app: {
        ...primaryParts(ctx, primaryship),
        acknowledge: acknowledgeWith(primaryship, config, installation),
      },
      metrics: primaryMetrics(primaryship),
    });
    const { ended, stop } = primaryship;
    return {
      server,
      primaryship,
      ended,
      async stop() {
        await server.stop();
        await alarms.stop();
        ctx.db.close();
        await stop();
        installation.close();
      },
    };
  } catch (error) {
    await primaryship?.stop();
    installation.close();
    throw error;
  }
}

/** Health checks of the primary, and the refusal of keys while another node may have revoked them. */
function primaryParts(ctx: AppContext, primaryship: Primaryship): AppOptions {
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
      mark() {},
    }),
  };
}

function acknowledgeWith(
  primaryship: Primaryship,
  { ack }: Config,
  { ctx }: Installation,
): Acknowledge {
  const isLocal = ack === "local";
  return createAcknowledge(ctx.db, async () => {
    if (!primaryship.isHeld()) throw notPrimary();
    return isLocal ? "local" : primaryship.waitForUpload();
  });
}

/** Closes the installation and gives the database of the term another name. */
function setAside(
  config: Config,
  installation: Installation,
  term: number,
  by: string,
): Superseded {
  const { ctx, directory } = installation;
  installation.close();
  const lock = lockOrExplain(directory, "serve");
  try {
    // The last connection moves the log into the database when it is closed.
    closeSqlite(openSqlite(directory.database, COMMAND_BUSY_TIMEOUT_MS));
    const kept = setDatabaseAside(directory, term);
    writeNode(directory, { ...readNode(directory, ctx.random), term: undefined });
    return { kept, by };
  } finally {
    lock.release();
  }
}

/** Returns the message for a node whose term has ended. */
export function explainSuperseded({ kept, by }: Superseded): OperatorError {
  return new OperatorError(
    `The primary is ${by} now. The database of this node's earlier term is kept in ${kept}; its changes are not merged. Start this node with --replica, or with --rejoin to do so by itself.`,
  );
}
