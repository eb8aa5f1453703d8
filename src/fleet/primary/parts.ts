import type { AppOptions } from "../../app";
import type { Ctx } from "../../context";
import type { DataDirectory } from "../../db/data-directory";
import { formatTxid } from "../../db/followed-database";
import { SCHEMA_VERSION } from "../../db/migrations";
import { describeStore } from "../../base/store-address";
import type { Alarms } from "../../features/alarms/alarms";
import { type FleetState, readUndismissed } from "../../features/alarms/fleet";
import { createReadiness } from "../../features/health/readiness";
import type { MetricFamily } from "../../features/metrics/metrics";
import { VERSION } from "../../version";
import type { FleetStore } from "../fleet-store";
import { type NodeState, nodeHealthRoutes } from "../health-routes";
import type { PrimaryParts } from "..";
import { KEYS_UNKNOWN, keysUnknown } from "../replica/keys-unknown";
import { type FleetNode, nodeName } from "../node";
import { createNodeRegistry } from "./node-registry";
import type { NodeReport } from "./node-report";
import type { Primaryship } from "./primaryship";
import type { FleetStatus } from "../commands/status";
import { watchRestoreCheck } from "./restore-check-watch";
import { orphansFamily, watchSetAside } from "../replica/set-aside-watch";
import type { Valkey } from "../valkey/client";
import { NODES_PATH } from "../wire";

/** Longest upload that a purge waits for, in ms. */
const PARTS_UPLOAD_MS = 3_000;

/** Health checks of the primary, and the refusal of keys while another node may have revoked them. */
export function appOptionsOf(ctx: Ctx, primaryship: Primaryship): AppOptions {
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
