import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { notFound } from "../errors";
import type { Sessions } from "../features/auth";
import { getIncident, listIncidentsBetween, presentIncident } from "../features/incidents";
import { getMaintenance, listPastMaintenance, presentMaintenance } from "../features/maintenance";
import { findDefaultPage } from "../features/pages";
import type { Snapshot, Snapshots } from "../features/status";
import { type Admissions, operation } from "../http";
import { Text } from "../kernel/schema";
import type { HtmlDocument } from "../ui";
import { renderHistoryPage } from "./history-page";
import { htmlRepresentation } from "./html";
import { renderIncidentPage } from "./incident-page";
import { renderMaintenancePage } from "./maintenance-page";
import { type Month, MONTH_PATTERN, monthNameOf, monthOf } from "./month";
import { createSite } from "./site";
import { renderEmptyHome, renderStatusPage } from "./status-page";

const PAGE = {
  tag: "Pages",
  access: { kind: "public" },
  answers: { 200: { description: "HTML." } },
} as const;

/** The pages that people read: `/` and `/status/{slug}` with what is below it. */
export function publicRoutes(
  ctx: AppContext,
  admissions: Admissions,
  snapshots: Snapshots,
  sessions: Sessions,
) {
  const site = createSite(ctx, snapshots, sessions);
  const emptyHome = htmlRepresentation(renderEmptyHome());
  const statusPage = (snapshot: Snapshot) => renderStatusPage(snapshot, ctx.clock.now());

  /** Throws `not_found` where the page has no such incident, or only a draft of it. */
  function incidentPage(id: string, { document }: Snapshot): HtmlDocument {
    const record = getIncident(ctx.db, id, false);
    if (record.row.pageId !== document.page.id) throw notFound("incident");
    return renderIncidentPage(document, presentIncident(record, ctx.baseUrl));
  }

  function maintenancePage(id: string, { document }: Snapshot): HtmlDocument {
    const maintenance = getMaintenance(ctx, ctx.db, id);
    if (maintenance.page_id !== document.page.id) throw notFound("maintenance");
    return renderMaintenancePage(document, maintenance);
  }

  function historyPage(month: Month, { document }: Snapshot): HtmlDocument {
    const span = { pageId: document.page.id, from: month.from, to: month.to };
    const goingOn = document.maintenance.filter(
      ({ started_at: at }) => at !== null && at.startsWith(month.name),
    );
    return renderHistoryPage(document, month, {
      incidents: listIncidentsBetween(ctx.db, span).map((record) =>
        presentIncident(record, ctx.baseUrl),
      ),
      maintenance: [
        ...goingOn,
        ...listPastMaintenance(ctx.db, span).map((record) =>
          presentMaintenance(record, ctx.baseUrl),
        ),
      ],
    });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/",
      ({ request, admission }) => {
        const page = findDefaultPage(ctx.db, {});
        const answer =
          page?.visibility === "public"
            ? site.answer({ slug: page.slug, rest: "", request, admission }, statusPage)
            : emptyHome.respond(request, admission);
        return answer;
      },
      operation({ ...PAGE, summary: "The default page" }),
    )
    .get(
      "/status/:slug",
      ({ params: { slug }, request, admission }) =>
        site.answer({ slug, rest: "", request, admission }, statusPage),
      operation({ ...PAGE, summary: "A status page", errors: ["not_found"] }),
    )
    .get(
      "/status/:slug/incidents/:id",
      ({ params: { slug, id }, request, admission }) =>
        site.answer(
          { slug, rest: `/incidents/${encodeURIComponent(id)}`, request, admission },
          (snapshot) => incidentPage(id, snapshot),
        ),
      operation({ ...PAGE, summary: "An incident", errors: ["not_found"] }),
    )
    .get(
      "/status/:slug/maintenance/:id",
      ({ params: { slug, id }, request, admission }) =>
        site.answer(
          { slug, rest: `/maintenance/${encodeURIComponent(id)}`, request, admission },
          (snapshot) => maintenancePage(id, snapshot),
        ),
      operation({ ...PAGE, summary: "A maintenance", errors: ["not_found"] }),
    )
    .get(
      "/status/:slug/history",
      ({ params: { slug }, query, request, admission }) => {
        const name = query.month ?? monthNameOf(admission.now);
        const month = monthOf(name, admission.now);
        if (!month) throw notFound("month");
        const visit = { slug, rest: `/history?month=${name}`, request, admission };
        const answer = site.answer(visit, (snapshot) => historyPage(month, snapshot));
        return answer;
      },
      {
        // Others append parameters of their own to links.
        query: Type.Object(
          { month: Type.Optional(Text({ maxLength: 7, pattern: MONTH_PATTERN })) },
          { additionalProperties: true },
        ),
        ...operation({ ...PAGE, summary: "What happened in a month", errors: ["not_found"] }),
      },
    );
}
