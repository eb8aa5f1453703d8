import { Elysia } from "elysia";
import type { AppContext } from "./context";
import { componentRoutes } from "./features/components/routes";
import { createReadiness, type Readiness } from "./features/health";
import { healthRoutes } from "./features/health/routes";
import { createKeyDirectory, createKeyUsage, type KeyUsage } from "./features/keys";
import { keyRoutes } from "./features/keys/routes";
import { createLimiter, type Limiter } from "./features/limits";
import { createSnapshots } from "./features/status";
import { statusRoutes } from "./features/status/routes";
import {
  buildOpenApi,
  createAdmissions,
  createClientAddresses,
  createDoor,
  createRouteTable,
  type Door,
  type RouteTable,
  toProblem,
} from "./http";
import { docsRoutes } from "./public/docs-routes";
import { publicRoutes } from "./public/routes";
import { VERSION } from "./version";

/** One independent system: two of them in one process share nothing. */
export interface App {
  /** The only entrance. */
  door: Door;
  routes: RouteTable;
  readiness: Readiness;
  limiter: Limiter;
  usage: KeyUsage;
  openApi(): unknown;
}

/** Puts the application together: the table of contents of what it can do. */
export function createApp(ctx: AppContext): App {
  const admissions = createAdmissions();
  const limiter = createLimiter(ctx);
  const keys = createKeyDirectory(ctx);
  const usage = createKeyUsage(ctx);
  const snapshots = createSnapshots(ctx);
  const readiness = createReadiness();
  const openApi = () => buildOpenApi(routes, { baseUrl: ctx.baseUrl, version: VERSION });

  const elysia = new Elysia({
    // Dropping unknown fields in silence would hide a caller's typos.
    normalize: false,
    strictPath: true,
    // Elysia otherwise reads the path from the URL's eleventh character on, wherever the host ends.
    handler: { standardHostname: false },
  })
    .onError({ as: "global" }, ({ error, code, request }) => {
      const admission = admissions.find(request);
      if (admission) admission.failure ??= toProblem(error, code);
      return new Response(null, { status: 500 });
    })
    .use(statusRoutes(ctx, admissions, snapshots))
    .use(componentRoutes(ctx, admissions))
    .use(keyRoutes(ctx, admissions, limiter, usage))
    .use(healthRoutes(ctx, readiness))
    .use(docsRoutes(ctx, admissions, openApi))
    .use(publicRoutes(ctx, admissions, snapshots));

  const routes = createRouteTable(elysia.routes);
  const door = createDoor({
    ctx,
    routes,
    admissions,
    keys,
    usage,
    limiter,
    addresses: createClientAddresses(ctx),
    handle: elysia.fetch,
  });
  return { door, routes, readiness, limiter, usage, openApi };
}
