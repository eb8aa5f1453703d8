import { Elysia } from "elysia";
import { getMonitorRecord } from "../../features/monitors";
import { formBody, seeOther, session, sessionOf } from "../../http";
import type { AdminDependencies } from "../dependencies";
import { MONITORS_PATH, monitorPath } from "../paths";
import { screenOperation } from "../screen-operation";
import { requireActiveCheck } from "./asked";
import { MonitorDetail } from "./detail";
import { readMonitorView } from "./monitor-view";
import { readRange } from "./range";
import { latencyInWords } from "./words";

/** Routes of one monitor and its "Check now" button, below `/admin/monitors`. */
export function monitorDetailRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  monitoring,
}: AdminDependencies) {
  return new Elysia({ prefix: MONITORS_PATH })
    .use(requestContexts.plugin)
    .get(
      "/:id",
      async ({ request, requestContext, params, query }) => {
        const now = ctx.clock.now();
        const view = readMonitorView(ctx.db, params.id, readRange(query["range"], now), now);
        const { role } = sessionOf(requestContext).user;
        return render.screen(
          { request, requestContext },
          {
            title: view.record.row.name,
            children: <MonitorDetail view={view} role={role} now={now} />,
          },
        );
      },
      screenOperation("One monitor", session("viewer")),
    )
    .post(
      "/:id/check",
      async ({ requestContext, params }) => {
        const { row } = getMonitorRecord(ctx.db, params.id);
        requireActiveCheck(row.type);
        const { outcome, latencyMs, message } = await monitoring.checkNow(row.id);
        const took = latencyMs === null ? "" : ` The response took ${latencyInWords(latencyMs)}.`;
        const said = message === null ? "" : ` ${message}`;
        const { id } = sessionOf(requestContext);
        if (outcome === "ok") {
          flashes.put(id, { tone: "success", text: `The check succeeded.${took}${said}` });
        } else {
          const text =
            outcome === "failed" ? "The check failed." : "The check says nothing of the target.";
          flashes.put(id, { tone: "danger", text: `${text}${said}${took}` });
        }
        return seeOther(monitorPath(row.id));
      },
      { ...formBody(), ...screenOperation("Have a monitor checked", session("admin")) },
    );
}
