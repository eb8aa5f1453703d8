import { Elysia } from "elysia";
import { session, sessionOf } from "../../http";
import type { AdminParts } from "../parts";
import { MONITORS_PATH } from "../paths";
import { screenOperation } from "../screen-operation";
import { monitorDetailRoutes } from "./detail-routes";
import { editMonitorRoutes } from "./edit-routes";
import { MonitorList } from "./list";
import { readMonitorList } from "./listing";
import { newMonitorRoutes } from "./new-routes";
import { createTypedSecrets } from "./typed-secrets";
import { monitorVerbRoutes } from "./verb-routes";

/** `/admin/monitors`: for everybody to read, and for admins to set up. */
export function monitorAdminRoutes(parts: AdminParts) {
  const { ctx, admissions, render } = parts;
  const secrets = createTypedSecrets(ctx);
  return new Elysia()
    .use(admissions.plugin)
    .use(newMonitorRoutes(parts, secrets))
    .use(editMonitorRoutes(parts, secrets))
    .use(monitorVerbRoutes(parts))
    .use(monitorDetailRoutes(parts))
    .get(
      MONITORS_PATH,
      async ({ request, admission, query }) => {
        const now = ctx.clock.now();
        const list = readMonitorList(ctx.db, query, now);
        const { role } = sessionOf(admission).user;
        return render.screen(
          { request, admission },
          { title: "Monitors", children: <MonitorList list={list} role={role} now={now} /> },
        );
      },
      screenOperation("The list of monitors", session("viewer")),
    );
}
