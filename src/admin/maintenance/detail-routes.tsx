import { Elysia } from "elysia";
import {
  addMaintenanceUpdate,
  getMaintenanceRecord,
  isEnded,
  updateMaintenance,
} from "../../features/maintenance";
import {
  actorOf,
  type RequestContext,
  type Form,
  formBody,
  seeOther,
  session,
  sessionOf,
} from "../../http";
import { roleAllows } from "../../domain/role";
import { renderMaintenancePage } from "../../public/maintenance-page";
import { redirectGetById } from "../redirect-get";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { maintenancePath } from "../paths";
import { createPreview } from "../preview";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { changeUnlessStale, type FormRejection, requireSameVersion } from "../stale";
import { MaintenanceDetail } from "./detail";
import {
  editRejectionOrThrow,
  type EditValues,
  hasTimes,
  readEdit,
  storedValues,
  toEdit,
} from "./edit";
import { EditForm } from "./edit-form";
import { readMaintenanceView } from "./maintenance-view";
import { toUpdate, type UpdateRejection, updateRejectionOrThrow } from "./next-update";
import { readUpdate, type UpdateValues } from "./update-form";

/** Routes of one maintenance, its next update and its edit form. */
export function maintenanceDetailRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs, writeOnceAs } = deps;
  const done = createDone(deps.flashes);
  const preview = createPreview(deps);
  const MAY_READ = session("viewer");
  const MAY_WRITE = session("editor");

  function showDetail(
    at: ScreenRequest,
    id: string,
    refused?: UpdateRejection & { values: UpdateValues },
    before?: string,
  ) {
    const view = readMaintenanceView(ctx, ctx.db, id);
    const { role } = sessionOf(at.requestContext).user;
    const page = {
      view,
      mayWrite: roleAllows(role, "editor"),
      refused,
      formToken: newFormToken(ctx),
      before,
      now: ctx.clock.now(),
    };
    return render.screen(at, {
      title: view.maintenance.name,
      status: refused?.status ?? 200,
      children: <MaintenanceDetail {...page} />,
    });
  }

  function showEdit(
    at: ScreenRequest,
    id: string,
    refused?: FormRejection & { values: EditValues },
  ) {
    const { maintenance, page, choosable } = readMaintenanceView(ctx, ctx.db, id);
    if (isEnded(maintenance.status) && !refused) return seeOther(maintenancePath(id));
    const form = {
      maintenance,
      page,
      choosable,
      values: refused?.values ?? storedValues(maintenance),
      complaints: refused?.complaints ?? NO_COMPLAINTS,
      stale: refused?.stale,
    };
    return render.screen(at, {
      title: "Edit maintenance",
      status: refused?.status ?? 200,
      children: <EditForm {...form} />,
    });
  }

  /**
   * Saves an edit and returns true if anything changed. Throws errors for `editRejectionOrThrow`.
   */
  function saveEdit(requestContext: RequestContext, id: string, form: Form, values: EditValues) {
    return writeAs(requestContext, (tx) => {
      const { row } = getMaintenanceRecord(tx, id);
      // It began meanwhile, and nobody reads the times that were typed.
      if (hasTimes(form) && row.status !== "scheduled") requireSameVersion(form, row);
      return changeUnlessStale(form, row, () => {
        const { version } = updateMaintenance(
          ctx,
          tx,
          id,
          toEdit(values, row),
          actorOf(requestContext),
        );
        return version !== row.version;
      });
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id",
      async ({ request, requestContext, params, query: { before } }) =>
        showDetail({ request, requestContext }, params.id, undefined, before),
      screenOperation("One maintenance", MAY_READ),
    )
    .post(
      "/:id",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const values = readUpdate(form);
        try {
          await writeOnceAs(requestContext, form, (tx) => {
            const update = toUpdate(values);
            const made = addMaintenanceUpdate(ctx, tx, id, update, actorOf(requestContext));
            return { made, subjectId: made.update.id };
          });
        } catch (error) {
          const rejection = updateRejectionOrThrow(error, values);
          return showDetail({ request, requestContext }, id, { ...rejection, values });
        }
        return done(requestContext, maintenancePath(id), "The update was published.");
      },
      { ...formBody(), ...screenOperation("Publish an update of a maintenance", MAY_WRITE) },
    )
    .get(
      "/:id/preview",
      redirectGetById(maintenancePath),
      screenOperation("The maintenance whose update was previewed", MAY_WRITE),
    )
    .post(
      "/:id/preview",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const at = { request, requestContext };
        const values = readUpdate(form);
        try {
          return await preview(at, (tx) => {
            const actor = actorOf(requestContext);
            const { maintenance } = addMaintenanceUpdate(ctx, tx, id, toUpdate(values), actor);
            return {
              pageId: maintenance.page_id,
              render: ({ document }) => renderMaintenancePage(document, maintenance),
            };
          });
        } catch (error) {
          return showDetail(at, id, { ...updateRejectionOrThrow(error, values), values });
        }
      },
      { ...formBody(), ...screenOperation("Show an update as the public would", MAY_WRITE) },
    )
    .get(
      "/:id/edit",
      async ({ request, requestContext, params }) =>
        showEdit({ request, requestContext }, params.id),
      screenOperation("The form that edits a maintenance", MAY_WRITE),
    )
    .post(
      "/:id/edit",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const values = readEdit(form);
        let isChanged: boolean;
        try {
          isChanged = await saveEdit(requestContext, id, form, values);
        } catch (error) {
          const refused = { ...editRejectionOrThrow(error, form, values), values };
          return showEdit({ request, requestContext }, id, refused);
        }
        const text = isChanged ? "The maintenance was changed." : undefined;
        return done(requestContext, maintenancePath(id), text);
      },
      { ...formBody(), ...screenOperation("Edit a maintenance", MAY_WRITE) },
    );
}
