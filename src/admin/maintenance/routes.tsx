import { Elysia } from "elysia";
import { planMaintenance } from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import { actorOf, type Form, formBody, session, sessionOf } from "../../http";
import { renderMaintenancePage } from "../../public/maintenance-page";
import { redirectGet } from "../redirect-get";
import { createDone } from "../done";
import { NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import { NoPageYet } from "../no-page";
import { choosePage, OTHER_PAGE, readPageChoice } from "../page-choice";
import type { AdminDependencies } from "../dependencies";
import { MAINTENANCE_PATH, maintenancePath } from "../paths";
import { createPreview } from "../preview";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { readPages } from "../read-pages";
import { maintenanceDetailRoutes } from "./detail-routes";
import { MaintenanceList } from "./list";
import { readMaintenanceList } from "./listing";
import { PLAN_PATH } from "./maintenance-paths";
import { choosableOf } from "./maintenance-view";
import { EMPTY_PLAN, planComplaintsOrThrow, type PlanValues, readPlan, toPlan } from "./plan";
import { PlanForm } from "./plan-form";
import { maintenanceStepRoutes } from "./step-routes";

/** `/admin/maintenance`: every role may read, editors plan. */
export function maintenanceAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeOnceAs } = deps;
  const done = createDone(deps.flashes);
  const preview = createPreview(deps);
  const MAY_READ = session("viewer");
  const MAY_WRITE = session("editor");

  function showForm(
    at: ScreenRequest,
    asked: string | undefined,
    values: PlanValues,
    complaints = NO_COMPLAINTS,
  ) {
    const pages = readPages(ctx.db);
    const page = choosePage(pages, asked);
    const title = "Plan maintenance";
    if (!page) {
      const { role } = sessionOf(at.requestContext).user;
      return render.screen(at, { title, children: <NoPageYet title={title} role={role} /> });
    }
    const choosable = choosableOf(ctx.db, page.id);
    const form = { pages, page, choosable, values, complaints, formToken: newFormToken(ctx) };
    return render.screen(at, {
      title,
      status: statusOf(complaints),
      children: <PlanForm {...form} />,
    });
  }

  /**
   * Runs the action of a form, unless the page was changed or fields are wrong; then the form is
   * shown again.
   */
  async function withPlan(
    at: ScreenRequest,
    form: Form,
    act: (values: PlanValues, page: PageRow) => Promise<Response>,
  ): Promise<Response> {
    const values = readPlan(form);
    const { page, isChoosing, isOtherPage } = readPageChoice(form, readPages(ctx.db));
    if (isChoosing) return showForm(at, page?.id, values);
    if (!page || isOtherPage) return showForm(at, page?.id, values, { page: OTHER_PAGE });
    try {
      return await act(values, page);
    } catch (error) {
      return showForm(at, page.id, values, planComplaintsOrThrow(error, values));
    }
  }

  return new Elysia({ prefix: MAINTENANCE_PATH })
    .use(requestContexts.plugin)
    .use(maintenanceDetailRoutes(deps))
    .use(maintenanceStepRoutes(deps, "start"))
    .use(maintenanceStepRoutes(deps, "finish"))
    .use(maintenanceStepRoutes(deps, "cancel"))
    .get(
      "",
      async ({ request, requestContext, query }) => {
        const list = readMaintenanceList(ctx.db, query);
        const { role } = sessionOf(requestContext).user;
        return render.screen(
          { request, requestContext },
          { title: "Maintenance", children: <MaintenanceList list={list} role={role} /> },
        );
      },
      screenOperation("The list of maintenance", MAY_READ),
    )
    .get(
      "/new",
      async ({ request, requestContext, query }) =>
        showForm({ request, requestContext }, query["page"], EMPTY_PLAN),
      screenOperation("The form to plan maintenance", MAY_WRITE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) =>
        withPlan({ request, requestContext }, form, async (values, page) => {
          const { subjectId } = await writeOnceAs(requestContext, form, (tx) => {
            const made = planMaintenance(ctx, tx, toPlan(values, page.id), actorOf(requestContext));
            return { made, subjectId: made.id };
          });
          return done(requestContext, maintenancePath(subjectId), "The maintenance was planned.");
        }),
      { ...formBody(), ...screenOperation("Plan a maintenance", MAY_WRITE) },
    )
    .get(
      "/new/preview",
      redirectGet(PLAN_PATH),
      screenOperation("The form whose maintenance was previewed", MAY_WRITE),
    )
    .post(
      "/new/preview",
      async ({ request, requestContext, body: form }) =>
        withPlan({ request, requestContext }, form, (values, page) =>
          preview({ request, requestContext }, (tx) => {
            const actor = actorOf(requestContext);
            const planned = planMaintenance(ctx, tx, toPlan(values, page.id), actor);
            return {
              pageId: page.id,
              // The status page shows the next 30 days only.
              render: ({ document }) => renderMaintenancePage(document, planned),
            };
          }),
        ),
      { ...formBody(), ...screenOperation("Show a maintenance as the public would", MAY_WRITE) },
    );
}
