import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { notFound } from "../errors";
import type { Sessions } from "../features/auth";
import { getIncidentPart, presentIncident } from "../features/incidents";
import { getMaintenancePart, presentMaintenance } from "../features/maintenance";
import {
  historyStartOf,
  readHistory,
  readLatency,
  type Snapshot,
  type Snapshots,
} from "../features/status";
import { type RequestContext, type RequestContexts, operation, type SentPage } from "../http";
import { Text } from "../kernel/schema";
import { renderHistoryPage } from "./history-page";
import { htmlRepresentation } from "./answers";
import { renderIncidentPage } from "./incident-page";
import { createRowCache } from "./row-cache";
import { renderMaintenancePage } from "./maintenance-page";
import {
  type Month,
  MONTH_PATTERN,
  monthNameOf,
  monthOf,
  CURSOR_PATTERN,
  parseCursor,
  formatCursor,
} from "./month";
import { createPartCache } from "./part-cache";
import { createMarkdownCache } from "./markdown-cache";
import type { Rendering } from "./page-context";
import { createTimesCache } from "./page-times";
import { createSite } from "./site";
import { readPageExtras, renderEmptyHome, renderStatusPage, statusPageSteps } from "./status-page";
import { renderSubscribePage } from "./subscribe-page";
import { UPDATES_MAX } from "./permalink-parts";
import { versionOf } from "./version";

const PAGE = {
  tag: "Pages",
  access: { kind: "public" },
  onCustomDomain: "page",
  answers: { 200: { description: "HTML." } },
} as const;

/** Number of entries of one page of a month's history. */
const ENTRIES_MAX = 100;

/** Others append parameters of their own to links. */
const PermalinkQuery = Type.Object(
  { before: Type.Optional(Text({ maxLength: 100, pattern: "^upd_[0-9a-z]+$" })) },
  { additionalProperties: true },
);

