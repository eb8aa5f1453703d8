import { join } from "node:path";
import { createApp } from "../app";
import { createIdleBackground } from "../background";
import { type Config, listenUrl } from "../config";
import { OperatorError } from "../db";
import {
  type DataDirectory,
  hasInstallation,
  lockOrExplain,
  openDataDirectory,
} from "../db/data-directory";
import { guardSchema } from "../db/schema-guard";
import { guardDescriptors } from "../descriptor-guard";
import { redactText } from "../domain/redact";
import { unavailable } from "../errors";
import { createReadiness } from "../features/health";
import { createKeyUsage } from "../features/keys";
import { followSettings } from "../features/settings";
import { createContext } from "../installation";
import { type Clock, systemClock } from "../kernel/clock";
import { createLog, type Log } from "../kernel/log";
import { deduplicateLog } from "../kernel/log-dedup";
import { systemRandom } from "../kernel/random";
import { SECOND_MS } from "../kernel/time";
import { listen } from "../listening";
import { VERSION } from "../version";
import { showDelay } from "./delay";
import { createElsewhere } from "./elsewhere";
import { type FleetStore, openFleetStore } from "./fleet-store";
import type { Following } from "./follow/follow";
import { followLeader } from "./follow-leader";
import { createForwarder } from "./forward";
import { nodeHealthRoutes, type NodeState, presentNode } from "./health-routes";
import { KEYS_UNKNOWN } from "./keys-unknown";
import { type LeaderWatch, watchLeader } from "./leader-watch";
import { requireLitestream } from "./litestream";
import { fleetFolder, readNode } from "./node";
import { listenOnReplica } from "./private-listener";
import { readingAgain } from "./reading-again";
import { replicaMetrics } from "./replica-metrics";
import { knowsKeys, openForReplica, useNewerKeys } from "./shared-memory";
import { createUsageSender, postUsage } from "./usage";
import type { ReplicaMemory } from "./valkey/replica-memory";
import { fleetToken } from "./wire";

const USAGE_MS = 5 * SECOND_MS;
const RETRY_AFTER_SECONDS = 5;

export interface RunningReplica {
  /** URL of the server on this machine. */
  url: string;
  directory: DataDirectory;
  store: FleetStore;
  following: Following;
  leader: LeaderWatch;
  /** Waits for requests in progress, sends what was counted, and ends the copy of the database. */
  stop(): Promise<void>;
}

/**
 * Starts a replica: it reads a copy of the primary's database and sends changes to the primary. Throws an
 * OperatorError if the data directory has a database of its own.
 */
export async function startReplica(config: Config): Promise<RunningReplica> {
  const { fleetSecret: secret } = config;
  if (!config.fleetStore) throw new OperatorError("--fleet-store is required with --replica.");
  if (secret === undefined) {
    throw new OperatorError("ALLCLEAR_FLEET_SECRET is required with --replica.");
  }
  const directory = openDataDirectory(config.dataDir);
  requireNoDatabase(directory, config);
  const lock = lockOrExplain(directory, "serve");
  const clock = systemClock();
  const log = deduplicateLog(createLog(config.logLevel, redactText), clock, redactText);
  const stops: (() => unknown)[] = [() => log.flush(), () => lock.release()];
  let memory: ReplicaMemory | undefined;
  try {
    const store = openFleetStore(config, clock);
    await requireLitestream(store.litestream.program);
    const leader = watchLeader(store.leader, { clock, log });
    stops.unshift(() => leader.stop());
    const folder = join(fleetFolder(directory), "replica");
    const node = readNode(directory, systemRandom);
    const hasHints = () => memory?.hasHints(leader.record()?.term) ?? false;
    const following = await followLeader(store, leader, {
      folder,
      node: node.id,
      clock,
      log,
      hasHints,
    });
    stops.unshift(() => following.stop());
    memory = await openForReplica({ config, clock, log, node: node.id }, following);
    if (memory) stops.unshift(() => memory?.stop());
    const parts = { config, clock, log, following, leader, memory, nodeId: node.id, secret };
    const server = await serveReplica(parts);
    stops.unshift(() => server.stop());
    log.info({ url: server.url, node: node.id, data: directory.path }, "listening as a replica");
    return { url: server.url, directory, store, following, leader, stop: () => stopAll(stops) };
  } catch (error) {
    await stopAll(stops);
    throw error;
  }
}

