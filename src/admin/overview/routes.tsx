import { Elysia } from "elysia";
import type { Snapshots } from "../../features/status";
import { session, sessionOf } from "../../http";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { readCurrentState } from "./current-state";
import { Overview } from "./overview";

/** Routes of `/admin`. */
export function overviewAdminRoutes(
  { ctx, requestContexts, render }: AdminDependencies,
  snapshots: Snapshots,
) {
  return new Elysia().use(requestContexts.plugin).get(
    HOME_PATH,
    async ({ request, requestContext }) => {
      const state = readCurrentState(ctx.db, snapshots, requestContext.now);
      const { role } = sessionOf(requestContext).user;
      return render.screen(
        { request, requestContext },
        {
          title: "Overview",
          children: (
            <Overview
              state={state}
              storage={ctx.db.storage()}
              role={role}
              now={requestContext.now}
            />
          ),
        },
      );
    },
    screenOperation("Show open incidents, maintenance and status pages", session("viewer")),
  );
}
