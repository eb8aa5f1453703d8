import { createApp } from "../../../src/app";
import { identityHeaders } from "../../../src/base/config/identity-proxy";
import type { Db } from "../../../src/db/database";
import { SCHEMA_VERSION } from "../../../src/db/migrations";
import { unavailable } from "../../../src/base/errors";
import {
  createElsewhere,
  createForwarder,
  type Forwarder,
  showDelay,
} from "../../../src/fleet/replica/elsewhere";
import { nodeHealthRoutes } from "../../../src/fleet/health-routes";
import { listenPrivately, type NodeHandlers } from "../../../src/fleet/private-listener";
import { fleetToken } from "../../../src/fleet/store";
import { createReadiness, type Readiness } from "../../../src/http/health";
import type { Monitoring } from "../../../src/features/monitors/monitoring";
import type { Gateway } from "../../../src/http/gateway";
import { createContext } from "../../../src/installation";
import { systemRandom } from "../../../src/base/hash";
import {
  type Answer,
  type CallOptions,
  createTestApp,
  readAnswer,
  requestOf,
  type TestApp,
} from "../app";
import { createTestLog, type LogLine } from "../log";

export const FLEET_SECRET = "a fleet secret of the tests, 40 characters";

/** A primary and a replica in one process, joined by a real private listener. */
export interface ReplicaPair extends AsyncDisposable {
  primary: TestApp;
  /** Application of the replica. */
  handle: Gateway;
  /** Sends a request to the replica. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** State of the replica, which the test changes. */
  state: {
    txid: number;
    asOf: number | undefined;
    acceptsKeys: boolean;
    /** URL of the primary; undefined while none is known. */
    address: string | undefined;
    /** False once the node behind the listener is no primary. */
    isPrimary: boolean;
    /** Replaces the application behind the private listener. */
    gateway: Gateway | undefined;
  };
  /** Applies what the primary wrote: the replica reads it from now on. */
  apply(txid: number): void;
  forwarder: Forwarder;
  readiness: Readiness;
  /** Requests that the primary's application received from the replica. */
  received: Request[];
  logged: readonly LogLine[];
  listener: { port: number };
}

export async function createReplicaPair(
  options: {
    env?: Record<string, string | undefined>;
    /** An application that becomes the primary and is disposed of with the pair; by default a new one. */
    primary?: TestApp;
    /** Token of the replica; by default that of the primary. */
    token?: string;
    monitoring?: Partial<Monitoring>;
    /** Handlers of the primary's private listener. */
    handlers?: NodeHandlers;
    logLevel?: "debug" | "info";
  } = {},
): Promise<ReplicaPair> {
  const primary =
    options.primary ?? (await createTestApp({ ...(options.env && { env: options.env }) }));
  const { clock } = primary;
  const { config } = primary.ctx;
  const droppedHeaders = identityHeaders(config);
  const token = fleetToken(FLEET_SECRET);
  const received: Request[] = [];
  const state: ReplicaPair["state"] = {
    txid: 0,
    asOf: clock.now(),
    acceptsKeys: true,
    address: undefined,
    isPrimary: true,
    gateway: undefined,
  };
  const listener = listenPrivately(
    { host: "127.0.0.1", port: 0 },
    {
      token,
      gateway: () =>
        state.isPrimary
          ? (request, peer) => {
              received.push(request);
              return (state.gateway ?? primary.app.handle)(request, peer);
            }
          : undefined,
      droppedHeaders,
      handlers: options.handlers ?? {},
    },
  );
  state.address = `http://127.0.0.1:${listener.port}`;

  const { log, lines: logged } = createTestLog(options.logLevel ?? "info");
  const refuse = () => Promise.reject(unavailable("This node only reads.", 5));
  const db = Object.create(primary.ctx.db, { write: { value: refuse } }) as Db;
  const ctx = createContext({ config, db, clock, log, random: systemRandom });
  const waiters = new Set<() => void>();
  const followed: Parameters<typeof createElsewhere>[1]["followed"] = {
    txid: () => state.txid,
    asOf: () => state.asOf,
    acceptsKeys: () => state.acceptsKeys,
    waitFor: (txid, limitMs) =>
      new Promise((resolve) => {
        clock.after(limitMs, () => resolve(false));
        waiters.add(() => state.txid >= txid && resolve(true));
      }),
  };
  const forwarder = createForwarder({
    clock,
    log,
    token: options.token ?? token,
    droppedHeaders,
    primary: () => state.address,
  });
  const { monitoring } = options;
  const readiness = createReadiness();
  const plainRoutes = nodeHealthRoutes(ctx, readiness, () => ({
    role: "replica",
    term: 3,
    txid: state.txid,
    asOf: state.asOf,
    schema: SCHEMA_VERSION,
    apiProblem: state.acceptsKeys ? undefined : "Keys are not known.",
  }));
  const delay = showDelay(ctx, () => state.asOf);
  const replica = createApp(ctx, {
    readiness,
    plainRoutes,
    elsewhere: (limiter) => createElsewhere(ctx, { limiter, forwarder, followed }),
    ...(monitoring && {
      background: async () => {
        const { createIdleBackground } = await import("../../../src/background");
        return createIdleBackground(ctx, monitoring);
      },
    }),
  });

  return {
    primary,
    handle: replica.handle,
    call: async (path, given = {}) => {
      const { from = "203.0.113.7" } = given;
      const request = requestOf(ctx, path, given);
      // As in the runtime, which knows no peer of a copy.
      return readAnswer(await replica.handle(request, (of) => (of === request ? from : "")));
    },
    state,
    apply(txid) {
      state.txid = txid;
      ctx.signals.databaseChangedElsewhere.emit();
      for (const waiter of waiters) waiter();
    },
    forwarder,
    readiness,
    received,
    logged,
    listener,
    async [Symbol.asyncDispose]() {
      replica.usage.stop();
      delay.cancel();
      await listener.close();
      await primary[Symbol.asyncDispose]();
    },
  };
}
