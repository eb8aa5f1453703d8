import { editUpdate, getUpdate } from "../../features/incidents/updates";
import { type Incident, presentUpdate } from "../../features/incidents/model";
import { updateIncident } from "../../features/incidents/edit";
import type { UpdateIncidentBody } from "../../features/incidents/bodies";
import { conflict } from "../../errors/problem";
import { INCIDENT_WORDS } from "../../public/words";
import { Button } from "../../ui/buttons";
import type { AdminDependencies } from "../dependencies";
import { incidentPath } from "../paths";
import type { Area } from "../screens/area";
import { FormScreen } from "../screens/form-screen";
import { EDIT_UPDATE_FORM, INCIDENT_FORM } from "./forms";
import { incidentCrumbs, pathsOfIncident } from "./incident-paths";
import { readIncidentView } from "./incident-view";

/** Adds the forms that edit an incident and its updates. */
export function addEditRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/edit", {
    showSummary: "Show the form for an incident",
    summary: "Edit an incident",
    form: INCIDENT_FORM,
    load(reader, { params }) {
      const context = readIncidentView(ctx, reader, params.id);
      return { resource: context.incident, version: context.incident.version, context };
    },
    show(state) {
      const { incident } = state.context;
      return {
        title: `Edit ${incident.name}`,
        children: (
          <FormScreen
            title="Edit incident"
            crumbs={incidentCrumbs(incident)}
            intro="To change the status or components, add an update."
            form={INCIDENT_FORM}
            state={state}
            action={pathsOfIncident(incident.id).edit}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    conflictField: "external_ref",
    update(tx, changes, actor, { params }, { incident }) {
      const input = exactChanges(changes, incident);
      // The only change is the time of resolution, typed before the incident was reopened.
      if (Object.keys(input).length === 0) throw conflict("The incident is not resolved.");
      const { row } = updateIncident(ctx, tx, params.id, input, actor);
      return row.version !== incident.version;
    },
    done: ({ params }) => ({ path: incidentPath(params.id), text: "The incident was changed." }),
  });

  area.editForm("/:id/updates/:update_id", {
    showSummary: "Show the form for an update",
    summary: "Edit an update",
    form: EDIT_UPDATE_FORM,
    load(reader, { params }) {
      const { update } = getUpdate(reader, params.id, params.update_id, true);
      const resource = presentUpdate(update);
      const context = { ...readIncidentView(ctx, reader, params.id), update: resource };
      // The update has its own version, so that newer updates do not make the form stale.
      return { resource, version: update.updatedAt, context };
    },
    show(state, { params }) {
      const { incident, update } = state.context;
      return {
        title: "Edit update",
        children: (
          <FormScreen
            title={`Edit update “${INCIDENT_WORDS[update.status]}”`}
            crumbs={incidentCrumbs(incident)}
            intro={
              incident.draft
                ? undefined
                : "The page shows the change at once. No notifications are sent."
            }
            form={EDIT_UPDATE_FORM}
            state={state}
            action={pathsOfIncident(params.id).update(params.update_id)}
          >
            <Button kind="primary">Save update</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, { display_at: at, ...changes }, actor, { params }, { incident }) {
      const input =
        at === undefined ? changes : { ...changes, display_at: exactTime(at, incident.started_at) };
      const { row } = editUpdate(ctx, tx, params.id, params.update_id, input, actor);
      return row.version !== incident.version;
    },
    done: ({ params }) => ({ path: incidentPath(params.id), text: "The update was changed." }),
  });
}

/**
 * Returns the changes of an incident with exact times. The time of resolution is left out if the
 * incident is open, as the form does not show it.
 */
function exactChanges(
  changes: Partial<UpdateIncidentBody>,
  incident: Incident,
): UpdateIncidentBody {
  const exact = { ...changes };
  if (incident.status !== "resolved") delete exact.resolved_at;
  const startedAt = exact.started_at ?? incident.started_at;
  for (const name of ["identified_at", "monitoring_at", "resolved_at"] as const) {
    const time = exact[name];
    if (time) exact[name] = exactTime(time, startedAt);
  }
  return exact;
}

/**
 * Returns the start of an incident for the minute that contains it, and other times unchanged. Forms
 * have minutes only, and no time may lie before the start.
 */
function exactTime(time: string, startedAt: string): string {
  return time === `${startedAt.slice(0, 16)}:00.000Z` ? startedAt : time;
}
