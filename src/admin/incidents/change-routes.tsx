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
import { actorOf, type Admission, type Form, formBody, session } from "../../http";
import { toIso } from "../../kernel/time";
import { createDeleteOnce, deletedSentence } from "../delete-once";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import type { AdminParts } from "../parts";
import { INCIDENTS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { changeUnlessStale, type FormRefusal, refusalOrThrow, requireSameVersion } from "../stale";
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

/** Changing what was told of an incident, mounted below `/admin/incidents`. */
export function incidentChangeRoutes(parts: AdminParts) {
  const { ctx, admissions, render, writeAs } = parts;
  const done = createDone(parts.flashes);
  const deleteOnce = createDeleteOnce(parts);

  function showEdit(
    at: ScreenRequest,
    id: string,
    sent?: { values: EditValues; refusal: FormRefusal },
  ) {
    const { incident, page } = readIncidentView(ctx, ctx.db, id);
    const form = {
      values: sent?.values ?? storedEdit(incident),
      complaints: sent?.refusal.complaints ?? NO_COMPLAINTS,
      stale: sent?.refusal.stale,
    };
    return render.screen(at, {
      title: `Edit ${incident.name}`,
      status: sent?.refusal.status ?? 200,
      children: <EditIncident incident={incident} timeZone={page.timeZone} {...form} />,
    });
  }

  /** Whether it changed anything. */
  function saveEdit(admission: Admission, id: string, form: Form): Promise<boolean> {
    return writeAs(admission, (tx) => {
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
        const after = updateIncident(ctx, tx, id, input, actorOf(admission));
        return after.row.version !== incident.version;
      });
    });
  }

  function showUpdate(
    at: ScreenRequest,
    { id, update_id }: { id: string; update_id: string },
    sent?: { values: EditUpdateValues; refusal: FormRefusal },
  ) {
    const { update: record } = getUpdate(ctx.db, id, update_id, true);
    const { incident, page } = readIncidentView(ctx, ctx.db, id);
    const update = presentUpdate(record);
    const form = {
      values: sent?.values ?? storedUpdate(update),
      complaints: sent?.refusal.complaints ?? NO_COMPLAINTS,
      stale: sent?.refusal.stale,
    };
    return render.screen(at, {
      title: "Edit update",
      status: sent?.refusal.status ?? 200,
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

  /** Whether it changed anything. */
  function saveUpdate(
    admission: Admission,
    { id, update_id }: { id: string; update_id: string },
    form: Form,
  ): Promise<boolean> {
    return writeAs(admission, (tx) => {
      const { row, update } = getUpdate(tx, id, update_id, true);
      return changeUnlessStale(form, { version: update.updatedAt }, () => {
        const times = new TimeReader();
        const known = [toIso(update.displayAt), toIso(row.startedAt)];
        const input = toEditUpdate(readEditUpdate(form), known, times);
        times.throwIfAny(EditUpdateBody, input);
        const after = editUpdate(ctx, tx, id, update_id, input, actorOf(admission));
        return after.row.version !== row.version;
      });
    });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/:id/edit",
      async ({ request, admission, params }) => showEdit({ request, admission }, params.id),
      screenOperation("The form to edit an incident", MAY_WRITE),
    )
    .post(
      "/:id/edit",
      async ({ request, admission, params: { id }, body: form }) => {
        try {
          const isChanged = await saveEdit(admission, id, form);
          const text = isChanged ? "The incident was changed." : undefined;
          return done(admission, pathsOfIncident(id).home, text);
        } catch (error) {
          const refusal = refusalOf(error);
          return showEdit({ request, admission }, id, { values: readEdit(form), refusal });
        }
      },
      { ...formBody(), ...screenOperation("Edit an incident", MAY_WRITE) },
    )
    .get(
      "/:id/updates/:update_id",
      async ({ request, admission, params }) => showUpdate({ request, admission }, params),
      screenOperation("The form to edit an update", MAY_WRITE),
    )
    .post(
      "/:id/updates/:update_id",
      async ({ request, admission, params, body: form }) => {
        try {
          const isChanged = await saveUpdate(admission, params, form);
          const text = isChanged ? "The update was changed." : undefined;
          return done(admission, pathsOfIncident(params.id).home, text);
        } catch (error) {
          const refusal = refusalOrThrow(error);
          return showUpdate({ request, admission }, params, {
            values: readEditUpdate(form),
            refusal,
          });
        }
      },
      { ...formBody(), ...screenOperation("Edit an update", MAY_WRITE) },
    )
    .get(
      "/:id/delete",
      async ({ request, admission, params }) => {
        const { incident } = readIncidentView(ctx, ctx.db, params.id);
        const title = `Delete “${incident.name}”`;
        return render.screen(
          { request, admission },
          { title, children: <DeleteIncident title={title} incident={incident} /> },
        );
      },
      screenOperation("Asks before an incident is deleted", MAY_WRITE),
    )
    .post(
      "/:id/delete",
      async ({ admission, params: { id }, body: form }) => {
        const deletion = { path: INCIDENTS_PATH, sentence: deletedSentence("incident") };
        return deleteOnce(admission, form, deletion, (tx) => {
          const { row } = getIncident(tx, id, true);
          deleteIncident(ctx, tx, id, actorOf(admission));
          return { made: row.name, subjectId: id };
        });
      },
      { ...formBody(), ...screenOperation("Delete an incident", MAY_WRITE) },
    )
    .use(postmortemRoutes(parts));
}

/** The one conflict that a form of right times can meet: its reference is another incident's. */
function refusalOf(error: unknown): FormRefusal {
  try {
    return refusalOrThrow(error);
  } catch (other) {
    if (!(other instanceof Problem) || other.code !== "conflict") throw other;
    return { status: 422, complaints: { external_ref: other.message }, stale: undefined };
  }
}
