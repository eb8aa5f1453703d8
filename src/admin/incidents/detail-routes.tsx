import { Elysia } from "elysia";
import { getIncident, updateIncident } from "../../features/incidents";
import { actorOf, type Form, formBody, session, sessionOf } from "../../http";
import { redirectGetById } from "../redirect-get";
import { createDone } from "../done";
import { complaintsOrThrow, NO_COMPLAINTS } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { createPreview } from "../preview";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { incidentChangeRoutes } from "./change-routes";
import { IncidentDetail } from "./detail";
import { pathsOfIncident } from "./incident-paths";
import { readIncidentView } from "./incident-view";
import { addFromForm, addUpdateOf, isConflict } from "./next-update";
import { previewIncident } from "./preview-incident";
import { TEMPLATE_FIELD } from "./template-buttons";
import { fillIn, UPDATE_TEMPLATES } from "./templates";
import { emptyUpdate, type UpdateFormState, readUpdate } from "./update-form";

const MAY_READ = session("viewer");
const MAY_WRITE = session("editor");

/** Routes of one incident and its next update, mounted below `/admin/incidents`. */
export function incidentDetailRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs, writeOnceAs } = deps;
  const done = createDone(deps.flashes);
  const preview = createPreview(deps);

  function showDetail(
    at: ScreenRequest,
    id: string,
    more: { form?: Omit<UpdateFormState, "formToken">; status?: number; before?: string } = {},
  ) {
    const view = readIncidentView(ctx, ctx.db, id);
    const form = more.form ?? {
      values: emptyUpdate(view),
      complaints: NO_COMPLAINTS,
    };
    const page = {
      view,
      role: sessionOf(at.requestContext).user.role,
      form: { ...form, formToken: newFormToken(ctx) },
      before: more.before,
      now: ctx.clock.now(),
    };
    return render.screen(at, {
      title: view.incident.name,
      status: more.status ?? 200,
      children: <IncidentDetail {...page} />,
    });
  }

  /** Shows the incident with the rejected form and its errors. */
  function showRefused(at: ScreenRequest, id: string, sent: Form, error: unknown) {
    const { incident, components } = readIncidentView(ctx, ctx.db, id);
    const values = readUpdate(sent, components);
    if (isConflict(error)) {
      const now = { ...values, status: incident.status };
      const form = { values: now, complaints: NO_COMPLAINTS, rejection: error.message };
      return showDetail(at, id, { form, status: 409 });
    }
    return showDetail(at, id, {
      form: { values, complaints: complaintsOrThrow(error) },
      status: 422,
    });
  }

  /** Shows the submitted form filled in from a template. */
  function showStarted(at: ScreenRequest, id: string, sent: Form, template: string) {
    const { components } = readIncidentView(ctx, ctx.db, id);
    const values = fillIn(readUpdate(sent, components), UPDATE_TEMPLATES, template);
    return showDetail(at, id, { form: { values, complaints: NO_COMPLAINTS } });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id",
      async ({ request, requestContext, params, query: { before } }) =>
        showDetail({ request, requestContext }, params.id, before ? { before } : {}),
      screenOperation("One incident", MAY_READ),
    )
    .get(
      "/:id/updates",
      redirectGetById((id) => pathsOfIncident(id).home),
      screenOperation("The incident whose update was sent", MAY_READ),
    )
    .post(
      "/:id/updates",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const template = form.text(TEMPLATE_FIELD);
        if (template !== "") return showStarted({ request, requestContext }, id, form, template);
        try {
          const text = await addFromForm(ctx, writeOnceAs, requestContext, id, form);
          return done(requestContext, pathsOfIncident(id).home, text);
        } catch (error) {
          return showRefused({ request, requestContext }, id, form, error);
        }
      },
      { ...formBody(), ...screenOperation("Add an update to an incident", MAY_WRITE) },
    )
    .get(
      "/:id/updates/preview",
      redirectGetById((id) => pathsOfIncident(id).home),
      screenOperation("The incident whose update was previewed", MAY_READ),
    )
    .post(
      "/:id/updates/preview",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const at = { request, requestContext };
        try {
          return await preview(at, (tx) => {
            addUpdateOf(ctx, tx, id, form, requestContext);
            return previewIncident(ctx, tx, id, actorOf(requestContext));
          });
        } catch (error) {
          return showRefused(at, id, form, error);
        }
      },
      { ...formBody(), ...screenOperation("Show the incident as an update would", MAY_WRITE) },
    )
    .post(
      "/:id/publish",
      async ({ requestContext, params: { id } }) => {
        const isPublished = await writeAs(requestContext, (tx) => {
          const { row } = getIncident(tx, id, true);
          updateIncident(ctx, tx, id, { draft: false }, actorOf(requestContext));
          return row.draft;
        });
        const text = isPublished ? "The incident was published." : undefined;
        return done(requestContext, pathsOfIncident(id).home, text);
      },
      { ...formBody(), ...screenOperation("Publish a draft", MAY_WRITE) },
    )
    .get(
      "/:id/publish/preview",
      redirectGetById((id) => pathsOfIncident(id).home),
      screenOperation("The draft that was previewed", MAY_READ),
    )
    .post(
      "/:id/publish/preview",
      async ({ request, requestContext, params: { id } }) =>
        preview({ request, requestContext }, (tx) =>
          previewIncident(ctx, tx, id, actorOf(requestContext)),
        ),
      { ...formBody(), ...screenOperation("Show a draft as the public would see it", MAY_WRITE) },
    )
    .use(incidentChangeRoutes(deps));
}
