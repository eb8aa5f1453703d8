import { createApp } from "../../app";
import { createIdleBackground } from "../../background";
import { type Clock, systemClock, type Timer } from "../../base/clock";
import { identityHeaders } from "../../base/config/identity-proxy";
import type { Config } from "../../base/config/options";
import { listenUrl } from "../../base/config/parse";
import { unavailable } from "../../base/errors";
import { systemRandom } from "../../base/hash";
import { createLog, deduplicateLog, type Log } from "../../base/log";
import { redactText } from "../../base/redaction";
import type { Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";
import { type DataDirectory, hasInstallation, openDataDirectory } from "../../db/data-directory";
import { OperatorError } from "../../db/errors";
import type { FollowedDb } from "../../db/followed-database";
import { guardSchema } from "../../db/schema-guard";
import { guardDescriptors, listen } from "../../listening";
import { createReadiness, drain } from "../../http/health";
import { createKeyUsage } from "../../features/keys/usage";
import type { MetricFamily } from "../../features/metrics/metrics";
import { followSettings } from "../../features/settings/settings";
import type { Handle } from "../../http/route-table";
import { createContext } from "../../installation";
import { ObjectStoreError } from "../../object-store/object-store";
import { VERSION } from "../../version";
import type { Following } from "../follow/follow";
import { findReplicaFile, type FleetNode, nodeName, readNode, replicaFolder } from "../node";
import {
  fleetFamily,
  KEYS_UNKNOWN,
  nodeHealthRoutes,
  type NodeState,
  presentNode,
  roleFamily,
} from "../health-routes";
import { type LeaderWatch, readLeader, watchLeader } from "../leader";
import { requireLitestream } from "../log/replication";
import { postToPrimary } from "../node-client";
import { type NodeReport, REPORT_MS, type ReportAnswer } from "../primary/nodes";
import { listenOnReplica } from "../private-listener";
import { knowsKeys, openForReplica, useNewerKeys } from "../shared-memory";
import {
  checkClock,
  type FleetStore,
  fleetToken,
  NODES_PATH,
  openFleetStore,
  USAGE_PATH,
} from "../store";
import { createUsageSender, type UsageSender } from "../usage";
import type { ReplicaMemory } from "../valkey/nodes";
import { createElsewhere, createForwarder, type Forwarder, showDelay } from "./elsewhere";
import { followLeader, orphansFamily, watchSetAside } from "./follow-leader";

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
async function serveReplica(parts: Parts) {
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
  // Behind an identity proxy, the dashboard must reach the primary without a replica.
  const droppedHeaders = identityHeaders(ctx.config);
  const forwarder = createForwarder({ clock, log, token, droppedHeaders, primary });
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
    wrap: (handle) => readingAgain(db, handle),
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

export interface RunningReplica {
  /** URL of the server on this machine. */
  url: string;
  clock: Clock;
  log: Log;
  directory: DataDirectory;
  /** Folder of the followed database. */
  folder: string;
  node: FleetNode;
  store: FleetStore;
  following: Following;
  leader: LeaderWatch;
  /** Returns the number of replicas that may become the primary and have newer copies. */
  rank(): number;
  /** Uses of keys that wait for the primary. */
  usage: Pick<UsageSender, "hold" | "takeRest">;
  /** Waits for the setting `drainSeconds`, in which the server answers and is not ready. */
  drain(): Promise<void>;
  /** Waits for requests in progress, sends what was counted, and ends the copy of the database. */
  stop(): Promise<void>;
}

/**
 * Starts a replica: it reads a copy of the primary's database and sends changes to the primary. Resolves to undefined if
 * the process is to end before the primary is known. Throws an OperatorError if the data directory has a database of
 * its own. The caller has locked the data directory.
 */
export async function startReplica(
  config: Config,
  { isEligible, stopRequested }: { isEligible: boolean; stopRequested: Promise<void> },
): Promise<RunningReplica | undefined> {
  const { fleetSecret: secret } = config;
  if (!config.fleetStore) throw new OperatorError("--fleet-store is required with --replica.");
  if (secret === undefined) {
    throw new OperatorError("ALLCLEAR_FLEET_SECRET is required with --replica.");
  }
  const directory = openDataDirectory(config.dataDir);
  requireNoDatabase(directory, config);
  const clock = systemClock();
  const log = deduplicateLog(createLog(config.logLevel, redactText), clock, redactText);
  const stops: (() => unknown)[] = [() => log.flush()];
  let memory: ReplicaMemory | undefined;
  try {
    const store = openFleetStore(config, clock);
    await requireLitestream(store.litestream.program);
    await checkClock(store, log);
    const folder = replicaFolder(directory);
    // Without a copy there is nothing to serve until the record can be read.
    if (!findReplicaFile(folder)) await requireReadable(store);
    const leader = watchLeader(store.leader, { clock, log });
    stops.unshift(() => leader.stop());
    const node = readNode(directory, systemRandom);
    const hasHints = () => memory?.hasHints(leader.record()?.term) ?? false;
    const following = await followLeader(store, leader, {
      folder,
      node: node.id,
      clock,
      log,
      hasHints,
      stopRequested,
    });
    if (!following) {
      await stopAll(stops);
      return undefined;
    }
    stops.unshift(() => following.stop());
    memory = await openForReplica({ config, clock, log, node: node.id }, following);
    if (memory) stops.unshift(() => memory?.stop());
    const own = { directory, node, isEligible, memory, secret, stopRequested };
    const server = await serveReplica({ config, clock, log, store, following, leader, ...own });
    stops.unshift(() => server.stop());
    log.info({ url: server.url, node: node.id, data: directory.path }, "listening as a replica");
    const { stop: _, ...served } = server;
    const parts = { clock, log, directory, folder, node, store, following, leader, ...served };
    return { ...parts, stop: () => stopAll(stops) };
  } catch (error) {
    await stopAll(stops);
    throw error;
  }
}

/** Throws the OperatorError of a record that this node refuses. A store that does not answer says nothing. */
async function requireReadable({ leader: store }: FleetStore): Promise<void> {
  try {
    await readLeader(store);
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
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

/** Runs a handler again, for a quarter of a second at most, while a transaction is being applied. */
function readingAgain(db: Pick<FollowedDb, "read">, handle: Handle): Handle {
  // A body can be read once. The replica's own handlers of such requests do not need the database.
  return (call) => (call.request.body ? handle(call) : db.read(() => handle(call)));
}

/** Time for which the port of a replica without data stays closed after its start. */
const CLOSED_MS = 3 * SECOND_MS;

/**
 * Resolves once a replica can read its data, after three seconds, or when the process is to end. A load balancer sends
 * no visitors to a closed port, but to one that answers 503 until its next health check. `check` throws while the data
 * cannot be read.
 */
export async function whenReadable(
  clock: Clock,
  changed: Pick<Signal<void>, "on">,
  check: () => void,
  stopRequested: Promise<void>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();

  function look(): void {
    try {
      check();
      resolve();
    } catch {
      // The next version may be readable.
    }
  }

  const stop = changed.on(look);
  const timer = clock.after(CLOSED_MS, resolve);
  look();
  try {
    await Promise.race([promise, stopRequested]);
  } finally {
    stop();
    timer.cancel();
  }
}

/** Shortest time between two reports. */
const PROGRESS_MS = SECOND_MS;

/**
 * Sends the state of a replica to the primary every 5 seconds, and within a second after `changed`, one report after
 * the other. A report that does not arrive is not repeated. `post` rejects in time if there is no answer.
 */
export function startReporting(
  clock: Clock,
  changed: Pick<Signal<void>, "on">,
  report: () => NodeReport,
  post: (report: NodeReport) => Promise<void>,
): Timer {
  let isSending = false;
  let progress: Timer | undefined;

  function send(): void {
    progress?.cancel();
    progress = undefined;
    if (isSending) return sendSoon();
    isSending = true;
    const end = () => void (isSending = false);
    void post(report()).then(end, end);
  }

  function sendSoon(): void {
    progress ??= clock.after(PROGRESS_MS, send);
  }

  const stop = changed.on(sendSoon);
  const timer = clock.every(REPORT_MS, send);
  return {
    cancel() {
      stop();
      progress?.cancel();
      timer.cancel();
    },
  };
}

/** Position of a replica among those that may become the primary. */
interface Rank {
  /** Takes the primary's answer to a report. */
  take(answer: string): void;
  /** Returns 0 for the newest copy in the last answer. A replica that it lacks is after all others. */
  get(): number;
}

/** Creates the rank of a node by its name. It is 0 before the first answer. */
export function createRank(name: string): Rank {
  let candidates: readonly string[] = [];
  return {
    take(answer) {
      // A primary of an earlier version answers with an empty body.
      const given = answer === "" ? undefined : (JSON.parse(answer) as Partial<ReportAnswer>);
      if (Array.isArray(given?.candidates)) candidates = given.candidates;
    },
    get() {
      const position = candidates.indexOf(name);
      return position === -1 ? candidates.length : position;
    },
  };
}

/** Returns the metrics of a replica. */
function replicaMetrics(
  state: () => NodeState,
  figures: () => { unsettled: number; restarts: number },
  forwarder: Forwarder,
  now: () => number,
): MetricFamily[] {
  return [
    roleFamily("replica", () => true),
    fleetFamily("gauge", "term", "Term of the primary.", () => state().term ?? 0),
    fleetFamily("gauge", "txid", "Last transaction that is applied.", () => state().txid ?? 0),
    fleetFamily("gauge", "lag_seconds", "Seconds since the data was the newest.", () => {
      const { asOf } = state();
      return asOf === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now() - asOf) / 1_000;
    }),
    fleetFamily(
      "counter",
      "unsettled_total",
      "Reads that found a transaction half applied and were repeated.",
      () => figures().unsettled,
    ),
    fleetFamily(
      "counter",
      "follower_restarts_total",
      "Starts of the process that applies the log, after the first.",
      () => figures().restarts,
    ),
    {
      name: "allclear_fleet_forwards_total",
      help: "Requests that were sent to the primary, by outcome.",
      type: "counter",
      labelNames: ["outcome"],
      read: () =>
        Object.entries(forwarder.counts()).map(([outcome, value]) => ({
          labels: { outcome },
          value,
        })),
    },
  ];
}
