import { Type } from "@sinclair/typebox";
import { notFound } from "../base/errors";
import { runAtOnce } from "../base/in-slices";
import { OneOf, Text } from "../base/schema";
import type { Ctx } from "../context";
import {
  forVisitors,
  getReportMonth,
  type Report,
  reportSteps as readReportSteps,
} from "../features/reports/report";
import { createEntryNamesCache } from "../features/status/entries";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import type { SentPage } from "../http/answers";
import { declareRoutes } from "../http/elysia";
import { operation } from "../http/operation";
import { splitUrl } from "../http/request-context";
import { languageRendering } from "./chosen-language";
import { createRowCache, findListedGroup } from "./component-list";
import { EMBED_THEMES } from "./embed";
import { CURSOR_PATTERN, MONTH_PATTERN, type Rendering } from "./page-context";
import { createTimesCache } from "./page-times";
import { PASSWORD_FORM } from "./password-page";
import { renderReportPage } from "./report";
import {
  createDocuments,
  createSite,
  HTML_ANSWER,
  htmlRepresentation,
  MOVED,
  versionOf,
} from "./site";
import {
  groupPageSteps,
  readPageExtras,
  readRowExtras,
  renderEmptyHome,
  renderGroupPage,
  renderStatusPage,
  statusPageSteps,
} from "./status-page";
import { pageWordsOf } from "../ui/words";
import { createMarkdownCache } from "./text";
import type { Visitors } from "./visitors";

const PAGE = {
  tag: "Pages",
  access: { kind: "public" },
  onCustomDomain: "page",
  conditional: "etag",
  errors: ["not_found"],
  answers: { 200: HTML_ANSWER, 308: MOVED, 401: PASSWORD_FORM },
} as const;

const PRIVATE =
  "A private page is shown to signed-in users and to visitors whom one of its rules admits. All others get the form for its password (401); without a password, it does not exist for them. On a page with several languages, `?lang=` chooses one of them.";

// Other sites append their own parameters to links. These are ignored.
const ANY_PARAMETERS = { additionalProperties: true };

const PermalinkQuery = Type.Object(
  { before: Type.Optional(Text({ maxLength: 100, pattern: "^upd_[0-9a-z]+$" })) },
  ANY_PARAMETERS,
);

const CursorQuery = Type.Object(
  { before: Type.Optional(Text({ maxLength: 100, pattern: CURSOR_PATTERN })) },
  ANY_PARAMETERS,
);

const MonthQuery = Type.Object(
  {
    month: Type.Optional(Text({ maxLength: 7, pattern: MONTH_PATTERN })),
    before: Type.Optional(Text({ maxLength: 100, pattern: CURSOR_PATTERN })),
  },
  ANY_PARAMETERS,
);

const isMonth = new RegExp(MONTH_PATTERN);

const EmbedQuery = Type.Object({ theme: Type.Optional(OneOf(EMBED_THEMES)) }, ANY_PARAMETERS);

