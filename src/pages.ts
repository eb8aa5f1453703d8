import type { Ctx } from "./context";
import { createSessions } from "./features/auth/sessions";
import { createIncidentCache } from "./features/incidents/records";
import { createKeyDirectory } from "./features/keys/directory";
import { createHeartbeatDirectory } from "./features/monitors/heartbeats";
import { createSnapshots } from "./features/status/snapshots";
import { statusRoutes } from "./features/status/api";
import { createBearerReader } from "./http/bearer";
import { createCredentials } from "./http/credentials";
import { createElysia, createRequestContexts } from "./http/elysia";
import type { StoredContexts } from "./http/request-context";
import { createFailurePage } from "./public/failure-page";
import { publicRoutes } from "./public/routes";

export type Pages = ReturnType<typeof createPages>;

/**
 * Creates the status pages with their documents, the pages for errors, and what all routes but health
 * checks share, such as the sources of callers.
 */
export function createPages(ctx: Ctx, contexts: StoredContexts) {
  const requestContexts = createRequestContexts(contexts);
  const sessions = createSessions(ctx);
  const readIncidents = createIncidentCache();
  const snapshots = createSnapshots(ctx, readIncidents);
  return {
    elysia: createElysia(contexts)
      .use(statusRoutes(ctx, requestContexts, snapshots))
      .use(publicRoutes(ctx, requestContexts, snapshots, sessions)),
    failurePage: createFailurePage(),
    sources: {
      credentials: createCredentials(createKeyDirectory(ctx), createBearerReader()),
      sessions,
      heartbeats: createHeartbeatDirectory(ctx),
    },
    shared: { requestContexts, sessions, readIncidents, snapshots },
  };
}
