import { Elysia } from "elysia";
import { Problem } from "../../errors";
import {
  deleteIncident,
  editUpdate,
  EditUpdateBody,
  getIncident,
  getUpdate,
  presentUpdate,
  updateIncident,
  UpdateIncidentBody,
} from "../../features/incidents";
import { actorOf, type RequestContext, type Form, formBody, session } from "../../http";
import { toIso } from "../../kernel/time";
import { createDeleteOnce, deletedSentence } from "../delete-once";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import { INCIDENTS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import {
  changeUnlessStale,
  type FormRejection,
  rejectionOrThrow,
  requireSameVersion,
} from "../stale";
import { DeleteIncident } from "./delete";
import { EditIncident, type EditValues, toEdit, storedEdit, readEdit } from "./edit";
import { TimeReader } from "./time-reader";
import {
  EditUpdate,
  type EditUpdateValues,
  toEditUpdate,
  storedUpdate,
  readEditUpdate,
} from "./edit-update";
import { pathsOfIncident } from "./incident-paths";
import { readIncidentView } from "./incident-view";
import { postmortemRoutes } from "./postmortem-routes";

const MAY_WRITE = session("editor");

/** Routes that edit an incident and its updates, mounted below `/admin/incidents`. */
export function incidentChangeRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const deleteOnce = createDeleteOnce(deps);

  function showEdit(
    at: ScreenRequest,
    id: string,
    sent?: { values: EditValues; rejection: FormRejection },
  ) {
    const { incident, page } = readIncidentView(ctx, ctx.db, id);
    const form = {
      values: sent?.values ?? storedEdit(incident),
      complaints: sent?.rejection.complaints ?? NO_COMPLAINTS,
      stale: sent?.rejection.stale,
    };
    return render.screen(at, {
      title: `Edit ${incident.name}`,
      status: sent?.rejection.status ?? 200,
      children: <EditIncident incident={incident} timeZone={page.timeZone} {...form} />,
    });
  }

  /** Returns true if anything changed. */
  function saveEdit(requestContext: RequestContext, id: string, form: Form): Promise<boolean> {
    return writeAs(requestContext, (tx) => {
      const { incident } = readIncidentView(ctx, tx, id);
      const values = readEdit(form);
      // It was reopened meanwhile, and nobody reads the time that was typed.
      if (values.resolvedAt !== "" && incident.status !== "resolved") {
        requireSameVersion(form, incident);
      }
      return changeUnlessStale(form, incident, () => {
        const times = new TimeReader();
        const input = toEdit(values, incident, times);
        times.throwIfAny(UpdateIncidentBody, input);
        const after = updateIncident(ctx, tx, id, input, actorOf(requestContext));
        return after.row.version !== incident.version;
      });
    });
  }

  function showUpdate(
    at: ScreenRequest,
    { id, update_id }: { id: string; update_id: string },
    sent?: { values: EditUpdateValues; rejection: FormRejection },
  ) {
    const { update: record } = getUpdate(ctx.db, id, update_id, true);
    const { incident, page } = readIncidentView(ctx, ctx.db, id);
    const update = presentUpdate(record);
    const form = {
      values: sent?.values ?? storedUpdate(update),
      complaints: sent?.rejection.complaints ?? NO_COMPLAINTS,
      stale: sent?.rejection.stale,
    };
    return render.screen(at, {
      title: "Edit update",
      status: sent?.rejection.status ?? 200,
      children: (
        <EditUpdate
          incident={incident}
          update={update}
          version={record.updatedAt}
          timeZone={page.timeZone}
          {...form}
        />
      ),
    });
  }

  /** Returns true if anything changed. */
  function saveUpdate(
    requestContext: RequestContext,
    { id, update_id }: { id: string; update_id: string },
    form: Form,
  ): Promise<boolean> {
    return writeAs(requestContext, (tx) => {
      const { row, update } = getUpdate(tx, id, update_id, true);
      return changeUnlessStale(form, { version: update.updatedAt }, () => {
        const times = new TimeReader();
        const known = [toIso(update.displayAt), toIso(row.startedAt)];
        const input = toEditUpdate(readEditUpdate(form), known, times);
        times.throwIfAny(EditUpdateBody, input);
        const after = editUpdate(ctx, tx, id, update_id, input, actorOf(requestContext));
        return after.row.version !== row.version;
      });
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/edit",
      async ({ request, requestContext, params }) =>
        showEdit({ request, requestContext }, params.id),
      screenOperation("The form to edit an incident", MAY_WRITE),
    )
    .post(
      "/:id/edit",
      async ({ request, requestContext, params: { id }, body: form }) => {
        try {
          const isChanged = await saveEdit(requestContext, id, form);
          const text = isChanged ? "The incident was changed." : undefined;
          return done(requestContext, pathsOfIncident(id).home, text);
        } catch (error) {
          const rejection = rejectionOf(error);
          return showEdit({ request, requestContext }, id, { values: readEdit(form), rejection });
        }
      },
      { ...formBody(), ...screenOperation("Edit an incident", MAY_WRITE) },
    )
    .get(
      "/:id/updates/:update_id",
      async ({ request, requestContext, params }) =>
        showUpdate({ request, requestContext }, params),
      screenOperation("The form to edit an update", MAY_WRITE),
    )
    .post(
      "/:id/updates/:update_id",
      async ({ request, requestContext, params, body: form }) => {
        try {
          const isChanged = await saveUpdate(requestContext, params, form);
          const text = isChanged ? "The update was changed." : undefined;
          return done(requestContext, pathsOfIncident(params.id).home, text);
        } catch (error) {
          const rejection = rejectionOrThrow(error);
          return showUpdate({ request, requestContext }, params, {
            values: readEditUpdate(form),
            rejection,
          });
        }
      },
      { ...formBody(), ...screenOperation("Edit an update", MAY_WRITE) },
    )
    .get(
      "/:id/delete",
      async ({ request, requestContext, params }) => {
        const { incident } = readIncidentView(ctx, ctx.db, params.id);
        const title = `Delete “${incident.name}”`;
        return render.screen(
          { request, requestContext },
          { title, children: <DeleteIncident title={title} incident={incident} /> },
        );
      },
      screenOperation("Asks before an incident is deleted", MAY_WRITE),
    )
    .post(
      "/:id/delete",
      async ({ requestContext, params: { id }, body: form }) => {
        const deletion = { path: INCIDENTS_PATH, sentence: deletedSentence("incident") };
        return deleteOnce(requestContext, form, deletion, (tx) => {
          const { row } = getIncident(tx, id, true);
          deleteIncident(ctx, tx, id, actorOf(requestContext));
          return { made: row.name, subjectId: id };
        });
      },
      { ...formBody(), ...screenOperation("Delete an incident", MAY_WRITE) },
    )
    .use(postmortemRoutes(deps));
}

/**
 * Returns the rejection of the edit form. The only possible conflict is an external reference that
 * another incident has.
 */
function rejectionOf(error: unknown): FormRejection {
  try {
    return rejectionOrThrow(error);
  } catch (other) {
    if (!(other instanceof Problem) || other.code !== "conflict") throw other;
    return { status: 422, complaints: { external_ref: other.message }, stale: undefined };
  }
}
