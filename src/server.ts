import { type App, createApp } from "./app";
import { type Config, listenUrl } from "./config";
import type { AppContext } from "./context";
import { guardDescriptors } from "./descriptor-guard";
import { createEgress } from "./egress";
import { Problem } from "./errors";
import { createBackups } from "./features/backups";
import { startMaintenanceClock } from "./features/maintenance";
import { checkFamilies, deliveryFamilies } from "./features/metrics";
import { createMonitoring, startRollUps } from "./features/monitors";
import { createSamplePage } from "./features/sample";
import { followSettings, readPublicAddress } from "./features/settings";
import { readHeadline } from "./features/status";
import { issueSetUpLink, linkPath } from "./features/users";
import { createLoadThrottle, startDelivering } from "./features/webhooks";
import { startHousekeeping } from "./housekeeping";
import { openForServer } from "./installation";
import type { Timer } from "./kernel/clock";
import { DRAIN_MS, listen } from "./listening";

const FOREIGN_CHANGES_POLL_MS = 500;

interface RunningServer {
  /** URL of the server on this machine. */
  url: string;
  /** Secret link for creating the first user, valid for an hour; undefined once a user exists. */
  setUpUrl: string | undefined;
  /** Set-up link once changes can be stored; undefined if they could be stored at the start. */
  laterSetUpUrl: Promise<string | undefined> | undefined;
  /** Waits for requests in progress, writes buffered data, and closes the database. */
  stop(): Promise<void>;
}

/**
 * Opens the installation, migrates, and listens. Throws an OperatorError for problems that the
 * operator can solve.
 */
export async function startServer(configAtStart: Config): Promise<RunningServer> {
  const installation = openForServer(configAtStart);
  const { ctx, migration, directory } = installation;
  const { log } = ctx;
  // Watched before the first request, so that no cached value misses a change by another process.
  const poll = watchForeignChanges(ctx);
  try {
    if (migration?.copy) {
      log.info({ ...migration }, "the database was copied before it was migrated");
    }
    let app: App | undefined;
    let requests = 0;
    const listener = listen(configAtStart, (request, peer) => {
      requests += 1;
      return (app as App).handle(request, peer);
    });
    const guard = guardDescriptors(listener, ctx);
    // With port 0 the port is known only now. Nothing was awaited since, so no request was handled.
    const bound = { ...configAtStart, listen: { ...configAtStart.listen, port: listener.port } };
    const url = listenUrl(bound.listen);
    ctx.config = bound;
    followSettings(ctx);
    ctx.signals.databaseChangedElsewhere.on(() => followSettings(ctx));
    // Shared by all outgoing connections, since it limits the name look-ups of the process.
    const egress = createEgress(ctx);
    const monitoring = createMonitoring(ctx, egress, {
      lastUnreachableAt: guard.lastUnreachableAt,
    });
    const backups = createBackups(ctx, { holdOpen: listener.holdOpen });
    void backups.sweep();
    app = createApp(ctx, { monitoring, backups });
    app.metrics.add(...checkFamilies(() => monitoring.figures()));
    // Requests are answered from here on, before the data of a first run is written.
    await nextTurn();
    const firstRun = await storeFirstRun(ctx);
    warnAboutAddress(ctx);
    log.info({ url, base_url: ctx.baseUrl, data: directory.path }, "listening");

    const running = app;
    const housekeeping = startHousekeeping(ctx);
    const maintenanceClock = startMaintenanceClock(ctx);
    const deliverer = startDelivering(
      ctx,
      egress,
      readHeadline,
      createLoadThrottle(ctx.clock, { requests: () => requests }),
    );
    running.metrics.add(...deliveryFamilies(ctx.db, () => deliverer.stats()));
    monitoring.start();
    const rollUps = startRollUps(ctx, monitoring);
    return {
      url,
      ...firstRun,
      async stop() {
        running.readiness.isDraining = true;
        backups.stop();
        poll.cancel();
        guard.stop();
        housekeeping.cancel();
        maintenanceClock.cancel();
        rollUps.cancel();
        await Promise.all([listener.stop(), deliverer.stop(DRAIN_MS)]);
        await monitoring.stop();
        running.usage.stop();
        await running.usage.flush();
        installation.close();
        log.info("stopped");
      },
    };
  } catch (error) {
    poll.cancel();
    installation.close();
    throw error;
  }
}

/**
 * Stores the sample page and the set-up link of a first run. If changes cannot be stored, such as
 * on a full disk, they are stored later while the server runs.
 */
async function storeFirstRun(
  ctx: AppContext,
): Promise<Pick<RunningServer, "setUpUrl" | "laterSetUpUrl">> {
  const store = async () => {
    const token = await ctx.db.write((tx) => {
      createSamplePage(ctx, tx);
      return issueSetUpLink(ctx, tx);
    });
    return token === undefined ? undefined : `${ctx.baseUrl}${linkPath("setup", token)}`;
  };
  try {
    return { setUpUrl: await store(), laterSetUpUrl: undefined };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "unavailable") throw error;
  }
  const later = Promise.withResolvers<string | undefined>();
  const leave = ctx.db.recovered.on(() => {
    store().then(
      (url) => {
        leave();
        later.resolve(url);
      },
      (error: unknown) => ctx.log.warn({ err: error }, "the set-up link could not be stored"),
    );
  });
  return { setUpUrl: undefined, laterSetUpUrl: later.promise };
}

/** Waits for a turn of the event loop, so that pending requests are handled. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Signals commits by other processes, such as commands, within half a second. */
function watchForeignChanges(ctx: AppContext): Timer {
  let version = ctx.db.foreignVersion();
  return ctx.clock.every(FOREIGN_CHANGES_POLL_MS, () => {
    const current = ctx.db.foreignVersion();
    if (current === version) return;
    try {
      ctx.signals.databaseChangedElsewhere.emit();
      version = current;
    } catch (error) {
      ctx.log.error({ err: error }, "a change by another process was not taken in; trying again");
    }
  });
}

function warnAboutAddress({ baseUrl, config, db, log }: AppContext): void {
  const isLocal = config.listen.host === "127.0.0.1" || config.listen.host === "::1";
  const isSet = config.baseUrl !== undefined || readPublicAddress(db) !== undefined;
  if (isSet || isLocal) return;
  log.warn(`no public address is set, so links are built from ${baseUrl}; set ALLCLEAR_BASE_URL`);
}
