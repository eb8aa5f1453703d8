import { Elysia } from "elysia";
import type { AppContext } from "./context";
import type { Background } from "./background";
import { createSessions, type Passwords } from "./features/auth";
import { createReadiness, type Readiness } from "./features/health";
import { healthRoutes } from "./features/health/routes";
import { createIncidentCache } from "./features/incidents";
import { createKeyDirectory, createKeyUsage, type KeyUsage } from "./features/keys";
import { createLimiter, type Limiter } from "./features/limits";
import {
  createMetrics,
  databaseFamilies,
  limiterFamilies,
  type Metrics,
  monitorFamilies,
  processFamilies,
  webhookFamilies,
} from "./features/metrics";
import { createHeartbeatDirectory } from "./features/monitors";
import { createDomains } from "./features/pages";
import { createSnapshots } from "./features/status";
import { statusRoutes } from "./features/status/routes";
import {
  type RequestContexts,
  buildOpenApi,
  createRequestContexts,
  createClientAddresses,
  createGateway,
  createRouteTable,
  type Gateway,
  type GatewayDependencies,
  type RouteTable,
  toProblem,
} from "./http";
import { once } from "./kernel/lazy";
import { createFailurePage } from "./public/failure-page";
import { publicRoutes } from "./public/routes";
import { VERSION } from "./version";

/** One independent application. Several in one process share no state. */
export interface App {
  /** Handles all requests. */
  handle: Gateway;
  routes: RouteTable;
  readiness: Readiness;
  limiter: Limiter;
  usage: KeyUsage;
  /** Registry of the metrics, to which other modules add theirs. */
  metrics: Metrics;
  openApi(): unknown;
  /** Loads all routes that are not yet loaded. Otherwise the first request for one of them loads them. */
  loadRoutes(): Promise<void>;
}

/**
 * Creates the application. The first requests of a server are health checks and status pages, so only their
 * routes are created here. `background` returns the checks and backups that the other routes use; by
 * default no checks run, and requests for one are refused.
 */
export function createApp(
  ctx: AppContext,
  {
    background = async () => (await import("./background")).createIdleBackground(ctx),
    passwords,
  }: {
    background?: (() => Promise<Background>) | undefined;
    passwords?: Passwords | undefined;
  } = {},
): App {
  const requestContexts = createRequestContexts();
  const limiter = createLimiter(ctx);
  const keys = createKeyDirectory(ctx);
  const usage = createKeyUsage(ctx);
  const readIncidents = createIncidentCache();
  const snapshots = createSnapshots(ctx, readIncidents);
  const readiness = createReadiness();
  const metrics = createMetrics(ctx.clock);
  const sessions = createSessions(ctx);
  const addresses = createClientAddresses(ctx);
  const routes = createRouteTable();
  const openApi = () => buildOpenApi(routes, { baseUrl: ctx.baseUrl, version: VERSION });

  const elysia = createElysia(requestContexts)
    .use(statusRoutes(ctx, requestContexts, snapshots))
    .use(healthRoutes(ctx, readiness))
    .use(publicRoutes(ctx, requestContexts, snapshots, sessions));
  routes.add(elysia.routes, elysia.fetch);

  let answerRefusedForm: GatewayDependencies["failurePage"] = () => undefined;
  const shared = { ctx, requestContexts, sessions, usage };
  const loadOtherRoutes = once(async () => {
    const { otherRoutes } = await import("./other-routes");
    const { monitoring } = await background();
    const ofStatus = { snapshots, readIncidents };
    const created = otherRoutes({ ...shared, ...ofStatus, monitoring, metrics, limiter, openApi });
    const other = createElysia(requestContexts).use(created);
    routes.add(other.routes, other.fetch);
  });
  const loadDashboard = once(async () => {
    const { createDashboard } = await import("./admin/dashboard");
    const own = { ...(await background()), addresses, passwords, routes };
    const dashboard = createElysia(requestContexts);
    answerRefusedForm = createDashboard(dashboard, { ...shared, ...own });
    routes.add(dashboard.routes, dashboard.fetch);
  });
  metrics.add(
    ...processFamilies(),
    ...databaseFamilies(ctx.db),
    ...limiterFamilies(limiter),
    ...monitorFamilies(ctx.db),
    ...webhookFamilies(ctx.db, ctx.clock),
    ...routes.counts.families(),
  );
  const failurePage = createFailurePage();
  const handle = createGateway({
    ctx,
    routes,
    requestContexts,
    domains: createDomains(ctx),
    keys,
    sessions,
    heartbeats: createHeartbeatDirectory(ctx),
    usage,
    limiter,
    addresses,
    loadRoutes: (path) => (isOfDashboard(path) ? loadDashboard() : loadOtherRoutes()),
    failurePage: (failure, context) =>
      answerRefusedForm(failure, context) ?? failurePage(failure, context),
  });
  return {
    handle,
    routes,
    readiness,
    limiter,
    usage,
    metrics,
    openApi,
    async loadRoutes() {
      await loadOtherRoutes();
      await loadDashboard();
    },
  };
}

function createElysia(requestContexts: RequestContexts) {
  return new Elysia({
    // Unknown fields are rejected, since dropping them would hide a caller's typing errors.
    normalize: false,
    strictPath: true,
    // Otherwise Elysia reads the path from the URL's eleventh character on, even if the host is longer.
    handler: { standardHostname: false },
  }).onError({ as: "global" }, ({ error, code, request }) => {
    const requestContext = requestContexts.find(request);
    if (requestContext) requestContext.failure ??= toProblem(error, code);
    return new Response(null, { status: 500 });
  });
}

function isOfDashboard(path: string): boolean {
  return path === "/admin" || path.startsWith("/admin/");
}
