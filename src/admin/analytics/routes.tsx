import { Elysia } from "elysia";
import { findSubject, incidentsAnswer, readPeriod, requestsAnswer } from "../../features/analytics";
import { NO_STORE, Representation, session, sessionOf } from "../../http";
import { roleAllows } from "../../domain/role";
import type { AdminDependencies } from "../dependencies";
import { ANALYTICS_PATH } from "../paths";
import { readPages } from "../read-pages";
import { screenOperation } from "../screen-operation";
import type { Asked } from "./analytics-paths";
import { unlessTooMuch } from "./bounded";
import { IncidentFigures } from "./incidents";
import { RequestFigures } from "./requests";
import { lastTwelveMonths, periodInput, readSpan } from "./time-span";
import { Uptime } from "./uptime";
import { readUptime, uptimeCsv } from "./uptime-view";

/** `/admin/analytics`: figures, readable by every role. */
export function analyticsAdminRoutes({ ctx, requestContexts, render }: AdminDependencies) {
  const MAY_READ = session("viewer");

  /** Reads page and period from a query. Unknown values are ignored. */
  function readAsked(query: Readonly<Record<string, string | undefined>>): Asked {
    const page = readPages(ctx.db).find(({ slug }) => slug === query["page"]);
    return { page: page?.slug, span: readSpan(query["span"]) };
  }

  return new Elysia({ prefix: ANALYTICS_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext, query }) => {
        const view = readUptime(ctx.db, readAsked(query), ctx.clock.now());
        return render.screen(
          { request, requestContext },
          { title: "Uptime", children: <Uptime view={view} /> },
        );
      },
      screenOperation("Uptime in figures", MAY_READ),
    )
    .get(
      "/uptime.csv",
      async ({ request, requestContext, query }) => {
        const asked = readAsked(query);
        const csv = uptimeCsv(readUptime(ctx.db, asked, ctx.clock.now()));
        const name = ["uptime", asked.page, asked.span].filter(Boolean).join("-");
        return new Representation(csv, {
          mediaType: "text/csv; charset=utf-8; header=present",
          cacheControl: NO_STORE,
          headers: { "Content-Disposition": `attachment; filename="${name}.csv"` },
        }).respond(request, requestContext);
      },
      screenOperation("Uptime as a file", MAY_READ),
    )
    .get(
      "/incidents",
      async ({ request, requestContext, query }) => {
        const now = ctx.clock.now();
        const asked = readAsked(query);
        const subject = findSubject(ctx.db, { page: asked.page });
        const period = readPeriod(lastTwelveMonths(now), now);
        const answer = incidentsAnswer(ctx.db, subject, period, now);
        const figures = { asked, pages: readPages(ctx.db), answer };
        return render.screen(
          { request, requestContext },
          { title: "Incidents in figures", children: <IncidentFigures {...figures} /> },
        );
      },
      screenOperation("Incidents in figures", MAY_READ),
    )
    .get(
      "/requests",
      async ({ request, requestContext, query }) => {
        const now = ctx.clock.now();
        const asked = readAsked(query);
        const input = periodInput(asked.span, now);
        const figures = {
          asked,
          answer: unlessTooMuch(() => requestsAnswer(ctx.db, input, now)),
          mayOpenKeys: roleAllows(sessionOf(requestContext).user.role, "admin"),
          now,
        };
        return render.screen(
          { request, requestContext },
          { title: "Requests in figures", children: <RequestFigures {...figures} /> },
        );
      },
      screenOperation("Requests in figures", MAY_READ),
    );
}
