import { Elysia } from "elysia";
import { session, sessionOf } from "../../http";
import type { AdminDependencies } from "../dependencies";
import { MONITORS_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { monitorDetailRoutes } from "./detail-routes";
import { editMonitorRoutes } from "./edit-routes";
import { MonitorList } from "./list";
import { readMonitorList } from "./listing";
import { newMonitorRoutes } from "./new-routes";
import { createTypedSecrets } from "./typed-secrets";
import { monitorVerbRoutes } from "./verb-routes";

/** `/admin/monitors`: every role may read, admins change monitors. */
export function monitorAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render } = deps;
  const secrets = createTypedSecrets(ctx);
  return new Elysia()
    .use(requestContexts.plugin)
    .use(newMonitorRoutes(deps, secrets))
    .use(editMonitorRoutes(deps, secrets))
    .use(monitorVerbRoutes(deps))
    .use(monitorDetailRoutes(deps))
    .get(
      MONITORS_PATH,
      async ({ request, requestContext, query }) => {
        const now = ctx.clock.now();
        const list = readMonitorList(ctx.db, query, now);
        const { role } = sessionOf(requestContext).user;
        return render.screen(
          { request, requestContext },
          { title: "Monitors", children: <MonitorList list={list} role={role} now={now} /> },
        );
      },
      screenOperation("The list of monitors", session("viewer")),
    );
}
