import { type App, type AppOptions, createApp } from "./app";
import type { Background, Simulation } from "./background";
import type { Timer } from "./base/clock";
import { type Config, usesFleet } from "./base/config/options";
import { listenUrl } from "./base/config/parse";
import type { Ctx } from "./context";
import type { MetricFamily } from "./features/metrics/metrics";
import type { Monitoring } from "./features/monitors/monitoring";
import { followSettings, readPublicAddress } from "./features/settings/settings";
import type { FirstRun } from "./first-run";
import type { FleetDependencies, PrimaryParts, RunningFleet } from "./fleet/fleet";
import type { Gateway } from "./http/gateway";
import { drain } from "./http/health";
import { type Installation, openForServer } from "./installation";
import { guardDescriptors, listen } from "./listening";

const FOREIGN_CHANGES_POLL_MS = 500;

export interface RunningServer extends FirstRun {
  /** URL of the server on this machine. */
  url: string;
  monitoring: Monitoring;
  /** Waits for the setting `drainSeconds`, in which the server answers and is not ready. */
  drain(): Promise<void>;
  /** Waits for requests in progress, writes buffered data, and closes the database. */
  stop(): Promise<void>;
}

/** Parts of a server that a demo or a fleet replaces. */
interface Replacements extends Simulation {
  /** Changes each answer. */
  decorate?: (answer: Response | Promise<Response>) => Promise<Response>;
  installation?: Installation;
  app?: Omit<AppOptions, "background">;
  /** Parts of the primary of a fleet. */
  primary?: PrimaryParts;
  metrics?: readonly MetricFamily[];
}

/**
 * Opens the installation, migrates, and listens. Throws an OperatorError for problems that the
 * operator can solve.
 */
export async function startServer(
  configAtStart: Config,
  {
    decorate,
    app: appOptions,
    installation = openForServer(configAtStart),
    metrics = [],
    primary,
    ...simulation
  }: Replacements = {},
): Promise<RunningServer> {
  const { ctx, migration, directory } = installation;
  const { log } = ctx;
  // Watched before the first request, so that no cached value misses a change by another process.
  const foreign = watchForeignChanges(ctx);
  try {
    if (migration?.copy) {
      log.info({ ...migration }, "the database was copied before it was migrated");
    }
    let app: App | undefined;
    let fleet: RunningFleet | undefined;
    let requests = 0;
    const handle: Gateway = (request, peer) => {
      requests += 1;
      const answer = (app as App).handle(request, peer);
      if (decorate) return decorate(answer);
      return fleet ? fleet.hold(request, answer) : answer;
    };
    const listener = listen(configAtStart, handle);
    // With port 0 the port is known only now. Nothing was awaited since, so no request was handled.
    const bound = { ...configAtStart, listen: { ...configAtStart.listen, port: listener.port } };
    const url = listenUrl(bound.listen);
    ctx.config = bound;
    followSettings(ctx);
    // The first listener, so that the others find the settings applied.
    ctx.signals.settingsChanged.on(() => followSettings(ctx));
    const loading = Promise.withResolvers<Background>();
    app = createApp(ctx, { ...appOptions, background: () => loading.promise });
    // Health checks are answered from here on. Other requests wait for the code that they need.
    await nextTurn();
    const guard = guardDescriptors(listener, ctx);
    const forReplicas = bound.fleetListen
      ? (await import("./fleet/private-listener")).listenForReplicas(ctx, handle, primary?.handlers)
      : undefined;
    const { visits } = await app.loadPages();
    await nextTurn();
    foreign.begin();
    const { startBackground } = await import("./background");
    const background = startBackground(
      ctx,
      listener,
      {
        requests: () => requests,
        lastUnreachableAt: guard.lastUnreachableAt,
        alarms: primary?.alarms,
      },
      simulation,
    );
    app.metrics.add(...background.metrics, ...metrics);
    const { alarms, egress } = background;
    fleet = await startFleet(ctx, { app, egress, alarms, primary });
    if (fleet) app.metrics.add(...fleet.metrics);
    loading.resolve({ ...background, fleet: fleet ?? { alarms } });

    const { storeFirstRun } = await import("./first-run");
    const firstRun = await storeFirstRun(ctx);
    warnAboutAddress(ctx);
    warnAboutSignIn(ctx);
    if (bound.identityProxy.length > 0) {
      (await import("./http/identity-proxy")).announceIdentityProxy(ctx);
    }
    log.info({ url, base_url: ctx.baseUrl, data: directory.path }, "listening");

    const { readiness, usage } = app;
    return {
      url,
      monitoring: background.monitoring,
      ...firstRun,
      drain: () => drain(ctx, readiness),
      async stop() {
        readiness.isDraining = true;
        foreign.cancel();
        guard.stop();
        const answered = Promise.all([listener.stop(), forReplicas?.stop()]);
        // Requests in progress can still make a page private, which leaves the mirror before their answer.
        const fleetStopped = answered.then(() => fleet?.stop());
        await Promise.all([background.stop(answered), fleetStopped]);
        usage.stop();
        await Promise.all([usage.flush(), visits.flush()]);
        installation.close();
        const [isBrokenOff] = await answered;
        if (isBrokenOff) log.warn("requests in progress were broken off after ten seconds");
        log.info("stopped");
      },
    };
  } catch (error) {
    foreign.cancel();
    installation.close();
    throw error;
  }
}

/** Starts the parts for more than one machine; undefined if none is set up. */
async function startFleet(ctx: Ctx, deps: FleetDependencies): Promise<RunningFleet | undefined> {
  if (!usesFleet(ctx.config) && !deps.primary) return undefined;
  return (await import("./fleet/fleet")).startFleet(ctx, deps);
}

/** Waits for a turn of the event loop, so that pending requests are handled. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * Signals commits by other processes, such as commands, within half a second. `begin` reads the versions of earlier
 * changes, so that a commit emits only its own signals. It takes a millisecond: call it once health checks are answered.
 */
function watchForeignChanges(ctx: Ctx): Timer & { begin(): void } {
  const atStart = ctx.db.foreignVersion();
  let version: number | undefined;
  function takeIn(current: number): void {
    try {
      ctx.signals.databaseChangedElsewhere.emit();
      version = current;
    } catch (error) {
      ctx.log.error({ err: error }, "a change by another process was not taken in; trying again");
    }
  }
  const poll = ctx.clock.every(FOREIGN_CHANGES_POLL_MS, () => {
    const current = ctx.db.foreignVersion();
    if (current !== version) takeIn(current);
  });
  return { begin: () => takeIn(atStart), cancel: () => poll.cancel() };
}

function warnAboutSignIn({ config, log }: Ctx): void {
  const { oidcIssuer: issuer, identityProxy, localSignIn } = config;
  if (issuer?.startsWith("http:")) {
    log.warn({ issuer }, "the provider for signing in is reached without HTTPS");
  }
  if (issuer === undefined && identityProxy.length === 0 && localSignIn === "owners") {
    log.warn(
      "ALLCLEAR_LOCAL_SIGN_IN=owners without a provider or an identity proxy: only owners can sign in",
    );
  }
}

function warnAboutAddress({ baseUrl, config, db, log }: Ctx): void {
  const isLocal = config.listen.host === "127.0.0.1" || config.listen.host === "::1";
  const isSet = config.baseUrl !== undefined || readPublicAddress(db) !== undefined;
  if (isSet || isLocal) return;
  log.warn(`no public address is set, so links are built from ${baseUrl}; set ALLCLEAR_BASE_URL`);
}
