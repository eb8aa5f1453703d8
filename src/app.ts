import type { Background } from "./background";
import { once } from "./base/lazy";
import type { Ctx } from "./context";
import type { Passwords } from "./features/auth/passwords";
import { createKeyUsage, type KeyUsage } from "./features/keys/usage";
import { createLimiter, type Limiter, type LocalLimiter } from "./features/limits/limiter";
import { createMetrics, type Metrics } from "./features/metrics/metrics";
import { createDomains } from "./features/pages/addresses";
import type { IdentityHeaders } from "./http/caller";
import { createCdn } from "./http/cdn";
import { type ClientAddresses, createClientAddresses } from "./http/client-address";
import {
  createGateway,
  type Elsewhere,
  type Gateway,
  type GatewayDependencies,
} from "./http/gateway";
import { createReadiness, healthRoutes, type Readiness } from "./http/health";
import type { PeerOf } from "./http/request-context";
import {
  createRouteTable,
  type Handle,
  type NewRoute,
  type PlainRoute,
  type RouteTable,
} from "./http/route-table";
import type { Pages } from "./pages";

/** One independent application. Several in one process share no state. */
export interface App {
  /** Handles all requests. */
  handle: Gateway;
  routes: RouteTable;
  readiness: Readiness;
  limiter: Limiter;
  addresses: ClientAddresses;
  usage: KeyUsage;
  /** Registry of the metrics, to which other modules add theirs. */
  metrics: Metrics;
  openApi(): Generator<number, unknown>;
  /**
   * Loads the status pages, unless they are loaded, and returns what they share with other parts. Otherwise the first
   * request for one loads them.
   */
  loadPages(): Promise<Pages["shared"]>;
  /** Loads all routes that are not yet loaded. Otherwise the first request for one of them loads them. */
  loadRoutes(): Promise<void>;
}

/** Parts of an application that processes other than a single server replace. */
export interface AppOptions {
  background?: (() => Promise<Background>) | undefined;
  passwords?: Passwords | undefined;
  /** Verifies the passwords of private pages. */
  visitorPasswords?: Passwords | undefined;
  /** Counts the use of keys; by default into the database. */
  usage?: KeyUsage;
  /** Replaces the limits that this node shares with others. */
  shareLimits?: ((local: LocalLimiter) => Limiter) | undefined;
  /** Creates what sends requests to another node. */
  elsewhere?: ((limiter: Limiter) => Elsewhere) | undefined;
  readiness?: Readiness;
  /** Routes in addition, which are there from the start. */
  plainRoutes?: readonly PlainRoute[];
  /** Returns what runs in place of a handler, except those of plain routes. */
  wrap?: ((handle: Handle) => Handle) | undefined;
}

/**
 * Creates the application. Only the routes of health checks are created here, so that a server is ready
 * early. The first request for any other loads them: status pages, the rest of the API, the dashboard.
 * `background` returns the checks and backups that the last two use; by default no checks run, and requests
 * for one are refused. On a replica, `elsewhere` sends requests to the primary.
 */
export function createApp(
  ctx: Ctx,
  {
    background = async () => (await import("./background")).createIdleBackground(ctx),
    passwords,
    visitorPasswords,
    usage = createKeyUsage(ctx),
    shareLimits = (local) => local,
    elsewhere,
    readiness = createReadiness(),
    plainRoutes = [],
    wrap = (handle) => handle,
  }: AppOptions = {},
): App {
  const limiter = shareLimits(createLimiter(ctx));
  const metrics = createMetrics(ctx.clock);
  const addresses = createClientAddresses(ctx);
  const routes = createRouteTable();
  const { cdn } = ctx.config;
  let other: typeof import("./other-routes") | undefined;

  /** Throws before the routes are loaded. */
  function openApi() {
    if (!other) throw new Error("the routes are not loaded");
    return other.describeApi(routes, ctx.baseUrl);
  }

  const plain = [...healthRoutes(ctx, readiness), ...plainRoutes];
  routes.add(plain.map((route) => ({ method: "GET", ...route })));
  const addRoutes = (added: readonly NewRoute[]): void =>
    routes.add(added.map((route) => ({ ...route, handle: wrap(route.handle) })));
  let loaded: Pages | undefined;
  let answerRefusedForm: GatewayDependencies["failurePage"] = () => undefined;
  let identityHeaders: IdentityHeaders | undefined;
  const loadPages = once(async () => {
    const { createPages } = await import("./pages");
    const created = createPages(ctx);
    addRoutes(created.routes);
    readiness.hasPages = created.shared.snapshots.isHolding;
    loaded = created;
  });
  const loadOtherRoutes = once(async () => {
    await loadPages();
    other = await import("./other-routes");
    const { monitoring, checkRequests } = await background();
    const checks = { monitoring, checkRequests };
    const own = { ctx, usage, limiter, metrics, ...checks, routes, visitorPasswords, openApi };
    // None before the dashboard is loaded.
    const ignoredIdentities = () => identityHeaders?.ignored() ?? { peer: 0, secret: 0 };
    addRoutes(other.otherRoutes({ ...pages().shared, ...own, ignoredIdentities }));
  });
  const loadDashboard = once(async () => {
    await loadPages();
    const { createDashboard } = await import("./dashboard");
    const own = { ctx, usage, addresses, passwords, routes, ...(await background()) };
    const dashboard = createDashboard({ ...pages().shared, ...own });
    ({ answerRefusedForm, identityHeaders } = dashboard);
    addRoutes(dashboard.routes);
    // The first screen is made in another turn of the event loop, since this one has taken 50 ms.
    await new Promise<void>((resolve) => setImmediate(resolve));
  });

  /** Returns the status pages. Throws before they are loaded. */
  function pages(): Pages {
    if (!loaded) throw new Error("the status pages are not loaded");
    return loaded;
  }

  /** Loads the pages first: they do not wait for the background, and an error may need a page. */
  function loadRoutesOf(path: string | undefined): Promise<void> | undefined {
    const loading = loadPages();
    if (loading || path === undefined) return loading;
    return isOfDashboard(path) ? loadDashboard() : loadOtherRoutes();
  }

  const answer = createGateway({
    ctx,
    routes,
    domains: createDomains(ctx),
    sources: () => pages().sources,
    identityHeaders: () => identityHeaders,
    usage,
    limiter,
    addresses,
    cdn: cdn === undefined ? undefined : createCdn(cdn),
    elsewhere: elsewhere?.(limiter),
    loadRoutes: loadRoutesOf,
    failurePage: (failure, context) =>
      answerRefusedForm(failure, context) ?? loaded?.failurePage(failure, context),
  });

  /** While the server drains, clients that keep their connections choose another server for their next request. */
  function handle(request: Request, peer: PeerOf): ReturnType<Gateway> {
    const answered = answer(request, peer);
    if (!readiness.isDraining) return answered;
    return answered instanceof Promise ? answered.then(closeAfter) : closeAfter(answered);
  }

  return {
    handle,
    routes,
    readiness,
    limiter,
    addresses,
    usage,
    metrics,
    openApi,
    async loadPages() {
      await loadPages();
      return pages().shared;
    },
    async loadRoutes() {
      await loadOtherRoutes();
      await loadDashboard();
    },
  };
}

function closeAfter(response: Response): Response {
  response.headers.set("Connection", "close");
  return response;
}

function isOfDashboard(path: string): boolean {
  return path === "/admin" || path.startsWith("/admin/");
}
