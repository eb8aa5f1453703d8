import { invalidFields } from "../../errors";
import {
  editUpdate,
  getIncident,
  getUpdate,
  type Incident,
  presentUpdate,
  putPostmortem,
  updateIncident,
  type UpdateIncidentBody,
} from "../../features/incidents";
import { actorOf } from "../../http";
import { INCIDENT_WORDS } from "../../public/words";
import { Button } from "../../ui";
import type { AdminDependencies } from "../dependencies";
import { INCIDENTS_PATH, incidentPath } from "../paths";
import type { Area } from "../screens/area";
import { FormScreen } from "../timeline/form-screen";
import { EDIT_UPDATE_FORM, INCIDENT_FORM, OUTLINE, POSTMORTEM_FORM } from "./forms";
import { pathsOfIncident } from "./incident-paths";
import { previewIncident, readIncidentView } from "./incident-view";

/** Adds the forms that edit an incident, an update and a post-mortem. */
export function addEditRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/edit", {
    ask: "The form to edit an incident",
    summary: "Edit an incident",
    form: INCIDENT_FORM,
    load(reader, { params }) {
      const context = readIncidentView(ctx, reader, params.id);
      return { resource: context.incident, version: context.incident.version, context };
    },
    show: (state) => ({
      title: `Edit ${state.context.incident.name}`,
      children: (
        <FormScreen
          title="Edit incident"
          crumbs={crumbsOf(state.context.incident)}
          intro="Status and components change through updates."
          form={INCIDENT_FORM}
          state={state}
          action={pathsOfIncident(state.context.incident.id).edit}
        >
          <Button kind="primary">Save changes</Button>
        </FormScreen>
      ),
    }),
    conflictField: "external_ref",
    update(tx, changes, actor, { params }, { incident }) {
      const input = exactChanges(changes, incident);
      if (Object.keys(input).length === 0) return false;
      const { row } = updateIncident(ctx, tx, params.id, input, actor);
      return row.version !== incident.version;
    },
    done: ({ params }) => ({ path: incidentPath(params.id), text: "The incident was changed." }),
  });

  area.editForm("/:id/updates/:update_id", {
    ask: "The form to edit an update",
    summary: "Edit an update",
    form: EDIT_UPDATE_FORM,
    load(reader, { params }) {
      const { update } = getUpdate(reader, params.id, params.update_id, true);
      const resource = presentUpdate(update);
      const context = { ...readIncidentView(ctx, reader, params.id), update: resource };
      // Its own version, so that newer updates of the incident do not make the form stale.
      return { resource, version: update.updatedAt, context };
    },
    show: (state, { params }) => ({
      title: "Edit update",
      children: (
        <FormScreen
          title={`Edit update “${INCIDENT_WORDS[state.context.update.status]}”`}
          crumbs={crumbsOf(state.context.incident)}
          intro={
            state.context.incident.draft
              ? undefined
              : "The page shows an edit at once. No notifications are sent."
          }
          form={EDIT_UPDATE_FORM}
          state={state}
          action={pathsOfIncident(params.id).update(params.update_id)}
        >
          <Button kind="primary">Save update</Button>
        </FormScreen>
      ),
    }),
    update(tx, { display_at: at, ...changes }, actor, { params }, { incident }) {
      const input =
        at === undefined ? changes : { ...changes, display_at: exactTime(at, incident.started_at) };
      if (Object.keys(input).length === 0) return false;
      const { row } = editUpdate(ctx, tx, params.id, params.update_id, input, actor);
      return row.version !== incident.version;
    },
    done: ({ params }) => ({ path: incidentPath(params.id), text: "The update was changed." }),
  });

  area.editForm("/:id/postmortem", {
    ask: "The editor of an incident's post-mortem",
    summary: "Write an incident's post-mortem",
    form: POSTMORTEM_FORM,
    load(reader, { params, sent }) {
      const context = readIncidentView(ctx, reader, params.id);
      const { postmortem, version } = context.incident;
      // A new post-mortem starts with the outline, which is a change once it is submitted.
      const body = postmortem?.body ?? (sent === undefined ? OUTLINE : "");
      return { resource: { body, publish: isPublished(context.incident) }, version, context };
    },
    show: (state) => ({
      title: `Post-mortem of ${state.context.incident.name}`,
      children: (
        <FormScreen
          title="Post-mortem"
          crumbs={crumbsOf(state.context.incident)}
          intro={describePostmortem(state.context.incident)}
          form={POSTMORTEM_FORM}
          state={state}
          action={pathsOfIncident(state.context.incident.id).postmortem}
        >
          <PostmortemButtons incident={state.context.incident} />
        </FormScreen>
      ),
    }),
    update(tx, changes, actor, { params }, { incident }) {
      const { body = incident.postmortem?.body ?? "", publish } = changes;
      if (publish && body.trim() === OUTLINE.trim()) {
        const detail = "is nothing but its headings: write something below them";
        throw invalidFields([{ pointer: "#/body", detail }]);
      }
      const input = { body, ...(publish === undefined ? {} : { publish }) };
      putPostmortem(ctx, tx, params.id, input, actor);
    },
    done: ({ params }, { publish }) => ({
      path: incidentPath(params.id),
      text: `The post-mortem was ${POSTMORTEM_DONE[publish] ?? "saved"}.`,
    }),
    preview: {
      ask: "The post-mortem that was previewed",
      summary: "Show a post-mortem as the public sees it",
      show(tx, { params: { id }, requestContext }) {
        const actor = actorOf(requestContext);
        const body = getIncident(tx, id, true).row.postmortemBody ?? "";
        putPostmortem(ctx, tx, id, { body, publish: true }, actor);
        return previewIncident(ctx, tx, id, actor);
      },
    },
  });
}

