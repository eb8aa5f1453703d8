import { invalidFields } from "../../errors/problem";
import { getIncident } from "../../features/incidents/records";
import type { Incident } from "../../features/incidents/model";
import { putPostmortem } from "../../features/incidents/edit";
import { actorOf } from "../../http/request-context";
import { Button } from "../../ui/buttons";
import type { AdminDependencies } from "../dependencies";
import { incidentPath } from "../paths";
import type { Area } from "../screens/area";
import { FormScreen } from "../screens/form-screen";
import { OUTLINE, POSTMORTEM_FORM } from "./forms";
import { incidentCrumbs, pathsOfIncident } from "./incident-paths";
import { previewIncident, readIncidentView } from "./incident-view";

/** Adds the form that writes, publishes and withdraws the post-mortem of an incident. */
export function addPostmortemRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/postmortem", {
    showSummary: "Show the form for a post-mortem",
    summary: "Save a post-mortem",
    form: POSTMORTEM_FORM,
    load(reader, { params, sent }) {
      const context = readIncidentView(ctx, reader, params.id);
      const { postmortem, version } = context.incident;
      // A new post-mortem starts with the outline, which is a change once it is submitted.
      const body = postmortem?.body ?? (sent === undefined ? OUTLINE : "");
      return {
        resource: { body, publish: isPublished(context.incident), notify: true },
        version,
        context,
      };
    },
    show(state) {
      const { incident } = state.context;
      return {
        title: `Post-mortem of ${incident.name}`,
        children: (
          <FormScreen
            title="Post-mortem"
            crumbs={incidentCrumbs(incident)}
            intro={describePostmortem(incident)}
            form={POSTMORTEM_FORM}
            state={state}
            action={pathsOfIncident(incident.id).postmortem}
            foot={isPublished(incident) ? undefined : state.context.audience?.exact}
          >
            <PostmortemButtons incident={incident} />
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }, { incident }) {
      const { body = incident.postmortem?.body ?? "", publish, notify } = changes;
      // The box alone changes nothing.
      if (publish === undefined && changes.body === undefined) return false;
      if (publish && body.trim() === OUTLINE.trim()) {
        const detail = "contains only headings. Write text below them";
        throw invalidFields([{ pointer: "#/body", detail }]);
      }
      const input = {
        body,
        ...(publish === undefined ? {} : { publish }),
        ...(notify === undefined ? {} : { notify }),
      };
      putPostmortem(ctx, tx, params.id, input, actor);
      return true;
    },
    done: ({ params }, { publish }) => ({
      path: incidentPath(params.id),
      text: doneText(publish),
    }),
    preview: {
      showSummary: "Redirect to the post-mortem",
      summary: "Preview a post-mortem",
      show(tx, { params: { id }, requestContext }) {
        const actor = actorOf(requestContext);
        const body = getIncident(tx, id, true).row.postmortemBody ?? "";
        putPostmortem(ctx, tx, id, { body, publish: true }, actor);
        return previewIncident(ctx, tx, id, actor);
      },
    },
  });
}

/** Returns the confirmation for the button that was pressed. */
function doneText(button: string): string {
  if (button === "publish") return "The post-mortem was published.";
  if (button === "withdraw") return "The post-mortem was withdrawn.";
  return "The post-mortem was saved.";
}

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
    return "The incident is a draft. Visitors see the post-mortem once both are published.";
  }
  return isPublished(incident)
    ? "Published: the page shows saved changes at once."
    : "Only signed-in users see the post-mortem until you publish it.";
}

function isPublished({ postmortem }: Incident): boolean {
  return Boolean(postmortem?.published_at);
}