/** The pages that people read: `/` and `/status/{slug}` with what is below it. */
export function publicRoutes(
  ctx: AppContext,
  requestContexts: RequestContexts,
  snapshots: Snapshots,
  sessions: Sessions,
) {
  const site = createSite(ctx, snapshots, sessions);
  const emptyHome = htmlRepresentation(renderEmptyHome());
  const rows = createRowCache();
  const rendering: Rendering = {
    renderText: createMarkdownCache(),
    renderPart: createPartCache(),
    timesOf: createTimesCache(),
  };

  function statusPage(snapshot: Snapshot): SentPage {
    const now = ctx.clock.now();
    const extras = readPageExtras(ctx.db, snapshot, now);
    return rows.render((renderRow) =>
      renderStatusPage(snapshot, extras, now, { ...renderingOf(snapshot), renderRow }),
    );
  }

  function statusPageStepsOf(snapshot: Snapshot): Generator<number, void> {
    const latency = readLatency(ctx.db, snapshot.document, ctx.clock.now());
    return statusPageSteps(snapshot, latency, { ...rendering, prepareRow: rows.prepare });
  }

  /** Returns functions that render a page, with the version of its content. */
  function renderingOf(snapshot: Snapshot): Rendering {
    return { ...rendering, version: versionOf(snapshot, ctx.clock.now()) };
  }

  /** Throws `not_found` where the page has no such incident, or only a draft of it. */
  function incidentPage(id: string, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { record, isMore } = getIncidentPart(ctx.db, id, { before, limit: UPDATES_MAX });
    if (record.row.pageId !== document.page.id) throw notFound("incident");
    const incident = presentIncident(record, ctx.baseUrl);
    return renderIncidentPage(document, incident, { before, isMore }, renderingOf(snapshot));
  }

  function maintenancePage(id: string, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { record, isMore } = getMaintenancePart(ctx.db, id, { before, limit: UPDATES_MAX });
    if (record.row.pageId !== document.page.id) throw notFound("maintenance");
    const maintenance = presentMaintenance(record, ctx.baseUrl);
    return renderMaintenancePage(document, maintenance, { before, isMore }, renderingOf(snapshot));
  }

  function historyPage(month: Month, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { id, created_at: createdAt } = document.page;
    const first = historyStartOf(ctx.db, { id, createdAt: Date.parse(createdAt) });
    const span = { pageId: id, from: month.from, to: month.to, before: parseCursor(before) };
    const { entries, next } = readHistory(ctx.db, span, ENTRIES_MAX);
    const previous = month.from > first ? month.previous : undefined;
    const part = { entries, before, next: next && formatCursor(next) };
    return renderHistoryPage(document, { ...month, previous }, part, renderingOf(snapshot));
  }

  /** Throws `not_found` for a private page, which has no feeds. */
  function subscribePage({ document }: Snapshot) {
    if (document.page.visibility !== "public") throw notFound("page");
    return renderSubscribePage(document, rendering);
  }

  /** Returns the slug of the page at `/`: the one of the custom domain, or the default page. */
  function homeSlug({ domain }: RequestContext): string | undefined {
    if (domain) return domain.slug;
    const page = snapshots.defaultPage();
    return page?.isPublic ? page.slug : undefined;
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/",
      ({ request, requestContext }) => {
        const slug = homeSlug(requestContext);
        const answer =
          slug === undefined
            ? emptyHome.respond(request, requestContext)
            : site.answer(
                { slug, rest: "", request, requestContext },
                statusPage,
                statusPageStepsOf,
              );
        return answer;
      },
      operation({ ...PAGE, summary: "Show the default page, or the page of a custom domain" }),
    )
    .get(
      "/status/:slug",
      ({ params: { slug }, request, requestContext }) => {
        // In a constant: Elysia takes a handler whose text contains "return f(" or "=> f(" for an
        // asynchronous one, which takes about 0.9 µs more per request (of 13 to 16 µs). Only in the
        // executable: run from the sources, Bun inlines the constant.
        const answer = site.answer(
          { slug, rest: "", request, requestContext },
          statusPage,
          statusPageStepsOf,
        );
        return answer;
      },
      operation({ ...PAGE, summary: "Show a status page", errors: ["not_found"] }),
    )
    .get(
      "/status/:slug/version",
      ({ params: { slug }, request, requestContext }) =>
        site.answerVersion({ slug, rest: "/version", request, requestContext }),
      operation({
        ...PAGE,
        summary: "Read the version of what a status page shows",
        answers: { 200: { description: "The version.", mediaType: "text/plain" } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .get(
      "/status/:slug/incidents/:id",
      ({ params: { slug, id }, query: { before }, request, requestContext }) =>
        site.answer(
          { slug, rest: restOf("incidents", id, before), request, requestContext },
          (snapshot) => incidentPage(id, before, snapshot),
        ),
      {
        query: PermalinkQuery,
        ...operation({ ...PAGE, summary: "Show an incident", errors: ["not_found"] }),
      },
    )
    .get(
      "/status/:slug/maintenance/:id",
      ({ params: { slug, id }, query: { before }, request, requestContext }) =>
        site.answer(
          { slug, rest: restOf("maintenance", id, before), request, requestContext },
          (snapshot) => maintenancePage(id, before, snapshot),
        ),
      {
        query: PermalinkQuery,
        ...operation({ ...PAGE, summary: "Show a maintenance", errors: ["not_found"] }),
      },
    )
    .get(
      "/status/:slug/subscribe",
      ({ params: { slug }, request, requestContext }) =>
        site.answer({ slug, rest: "/subscribe", request, requestContext }, subscribePage),
      operation({ ...PAGE, summary: "Show all ways to subscribe", errors: ["not_found"] }),
    )
    .get(
      "/status/:slug/history",
      ({ params: { slug }, query, request, requestContext }) => {
        const name = query.month ?? monthNameOf(requestContext.now);
        const month = monthOf(name, requestContext.now);
        if (!month) throw notFound("month");
        const { before } = query;
        const rest = `/history?month=${name}${before === undefined ? "" : `&before=${before}`}`;
        const pageRequest = { slug, rest, request, requestContext };
        return site.answer(pageRequest, (snapshot) => historyPage(month, before, snapshot));
      },
      {
        // Others append parameters of their own to links.
        query: Type.Object(
          {
            month: Type.Optional(Text({ maxLength: 7, pattern: MONTH_PATTERN })),
            before: Type.Optional(Text({ maxLength: 100, pattern: CURSOR_PATTERN })),
          },
          { additionalProperties: true },
        ),
        ...operation({ ...PAGE, summary: "Show the history of a month", errors: ["not_found"] }),
      },
    );
}

function restOf(kind: string, id: string, before: string | undefined): string {
  return `/${kind}/${encodeURIComponent(id)}${before === undefined ? "" : `?before=${before}`}`;
}