function crumbsOf({ id, name }: Incident) {
  return [
    { href: INCIDENTS_PATH, label: "Incidents" },
    { href: incidentPath(id), label: name },
  ];
}

/**
 * Returns the changes of an incident with exact times. The time of resolution is left out if the
 * incident is open, as the form does not show it.
 */
function exactChanges(
  { resolved_at: resolvedAt, ...changes }: Partial<UpdateIncidentBody>,
  incident: Incident,
): UpdateIncidentBody {
  const { started_at: startedAt = incident.started_at } = changes;
  const times = {
    identified_at: changes.identified_at,
    monitoring_at: changes.monitoring_at,
    resolved_at: incident.status === "resolved" ? resolvedAt : undefined,
  };
  const typed = Object.entries(times).filter(([, time]) => time !== undefined);
  return {
    ...changes,
    ...Object.fromEntries(
      typed.map(([name, time]) => [name, time ? exactTime(time, startedAt) : time]),
    ),
  };
}

/**
 * Returns the start of an incident for the minute that contains it, and other times unchanged. Forms
 * have minutes only, and no time may lie before the start.
 */
function exactTime(time: string, startedAt: string): string {
  return time === `${startedAt.slice(0, 16)}:00.000Z` ? startedAt : time;
}

const POSTMORTEM_DONE: Readonly<Record<string, string>> = {
  publish: "published",
  withdraw: "withdrawn",
};

function PostmortemButtons({ incident }: { incident: Incident }) {
  return (
    <>
      {isPublished(incident) ? (
        <>
          <Button kind="primary">Save changes</Button>
          <Button name="do" value="withdraw">
            Save and withdraw
          </Button>
        </>
      ) : (
        <>
          <Button kind="primary" name="do" value="publish">
            Publish post-mortem
          </Button>
          <Button>Save draft</Button>
        </>
      )}
      <Button previewAction={`${pathsOfIncident(incident.id).postmortem}/preview`}>Preview</Button>
    </>
  );
}

function describePostmortem(incident: Incident): string {
  if (incident.draft) {
    return "The incident is a draft. The post-mortem is shown once both are published.";
  }
  return isPublished(incident)
    ? "Published: the page shows saved changes at once."
    : "Only signed-in users see the post-mortem until you publish it.";
}

function isPublished({ postmortem }: Incident): boolean {
  return Boolean(postmortem?.published_at);
}