/** The pages that people read: `/` and `/status/{slug}` with what is below it. */
export function publicRoutes(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  const site = createSite(ctx, snapshots, visitors);
  const emptyHome = htmlRepresentation(renderEmptyHome());
  const rows = createRowCache();
  const readNames = createEntryNamesCache();
  const rendering: Rendering = {
    renderText: createMarkdownCache(),
    timesOf: createTimesCache(),
  };

  /** Returns the time to which a status page applies, in unix ms. */
  const timeOf = ({ sharedAt }: Snapshot) => sharedAt ?? ctx.clock.now();

  function statusPage(snapshot: Snapshot): SentPage {
    const now = timeOf(snapshot);
    const extras = readPageExtras(ctx.db, snapshot, now, readNames);
    return rows.render((renderRow) =>
      renderStatusPage(snapshot, extras, now, { ...renderingOf(snapshot), renderRow }),
    );
  }

  const stepsRendering = { ...rendering, prepareRow: rows.prepare, readNames };

  function statusPageStepsOf(snapshot: Snapshot): Generator<number, void> {
    const steps = { ...stepsRendering, ...languageRendering(snapshot) };
    return statusPageSteps(ctx.db, snapshot, timeOf(snapshot), steps);
  }

  /** Throws `not_found` for a group that has no components to show. */
  function getGroup(snapshot: Snapshot, id: string) {
    const group = findListedGroup(snapshot, id, pageWordsOf(snapshot.document.page.locale));
    if (!group) throw notFound("group");
    return group;
  }

  function groupPage(id: string, snapshot: Snapshot): SentPage {
    const group = getGroup(snapshot, id);
    const extras = readRowExtras(ctx.db, snapshot, timeOf(snapshot), readNames);
    return rows.render((renderRow) =>
      renderGroupPage(snapshot, group, extras, { ...renderingOf(snapshot), renderRow }),
    );
  }

  function groupPageStepsOf(id: string, snapshot: Snapshot): Generator<number, void> {
    const group = getGroup(snapshot, id);
    const steps = { ...stepsRendering, ...languageRendering(snapshot) };
    return groupPageSteps(ctx.db, snapshot, group, timeOf(snapshot), steps);
  }

  /** Reports that were read and not rendered yet, by the snapshot of their page, and by month. */
  const readReports = new WeakMap<Snapshot, Map<string, Report>>();

  /** Throws `not_found` for a month without a report. */
  function* reportSteps(name: string, snapshot: Snapshot): Generator<number, Report> {
    if (!isMonth.test(name)) throw notFound("report");
    const now = timeOf(snapshot);
    const { id, created_at: createdAt } = snapshot.document.page;
    const page = { id, createdAt: Date.parse(createdAt) };
    return yield* readReportSteps(ctx.db, page, getReportMonth(ctx.db, page, name, now), now);
  }

  function* reportPageStepsOf(name: string, snapshot: Snapshot): Generator<number, void> {
    const report = yield* reportSteps(name, snapshot);
    const read = readReports.get(snapshot) ?? new Map<string, Report>();
    readReports.set(snapshot, read.set(name, report));
  }

  function reportPage(name: string, snapshot: Snapshot): SentPage {
    const read = readReports.get(snapshot);
    const report = read?.get(name) ?? runAtOnce(reportSteps(name, snapshot));
    // The document is cached instead.
    read?.delete(name);
    const isForTeam = snapshot.document.page.report === "team";
    const shown = isForTeam ? report : forVisitors(report);
    return renderReportPage(snapshot.document, shown, renderingOf(snapshot));
  }

  /** Returns functions that render a page, with the version of its content. */
  function renderingOf(snapshot: Snapshot): Rendering {
    const now = ctx.clock.now();
    const { shownAsOf } = ctx;
    const delay = shownAsOf === undefined ? undefined : { asOf: shownAsOf, now };
    return {
      ...rendering,
      ...languageRendering(snapshot),
      version: versionOf(snapshot, now, shownAsOf),
      ...(delay && { delay }),
    };
  }

  const { incidentPage, maintenancePage, historyPage, openPage, embedPage } = createDocuments(
    ctx,
    renderingOf,
  );

  return declareRoutes()
    .get(
      "/",
      ({ request, requestContext }) => {
        const slug = visitors.homeSlug(requestContext);
        if (slug === undefined) return emptyHome.respond(request, requestContext);
        return site.answer(
          { slug, rest: "", isHome: true, request, requestContext },
          statusPage,
          statusPageStepsOf,
        );
      },
      operation({
        ...PAGE,
        id: "showHome",
        summary: "Show the default page, or the page of a custom domain",
        description: PRIVATE,
        answers: { 200: HTML_ANSWER, 401: PASSWORD_FORM },
      }),
    )
    .get(
      "/status",
      ({ request, requestContext }) => {
        const slug = visitors.homeSlug(requestContext);
        if (slug === undefined) throw notFound("path");
        const query = splitUrl(request.url)?.query;
        const pageRequest = { slug, rest: "", isHome: true, request, requestContext } as const;
        return site.redirect(pageRequest, (current) =>
          query ? `/status/${current}?${query}` : `/status/${current}`,
        );
      },
      operation({
        ...PAGE,
        summary: "Redirect to the default page, or to the page of a custom domain",
        answers: { 308: { description: "Redirects." }, 401: PASSWORD_FORM },
      }),
    )
    .get(
      "/status/:slug",
      ({ params: { slug }, request, requestContext }) =>
        site.answer({ slug, rest: "", request, requestContext }, statusPage, statusPageStepsOf),
      operation({
        ...PAGE,
        id: "showPage",
        summary: "Show a status page",
        description: PRIVATE,
      }),
    )
    .get(
      "/status/:slug/version",
      ({ params: { slug }, request, requestContext }) =>
        site.answerVersion({ slug, rest: "/version", request, requestContext }),
      operation({
        ...PAGE,
        id: "getPageVersion",
        summary: "Read the version of a status page's content",
        description:
          "A short text that changes with the content. That of a private page is sent to those who see the page.",
        answers: { 200: { description: "The version.", mediaType: "text/plain" }, 308: MOVED },
      }),
    )
    .get(
      "/status/:slug/incidents",
      ({ params: { slug }, query: { before }, request, requestContext }) =>
        site.answer(
          {
            slug,
            rest: `/incidents${before === undefined ? "" : `?before=${before}`}`,
            request,
            requestContext,
          },
          (snapshot) => openPage(before, snapshot),
        ),
      {
        query: CursorQuery,
        ...operation({
          ...PAGE,
          id: "showOpenIncidents",
          summary: "Show the open incidents, 25 at a time",
          description: PRIVATE,
        }),
      },
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
        ...operation({
          ...PAGE,
          id: "showIncident",
          summary: "Show an incident",
          description: PRIVATE,
        }),
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
        ...operation({
          ...PAGE,
          id: "showMaintenance",
          summary: "Show a maintenance",
          description: PRIVATE,
        }),
      },
    )
    .get(
      "/status/:slug/groups/:id",
      ({ params: { slug, id }, request, requestContext }) =>
        site.answer(
          { slug, rest: restOf("groups", id, undefined), request, requestContext },
          (snapshot) => groupPage(id, snapshot),
          (snapshot) => groupPageStepsOf(id, snapshot),
        ),
      operation({
        ...PAGE,
        id: "showGroup",
        summary: "Show a group of components with their days",
        description: `Those without a group have the id \`other\`. ${PRIVATE}`,
      }),
    )
    .get(
      "/status/:slug/report/:month",
      ({ params: { slug, month }, request, requestContext }) =>
        site.answer(
          {
            slug,
            rest: restOf("report", month, undefined),
            isReport: true,
            request,
            requestContext,
          },
          (snapshot) => reportPage(month, snapshot),
          (snapshot) => reportPageStepsOf(month, snapshot),
        ),
      operation({
        ...PAGE,
        id: "showReport",
        summary: "Show the report of a month",
        description: `\`report\` of the page decides who sees it. ${PRIVATE}`,
        path: {
          month: Type.String({
            pattern: MONTH_PATTERN,
            description: "A month in UTC.",
            examples: ["2026-01"],
          }),
        },
      }),
    )
    .get(
      "/status/:slug/embed",
      ({ params: { slug }, query: { theme }, request, requestContext }) =>
        site.answer(
          {
            slug,
            rest: `/embed${theme ? `?theme=${theme}` : ""}`,
            isPublicOnly: true,
            request,
            requestContext,
          },
          (snapshot) => embedPage(theme, snapshot),
        ),
      {
        query: EmbedQuery,
        ...operation({
          ...PAGE,
          id: "showEmbed",
          summary: "Show a small status page for frames of other sites",
          description: "A private page has none.",
          answers: { 200: HTML_ANSWER, 308: MOVED },
        }),
      },
    )
    .get(
      "/status/:slug/history",
      ({ params: { slug }, query, request, requestContext }) => {
        const { month, before } = query;
        const parameters = Object.entries({ month, before }).flatMap(([name, value]) =>
          value === undefined ? [] : [`${name}=${value}`],
        );
        const rest = `/history${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`;
        const pageRequest = { slug, rest, request, requestContext };
        return site.answer(pageRequest, (snapshot) => historyPage(month, before, snapshot));
      },
      {
        query: MonthQuery,
        ...operation({
          ...PAGE,
          id: "showHistory",
          summary: "Show the history of a month",
          description: PRIVATE,
        }),
      },
    );
}

function restOf(kind: string, id: string, before: string | undefined): string {
  return `/${kind}/${encodeURIComponent(id)}${before === undefined ? "" : `?before=${before}`}`;
}