async function stopAll(stops: readonly (() => unknown)[]): Promise<void> {
  for (const stop of stops) await stop();
}

function requireNoDatabase(directory: DataDirectory, config: Config): void {
  if (!hasInstallation(config.dataDir)) return;
  throw new OperatorError(
    `The data directory ${directory.path} has a database of its own. A replica needs a directory without one: name another with --data-dir.`,
  );
}

interface Parts {
  config: Config;
  clock: Clock;
  log: Log;
  following: Following;
  leader: LeaderWatch;
  memory: ReplicaMemory | undefined;
  nodeId: string;
  secret: string;
}

/** Serves what is followed. Throws an OperatorError if an address cannot be used. */
async function serveReplica(parts: Parts) {
  const { config, clock, log, following, leader, memory, nodeId, secret } = parts;
  const schema = guardSchema(following.db, log);
  const { db } = schema;
  const listener = listen(config, (request, peer) => app.handle(request, peer));
  const bound = { ...config, listen: { ...config.listen, port: listener.port } };
  const ctx = createContext({ config: bound, db, clock, log, random: systemRandom });
  ctx.signals.settingsChanged.on(() => followSettings(ctx));
  let prefix: string | undefined;
  following.changed.on(() => {
    schema.check();
    // Pages in memory are served on while the schema cannot be read.
    if (schema.problem()) return;
    const { prefix: current } = following.state();
    if (current !== prefix) ctx.signals.databaseReplaced.emit();
    ctx.signals.databaseChangedElsewhere.emit();
    if (prefix === undefined) followSettings(ctx);
    prefix = current;
  });

  useNewerKeys(ctx, memory);
  const acceptsKeys = () => knowsKeys(clock, following, leader, memory);

  function state(): NodeState {
    const { txid, asOf } = following.state();
    return {
      role: "replica",
      term: leader.record()?.term,
      txid: txid === 0 ? undefined : txid,
      asOf,
      schema: schema.version(),
      apiProblem: schema.problem()?.message ?? (acceptsKeys() ? undefined : KEYS_UNKNOWN),
    };
  }

  const token = fleetToken(secret);
  const primary = () => leader.record()?.address ?? undefined;
  const forwarder = createForwarder({ clock, log, token, primary });
  const run = Buffer.from(systemRandom(8)).toString("hex");
  const sender = createUsageSender(ctx, `${nodeId}-${run}`, (batch) =>
    postUsage(ctx, { primary, token }, batch),
  );
  const usage = createKeyUsage(ctx, sender.send);
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
          txid: () => following.state().txid,
          waitFor: following.waitFor,
          asOf: () => following.state().asOf,
          acceptsKeys,
        },
      }),
    background: async () => createIdleBackground(ctx, memory?.monitoring),
  });
  app.metrics.add(...replicaMetrics(state, following.state, forwarder, clock.now));
  if (memory) app.metrics.add(...memory.metrics);
  const guard = guardDescriptors(listener, ctx);
  const timers = [
    showDelay(ctx, () => following.state().asOf),
    // Sends again what the primary did not take.
    clock.every(USAGE_MS, () => void sender.send([])),
  ];
  const status = () => ({ node: nodeId, version: VERSION, ...presentNode(state(), clock.now()) });
  const forNodes = listenOnReplica(config, token, status);
  await app.loadPages();

  return {
    url: listenUrl(bound.listen),
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
