import { validate } from "../../../base/validation";
import { PlanMaintenanceBody } from "../wire";
import { sessionOf } from "../../../http/request-context";
import { readPageComponents } from "../../../ui/forms/object-fields";
import { readPageContext } from "../../../ui/forms/page-field";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { MAINTENANCE_PATH, maintenancePath } from "../../../ui/frame/paths";
import { createArea } from "../../../ui/screens/area";
import { AudienceHint, audienceNote, isCounting } from "../../timeline/screens/mail";
import { planMaintenance } from "../maintenance";
import { addMaintenanceRoutes } from "./detail";
import { PLAN_FORM } from "./forms";
import { MaintenanceList, PlanCalendar, readMaintenanceList, readPlanCalendar } from "./list";
import { previewMaintenance } from "./view";

const PLAN_TITLE = "Plan maintenance";

/** `/admin/maintenance`: every role may read, editors write. */
export function maintenanceAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, MAINTENANCE_PATH, "editor");

  area.screen(
    "",
    ({ query, requestContext }) => {
      const list = readMaintenanceList(ctx.db, query);
      const { role } = sessionOf(requestContext).user;
      return { title: "Maintenance", children: <MaintenanceList list={list} role={role} /> };
    },
    { role: "viewer" },
  );

  area.screen(
    "/calendar",
    ({ query }) => {
      const view = readPlanCalendar(ctx.db, query, ctx.clock.now());
      return { title: "Maintenance calendar", children: <PlanCalendar view={view} /> };
    },
    { role: "viewer" },
  );

  area.form("/new", {
    form: PLAN_FORM,
    load(reader, at) {
      const context = readPageContext(reader, at, PLAN_TITLE);
      return { ...context, ...readPageComponents(reader, context.page.id) };
    },
    show(state) {
      const { components } = state.values;
      const audience = audienceNote(ctx, state.context.page, "maintenance", components);
      return {
        title: PLAN_TITLE,
        crumbs: [{ href: MAINTENANCE_PATH, label: "Maintenance" }],
        foot: audience && <AudienceHint audience={audience} />,
        button: "Plan maintenance",
      };
    },
    redisplay: (values, sent) => (isCounting(sent) ? values : undefined),
    submit: (tx, body, actor) =>
      planMaintenance(ctx, tx, validate(PlanMaintenanceBody, body), actor).id,
    done: (id) => ({ path: maintenancePath(id), text: "The maintenance was planned." }),
    // The status page shows the next 30 days only.
    preview: (tx, id) => previewMaintenance(ctx, tx, id),
  });

  addMaintenanceRoutes(area, deps);
  return area.routes;
}
