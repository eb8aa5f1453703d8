/*
 * Parts of a server for more than one machine. Loaded only if one of them is set up:
 *
 * - `run-node.ts`: a node in one role after another, and the way from replica to primary,
 * - `node.ts`, `store.ts`, `leader.ts`: its local state, the store, the record of the primary there and its lease,
 * - `log/`: Litestream, which uploads the log of the database, its audit and its restore,
 * - `primary/`: acknowledgement of writes, the registry of nodes, alarms and metrics of the primary,
 * - `replica/`: serving and forwarding; `follow/`: the copy of the database that a replica reads,
 * - `commands.ts`: parts of `allclear promote`, `demote`, `fleet` and `restore --from-store`,
 * - `valkey/`: limits, revoked keys and attempts that nodes share; `cdn.ts`: caching and purging.
 */
import type { App } from "../app";
import type { Ctx } from "../context";
import type { Egress } from "../egress/egress";
import type { Alarms } from "../features/alarms/alarms";
import type { Fleet, FleetState } from "../features/alarms/fleet";
import type { MetricFamily } from "../features/metrics/metrics";
import type { Position } from "../mirror/files";
import type { RunningMirror } from "../mirror/mirror";
import type { NodeHandlers } from "./private-listener";

export interface RunningFleet extends Fleet {
  metrics: readonly MetricFamily[];
  /** Delays the answer to a form of the dashboard until pages that it took away have left the mirror and the CDN. */
  hold: Hold;
  /** Stops the parts. Called once no request is in progress. */
  stop(): Promise<void>;
}

/** Returns the answer to a request, which it may delay. */
type Hold = (
  request: Request,
  answer: Response | Promise<Response>,
) => Response | Promise<Response>;

/** Path of a form of the dashboard in a URL. */
const DASHBOARD = /^[a-z]+:\/\/[^/]*\/admin\//;

/** Delays the answers to forms of the dashboard until these places are left by pages that are deleted or private now. */
export function holdForms(places: readonly { left(): Promise<void> | undefined }[]): Hold {
  return (request, answer) => {
    if (request.method !== "POST" || !DASHBOARD.test(request.url)) return answer;
    return Promise.resolve(answer).then(async (response) => {
      // The change is done and answered in any case.
      await Promise.all(places.map((place) => place.left()?.catch(() => {})));
      return response;
    });
  };
}

/** Parts of the server that the parts here use. */
export interface FleetDependencies {
  app: Pick<App, "addresses" | "loadPages">;
  egress: Egress;
  alarms: Alarms;
  /** Parts of the primary of a fleet; undefined on one machine. */
  primary?: PrimaryParts | undefined;
}

/** Parts that only the primary of a fleet has. */
export interface PrimaryParts {
  alarms: Alarms;
  nodes(): FleetState;
  /** Returns the term and the newest uploaded transaction; undefined before they are known. */
  position(): Position | undefined;
  /** Resolves once all nodes serve what was committed before the call. */
  whenApplied(): Promise<void>;
  /** Handlers of the private listener, such as `GET /fleet/v1/status`. */
  handlers: NodeHandlers;
}

/** Starts the parts that are set up. */
export async function startFleet(
  ctx: Ctx,
  { app, egress, alarms, primary }: FleetDependencies,
): Promise<RunningFleet> {
  const { addresses } = app;
  const mirror = await startConfiguredMirror(ctx, app, alarms, primary);
  const cdn =
    ctx.config.cdn === undefined
      ? undefined
      : (await import("./cdn")).startCdn(ctx, {
          alarms,
          egress,
          addresses,
          ...(primary && { whenApplied: primary.whenApplied }),
        });
  return {
    alarms,
    hold: holdForms([mirror, cdn].filter((place) => place !== undefined)),
    ...(mirror && { mirror: mirror.state }),
    ...(cdn && { cdn: cdn.state }),
    ...(primary && { nodes: primary.nodes }),
    metrics: mirror?.metrics ?? [],
    async stop() {
      await Promise.all([mirror?.stop(), cdn?.stop()]);
    },
  };
}

/** Starts the mirror of the configuration; undefined without one. */
async function startConfiguredMirror(
  ctx: Ctx,
  app: Pick<App, "loadPages">,
  alarms: Alarms,
  primary: PrimaryParts | undefined,
): Promise<RunningMirror | undefined> {
  const { mirror: address, mirrorKeyId: keyId, mirrorSecret: secret } = ctx.config;
  if (!address) return undefined;
  const { openObjectStore } = await import("../object-store/open");
  const { startMirror } = await import("../mirror/mirror");
  const { snapshots, readIncidents } = await app.loadPages();
  const credentials = keyId === undefined || secret === undefined ? undefined : { keyId, secret };
  const store = openObjectStore(address, credentials, {
    clock: ctx.clock,
    ca: ctx.config.caFile?.pem,
  });
  return startMirror({
    ctx,
    snapshots,
    readIncidents,
    store,
    alarms,
    ...(primary && { position: primary.position }),
  });
}
