import { roleAllows } from "../../../base/actor";
import { session } from "../../../http/operation";
import { NO_STORE, Representation } from "../../../http/representation";
import { sessionOf } from "../../../http/request-context";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { ANALYTICS_PATH } from "../../../ui/frame/paths";
import { shareFigures } from "../../../ui/frame/shared-read";
import { createArea } from "../../../ui/screens/area";
import { screenOperation } from "../../../ui/screens/routes";
import { countKeys } from "../../keys/records";
import { incidentsAnswer, requestsAnswer } from "../analytics";
import { LINES_MAX, readPeriod } from "../period";
import { findSubject } from "../subject";
import { Calendar, readCalendar } from "./calendar";
import { IncidentFigures, RequestFigures } from "./figures";
import {
  CALENDAR_PATH,
  lastTwelveMonths,
  periodInput,
  readSelection,
  RESPONSE_TIME_PATH,
  selectionPath,
} from "./frame";
import { readResponseTimes, ResponseTimes } from "./response-times";
import { readUptime, readUptimeCsv, Uptime } from "./uptime";

/** `/admin/analytics`: figures, readable by every role. */
export function analyticsAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, ANALYTICS_PATH, "viewer");
  const figures = shareFigures();

  area.screen("", async ({ request, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const key = selectionPath(ANALYTICS_PATH, selection);
    const view = await figures(request, key, now, () => readUptime(ctx.db, selection, now));
    return { title: "Uptime analytics", children: <Uptime view={view} /> };
  });

  area.routes.get(
    "/uptime.csv",
    async ({ request, requestContext, query }) => {
      const selection = readSelection(ctx.db, query);
      const csv = await readUptimeCsv(ctx.db, selection, ctx.clock.now());
      const name = ["uptime", selection.page?.slug, selection.span].filter(Boolean).join("-");
      return new Representation(csv, {
        mediaType: "text/csv; charset=utf-8; header=present",
        cacheControl: NO_STORE,
        headers: { "Content-Disposition": `attachment; filename="${name}.csv"` },
      }).respond(request, requestContext);
    },
    screenOperation(session("viewer")),
  );

  area.screen("/calendar", async ({ request, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const { month = "" } = query;
    const key = selectionPath(CALENDAR_PATH, selection, { month });
    const read = () => readCalendar(ctx.db, selection, month, now);
    const view = await figures(request, key, now, read);
    return { title: "Calendar of uptime", children: <Calendar view={view} /> };
  });

  area.screen("/response-time", async ({ request, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const key = selectionPath(RESPONSE_TIME_PATH, selection);
    const view = await figures(request, key, now, () => readResponseTimes(ctx.db, selection, now));
    return { title: "Response time analytics", children: <ResponseTimes view={view} /> };
  });

  area.screen("/incidents", ({ query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const subject = findSubject(ctx.db, { page: selection.page?.slug });
    const period = readPeriod(lastTwelveMonths(now), now);
    const answer = incidentsAnswer(ctx.db, subject, period, now);
    return {
      title: "Incident analytics",
      children: <IncidentFigures {...{ selection, answer }} />,
    };
  });

  area.screen("/requests", ({ requestContext, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const input = periodInput(selection.span, now);
    const hasTooManyKeys = countKeys(ctx.db, now).all > LINES_MAX;
    const shown = {
      selection,
      answer: hasTooManyKeys ? undefined : requestsAnswer(ctx.db, input, now),
      canOpenKeys: roleAllows(sessionOf(requestContext).user.role, "admin"),
      now,
    };
    return { title: "Request analytics", children: <RequestFigures {...shown} /> };
  });

  return area.routes;
}
