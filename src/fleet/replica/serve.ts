import { createApp } from "../../app";
import { createIdleBackground } from "../../background";
import type { Config } from "../../base/config/options";
import { listenUrl } from "../../base/config/parse";
import type { DataDirectory } from "../../db/data-directory";
import { guardSchema } from "../../db/schema-guard";
import { guardDescriptors } from "../../descriptor-guard";
import { unavailable } from "../../base/errors";
import { createReadiness, drain } from "../../features/health/readiness";
import { createKeyUsage } from "../../features/keys/usage";
import { followSettings } from "../../features/settings/settings";
import { createContext } from "../../installation";
import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { systemRandom } from "../../base/hash";
import { SECOND_MS } from "../../base/time";
import { listen } from "../../listening";
import { VERSION } from "../../version";
import { showDelay } from "./delay";
import { createElsewhere } from "./elsewhere";
import type { FleetStore } from "../fleet-store";
import type { Following } from "../follow/follow";
import { createForwarder } from "./forward";
import { nodeHealthRoutes, type NodeState, presentNode } from "../health-routes";
import { KEYS_UNKNOWN } from "./keys-unknown";
import type { LeaderWatch } from "../leader/leader-watch";
import { postToPrimary } from "../node-client";
import { type FleetNode, nodeName } from "../node";
import type { NodeReport } from "../primary/node-report";
import { listenOnReplica } from "../private-listener";
import { readingAgain } from "./reading-again";
import { replicaMetrics } from "./metrics";
import { createRank, startReporting } from "./report";
import { whenReadable } from "./when-readable";
import { orphansFamily, watchSetAside } from "./set-aside-watch";
import { knowsKeys, useNewerKeys } from "../shared-memory";
import { createUsageSender } from "../usage";
import type { ReplicaMemory } from "../valkey/replica-memory";
import { fleetToken, NODES_PATH, USAGE_PATH } from "../wire";

const USAGE_MS = 5 * SECOND_MS;
const RETRY_AFTER_SECONDS = 5;

/** Parts of a replica that its server needs. */
interface Parts {
  config: Config;
  clock: Clock;
  log: Log;
  store: FleetStore;
  following: Following;
  leader: LeaderWatch;
  memory: ReplicaMemory | undefined;
  directory: DataDirectory;
  node: FleetNode;
  isEligible: boolean;
  secret: string;
  /** Resolves when the process is to end. */
  stopRequested: Promise<void>;
}

/** Serves what is followed, from its first version on, or three seconds later without one. Throws an OperatorError if an address cannot be used. */
export async function serveReplica(parts: Parts) {
  const {
    config,
    clock,
    log,
    store,
    following,
    leader,
    memory,
    directory,
    node,
    isEligible,
    secret,
    stopRequested,
  } = parts;
  const schema = guardSchema(following.db, log);
  const { db } = schema;
  await whenReadable(clock, following.changed, () => schema.check(), stopRequested);
  const listener = listen(config, (request, peer) => app.handle(request, peer));
  const bound = { ...config, listen: { ...config.listen, port: listener.port } };
  const ctx = createContext({ config: bound, db, clock, log, random: systemRandom });
  ctx.signals.settingsChanged.on(() => followSettings(ctx));
  let prefix: string | undefined;
  function takeIn(): void {
    schema.check();
    // Pages in memory are served on while the schema cannot be read.
    if (schema.problem()) return;
    const current = following.prefix();
    if (current !== prefix) ctx.signals.databaseReplaced.emit();
    ctx.signals.databaseChangedElsewhere.emit();
    if (prefix === undefined) followSettings(ctx);
    prefix = current;
  }
  following.changed.on(takeIn);

  useNewerKeys(ctx, memory);
  const acceptsKeys = () => knowsKeys(clock, following, leader, memory);

  function state(): NodeState {
    const txid = following.txid();
    return {
      role: "replica",
      term: leader.record()?.term,
      txid: txid === 0 ? undefined : txid,
      asOf: following.confirmed().asOf,
      schema: schema.version(),
      apiProblem: schema.problem()?.message ?? (acceptsKeys() ? undefined : KEYS_UNKNOWN),
    };
  }

  const token = fleetToken(secret);
  const primary = () => leader.record()?.address ?? undefined;
  const forwarder = createForwarder({ clock, log, token, primary });
  const run = Buffer.from(systemRandom(8)).toString("hex");
  const post = (path: string, body: unknown) =>
    postToPrimary(clock, { primary, token }, path, body);
  const sender = createUsageSender(ctx, `${node.id}-${run}`, async (batch) => {
    await post(USAGE_PATH, batch);
  });
  const usage = createKeyUsage(ctx, sender.send);
  const rank = createRank(nodeName(node));
  async function sendReport(state: NodeReport): Promise<void> {
    try {
      rank.take(await post(NODES_PATH, state));
    } catch (error) {
      log.warn({ err: error }, "the primary did not take the report of this replica; trying again");
    }
  }
  const readiness = {
    ...createReadiness(),
    probe() {
      if (schema.version() !== undefined) return;
      throw unavailable("The replica has no data yet.", RETRY_AFTER_SECONDS);
    },
  };
  const app = createApp(ctx, {
    usage,
    readiness,
    plainRoutes: nodeHealthRoutes(ctx, readiness, state),
    wrap: (contexts, handle) => readingAgain(db, contexts, handle),
    shareLimits: memory?.shareLimits,
    elsewhere: (limiter) =>
      createElsewhere(ctx, {
        limiter,
        forwarder,
        followed: {
          txid: following.txid,
          waitFor: following.waitFor,
          asOf: () => following.confirmed().asOf,
          acceptsKeys,
        },
      }),
    background: async () => createIdleBackground(ctx, memory?.monitoring),
  });
  app.metrics.add(...replicaMetrics(state, following.state, forwarder, clock.now));
  if (memory) app.metrics.add(...memory.metrics);
  // The first version was announced before: it is taken in within the turn in which it was found.
  if (schema.version() !== undefined) takeIn();
  const guard = guardDescriptors(listener, ctx);
  const name = nodeName(node);
  const setAside = watchSetAside({ clock, log, directory, node: name }, (work) =>
    db.read(() => work(db)),
  );
  app.metrics.add(orphansFamily(setAside));
  const timers: Timer[] = [
    setAside,
    showDelay(ctx, () => following.confirmed().asOf),
    // Sends again what the primary did not take.
    clock.every(USAGE_MS, () => void sender.send([])),
    startReporting(clock, following.changed, report, sendReport),
  ];
  function report(): NodeReport {
    const { txid, as_of: _, lag_seconds: lagSeconds, schema } = presentNode(state(), clock.now());
    const clockSkewMs = store.leader.clockSkewMs() ?? null;
    return {
      node: name,
      isEligible,
      run,
      version: VERSION,
      schema,
      txid,
      lagSeconds,
      clockSkewMs,
      setAside: setAside.list(),
    };
  }

  const status = () => ({ node: node.id, version: VERSION, ...presentNode(state(), clock.now()) });
  const forNodes = listenOnReplica(config, token, status);
  await app.loadPages();

  return {
    url: listenUrl(bound.listen),
    usage: sender,
    rank: rank.get,
    drain: () => drain({ clock, config, log }, readiness),
    async stop() {
      readiness.isDraining = true;
      guard.stop();
      for (const timer of timers) timer.cancel();
      await Promise.all([listener.stop(), forNodes?.stop()]);
      usage.stop();
      await usage.flush();
    },
  };
}
