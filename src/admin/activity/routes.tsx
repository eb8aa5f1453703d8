import { Elysia } from "elysia";
import { NO_STORE } from "../../http/representation";
import { operation, session } from "../../http/operation";
import { sessionOf } from "../../http/request-context";
import { toIso } from "../../base/time";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { ACTIVITY_PATH } from "../../ui/frame/paths";
import { screenOperation } from "../../ui/screens/routes";
import { ActivityList } from "./activity";
import { auditCsv } from "./csv";
import { ACTIVITY_FILE_PATH, readActivity, readFilter, toAuditQuery } from "./listing";
import { linksOf } from "./target-links";

const CSV = "text/csv";

/** Settings → Activity: the audit log, for admins and owners. */
export function activityAdminRoutes({ ctx, requestContexts, render }: AdminDependencies) {
  const MAY_READ = session("admin");
  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      ACTIVITY_PATH,
      async ({ request, requestContext, query }) => {
        const list = readActivity(ctx.db, query);
        const { role } = sessionOf(requestContext).user;
        const targets = list.entries.map(({ targetId }) => targetId);
        const page = { list, links: linksOf(ctx.db, targets, role), now: requestContext.now };
        return render.screen(
          { request, requestContext },
          { title: "Activity", children: <ActivityList {...page} /> },
        );
      },
      screenOperation("List the entries of the audit log", MAY_READ),
    )
    .get(
      ACTIVITY_FILE_PATH,
      async ({ requestContext, query }) => {
        const name = `allclear-activity-${toIso(requestContext.now).slice(0, 10)}.csv`;
        return new Response(auditCsv(ctx.db, toAuditQuery(readFilter(query))), {
          headers: {
            "Content-Type": `${CSV};charset=utf-8`,
            "Content-Disposition": `attachment; filename="${name}"`,
            "Cache-Control": NO_STORE,
          },
        });
      },
      operation({
        summary: "Download the audit log as CSV",
        tag: "Dashboard",
        access: MAY_READ,
        answers: { 200: { description: "CSV.", mediaType: CSV } },
      }),
    );
}
