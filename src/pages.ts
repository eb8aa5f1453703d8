import type { Ctx } from "./context";
import { createSessions } from "./features/auth/sessions";
import { createIncidentCache } from "./features/incidents/records";
import { createKeyDirectory } from "./features/keys/directory";
import { createLocationDirectory } from "./features/locations/tokens";
import { createHeartbeatDirectory } from "./features/monitors/tokens";
import { createVisits } from "./features/pages/visits";
import { createSnapshots } from "./features/status/snapshots";
import { statusRoutes } from "./features/status/api";
import { createBearerReader, routesOf } from "./http/elysia";
import { createCredentials } from "./http/caller";
import { createFailurePage, createLocaleOfFailure } from "./public/failure-page";
import { publicRoutes } from "./public/routes";
import { createVisitors } from "./public/visitors";

export type Pages = ReturnType<typeof createPages>;

/**
 * Creates the status pages with their documents, the pages for errors, and what all routes but health
 * checks share, such as the sources of callers.
 */
export function createPages(ctx: Ctx) {
  const sessions = createSessions(ctx);
  const readIncidents = createIncidentCache();
  const snapshots = createSnapshots(ctx, readIncidents);
  const visits = createVisits(ctx);
  const visitors = createVisitors(ctx, { snapshots, sessions, visits });
  return {
    routes: [statusRoutes(ctx, snapshots), publicRoutes(ctx, snapshots, visitors)].flatMap(
      routesOf,
    ),
    failurePage: createFailurePage(createLocaleOfFailure(ctx, snapshots)),
    sources: {
      credentials: createCredentials(createKeyDirectory(ctx), createBearerReader()),
      sessions,
      heartbeats: createHeartbeatDirectory(ctx),
      locations: createLocationDirectory(ctx),
    },
    shared: { sessions, readIncidents, snapshots, visits, visitors },
  };
}
