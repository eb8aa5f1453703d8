import { Elysia } from "elysia";
import { listComponentsOfPage, listGroups } from "../../features/components";
import { createIncident, presentIncident } from "../../features/incidents";
import type { PageRow } from "../../features/pages";
import { actorOf, type Form, formBody, session, sessionOf } from "../../http";
import { renderIncidentPage } from "../../public/incident-page";
import { redirectGet } from "../redirect-get";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import { newFormToken } from "../form-token";
import { NoPageYet } from "../no-page";
import { choosePage, OTHER_PAGE, readPageChoice } from "../page-choice";
import type { AdminDependencies } from "../dependencies";
import { INCIDENTS_PATH, incidentPath } from "../paths";
import { createPreview } from "../preview";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { incidentDetailRoutes } from "./detail-routes";
import { IncidentList } from "./list";
import { readIncidentList } from "./listing";
import {
  EMPTY_REPORT,
  readReport,
  type ReportRejection,
  reportRejectionOrThrow,
  type ReportValues,
  toIncident,
} from "./report";
import { REPORT_PATH, ReportForm } from "./report-form";
import { TEMPLATE_FIELD } from "./template-buttons";
import { fillIn, REPORT_TEMPLATES } from "./templates";
import { readPages } from "../read-pages";

/** Routes of `/admin/incidents`. */
export function incidentAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeOnceAs } = deps;
  const done = createDone(deps.flashes);
  const preview = createPreview(deps);
  const MAY_READ = session("viewer");
  const MAY_WRITE = session("editor");

  function showForm(
    at: ScreenRequest,
    asked: string | undefined,
    values: ReportValues,
    rejection?: ReportRejection,
  ) {
    const pages = readPages(ctx.db);
    const page = choosePage(pages, asked);
    const title = "Report an incident";
    if (!page) {
      const { role } = sessionOf(at.requestContext).user;
      return render.screen(at, { title, children: <NoPageYet title={title} role={role} /> });
    }
    const ofPage = { pageId: page.id };
    const form = {
      pages,
      page,
      values,
      components: listComponentsOfPage(ctx.db, ofPage),
      groups: listGroups(ctx.db, ofPage),
      complaints: rejection?.complaints ?? NO_COMPLAINTS,
      formToken: newFormToken(ctx),
    };
    return render.screen(at, {
      title,
      status: rejection?.status ?? 200,
      children: <ReportForm {...form} />,
    });
  }

  /**
   * Runs the action of a form, unless the page or template was changed or fields are wrong; then
   * the form is shown again.
   */
  async function withReport(
    at: ScreenRequest,
    form: Form,
    act: (values: ReportValues, page: PageRow) => Promise<Response>,
  ): Promise<Response> {
    const { page, isChoosing, isOtherPage } = readPageChoice(form, readPages(ctx.db));
    const components = page ? listComponentsOfPage(ctx.db, { pageId: page.id }) : [];
    const values = readReport(form, components);
    if (isChoosing) return showForm(at, page?.id, values);
    const template = form.text(TEMPLATE_FIELD);
    if (template !== "") return showForm(at, page?.id, fillIn(values, REPORT_TEMPLATES, template));
    if (!page || isOtherPage) {
      return showForm(at, page?.id, values, { status: 422, complaints: { page: OTHER_PAGE } });
    }
    try {
      return await act(values, page);
    } catch (error) {
      return showForm(at, page.id, values, reportRejectionOrThrow(error, values));
    }
  }

  return new Elysia({ prefix: INCIDENTS_PATH })
    .use(requestContexts.plugin)
    .use(incidentDetailRoutes(deps))
    .get(
      "",
      async ({ request, requestContext, query }) => {
        const list = readIncidentList(ctx.db, query);
        const { role } = sessionOf(requestContext).user;
        return render.screen(
          { request, requestContext },
          {
            title: "Incidents",
            children: <IncidentList list={list} role={role} now={requestContext.now} />,
          },
        );
      },
      screenOperation("The list of incidents", MAY_READ),
    )
    .get(
      "/new",
      async ({ request, requestContext, query }) =>
        showForm({ request, requestContext }, query["page"], EMPTY_REPORT),
      screenOperation("The form to report an incident", MAY_WRITE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) =>
        withReport({ request, requestContext }, form, async (values, page) => {
          const isDraft = form.text("intent") === "draft";
          const input = toIncident(values, { page: page.id, isDraft });
          const { subjectId } = await writeOnceAs(requestContext, form, (tx) => {
            const made = createIncident(ctx, tx, input, "dashboard", actorOf(requestContext));
            return { made, subjectId: made.row.id };
          });
          const text = isDraft ? "The draft was saved." : "The incident was published.";
          return done(requestContext, incidentPath(subjectId), text);
        }),
      { ...formBody(), ...screenOperation("Report an incident", MAY_WRITE) },
    )
    .get(
      "/new/preview",
      redirectGet(REPORT_PATH),
      screenOperation("The form whose incident was previewed", MAY_WRITE),
    )
    .post(
      "/new/preview",
      async ({ request, requestContext, body: form }) =>
        withReport({ request, requestContext }, form, (values, page) =>
          preview({ request, requestContext }, (tx) => {
            const input = toIncident(values, { page: page.id, isDraft: false });
            const record = createIncident(ctx, tx, input, "dashboard", actorOf(requestContext));
            // What is over may lie further back than the status page reaches.
            if (record.row.status !== "resolved") return { pageId: page.id };
            const incident = presentIncident(record, ctx.baseUrl);
            return {
              pageId: page.id,
              render: ({ document }) => renderIncidentPage(document, incident),
            };
          }),
        ),
      { ...formBody(), ...screenOperation("Show an incident as the public would", MAY_WRITE) },
    );
}
