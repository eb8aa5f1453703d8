import { INCIDENT_STATUSES } from "../../domain/incident-status";
import { conflict } from "../../errors/problem";
import { addUpdate } from "../../features/incidents/updates";
import { deleteIncident } from "../../features/incidents/delete";
import { findIncident } from "../../features/incidents/store";
import { getIncident, type IncidentRecord } from "../../features/incidents/records";
import { splitOff } from "../../features/incidents/split-off";
import { updateIncident } from "../../features/incidents/edit";
import { actorOf, sessionOf } from "../../http/request-context";
import { formBody } from "../../http/form-body";
import { session } from "../../http/operation";
import { plural } from "../../kernel/text";
import { INCIDENT_WORDS } from "../../public/words";
import type { AdminDependencies } from "../dependencies";
import { newFormToken } from "../write-as";
import type { StateOf } from "../forms/form";
import { INCIDENTS_PATH, incidentPath } from "../paths";
import { createPreview } from "../preview";
import type { Screen } from "../render";
import { screenOperation } from "../screen-operation";
import { deletedText } from "../screens/action-routes";
import type { Area } from "../screens/area";
import type { At } from "../screens/routes";
import { audienceNoteOf, isCounting } from "../timeline/audience";
import { RESOLVED_TEXT, UPDATE_TEMPLATES } from "./built-in-templates";
import { affectedIds } from "./component-statuses";
import { DeleteIncident } from "./delete";
import { SPLIT_FORM } from "./detected-by";
import { IncidentDetail } from "./detail";
import { UPDATE_FORM } from "./forms";
import { RESOLVE_INTENT } from "./incident-paths";
import { type IncidentView, previewIncident, readIncidentView } from "./incident-view";
import { fillInTemplate, fromBuiltIn } from "./templates";

/** Templates for further updates, also for forms that were opened before these were hidden. */
const UPDATE_OFFER = { own: [], builtIn: UPDATE_TEMPLATES.map(fromBuiltIn) };

/** Adds the screen of one incident, its next update, its publication and its deletion. */
export function addIncidentRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx } = deps;
  const preview = createPreview(deps);
  const home = ({ params }: { params: { id: string } }) => incidentPath(params.id);

  function detail(
    { requestContext, query }: Pick<At<string>, "requestContext" | "query">,
    nextUpdate: StateOf<typeof UPDATE_FORM>,
    split?: StateOf<typeof SPLIT_FORM>,
  ): Screen {
    const { role } = sessionOf(requestContext).user;
    const { context } = nextUpdate;
    const page = {
      nextUpdate,
      split: split ?? SPLIT_FORM.state(SPLIT_FORM.initial(), context, { form: newFormToken(ctx) }),
      resolveToken: newFormToken(ctx),
      role,
      before: query["before"],
      now: ctx.clock.now(),
    };
    return { title: context.incident.name, children: <IncidentDetail {...page} /> };
  }

  function emptyUpdate(view: IncidentView, status = view.incident.status, body = "") {
    const values = UPDATE_FORM.initial({ status, body });
    return UPDATE_FORM.state(values, view, { form: newFormToken(ctx) });
  }

  area.screen(
    "/:id",
    "Show an incident",
    (at) => {
      const view = readIncidentView(ctx, ctx.db, at.params.id);
      // A link may propose the next status, such as that of the overview for a recovered monitor.
      const proposed = INCIDENT_STATUSES.find((status) => status === at.query["status"]);
      const body = proposed === "resolved" ? RESOLVED_TEXT : "";
      return detail(at, emptyUpdate(view, proposed, body));
    },
    { role: "viewer" },
  );

  area.form("/:id/updates", {
    showSummary: "Redirect to the incident",
    summary: "Add an update to an incident",
    form: UPDATE_FORM,
    back: home,
    load: (reader, { params }) => readIncidentView(ctx, reader, params.id),
    show(state, at) {
      const { values, notice, context } = state;
      // After a conflict, the form starts from the current status again.
      const { status } = notice === undefined ? values : context.incident;
      const subject = { id: at.params.id, kind: "incident" } as const;
      const audience = audienceNoteOf(ctx, ctx.db, context.page, subject, affectedIds(state));
      return detail(at, {
        ...state,
        values: { ...values, status },
        context: { ...context, audience },
      });
    },
    redisplay: (values, sent) =>
      isCounting(sent) ? values : fillInTemplate(values, sent, UPDATE_OFFER),
    submit(tx, body, actor, { params, sent }, { incident }) {
      const seen = sent.text("seen_status");
      if (sent.text("intent") === RESOLVE_INTENT && incident.status === "resolved") {
        throw conflict("The incident was resolved meanwhile, so nothing was published.");
      }
      if (seen !== "" && seen === body.status && seen !== incident.status) {
        throw conflict(
          `The incident became “${INCIDENT_WORDS[incident.status]}” while you were writing, so your update was not published. Your message is kept below, with the current status. Read the timeline, then submit the update again.`,
        );
      }
      return addUpdate(ctx, tx, params.id, body, actor).update.id;
    },
    done(updateId, at) {
      // The incident may have been deleted since the form was sent for the first time.
      const isDeleted = findIncident(ctx.db, { id: at.params.id }) === undefined;
      if (isDeleted) return { path: INCIDENTS_PATH, text: undefined };
      return {
        path: home(at),
        text: updateText(getIncident(ctx.db, at.params.id, true), updateId),
      };
    },
    preview: {
      showSummary: "Redirect to the incident",
      summary: "Preview an update to an incident",
      show: (tx, _, { params, requestContext }) =>
        previewIncident(ctx, tx, params.id, actorOf(requestContext)),
    },
  });

  area.form("/:id/split-off", {
    showSummary: "Redirect to the incident",
    summary: "Split outages off an incident",
    form: SPLIT_FORM,
    back: home,
    load: (reader, { params }) => readIncidentView(ctx, reader, params.id),
    show: (state, at) => detail(at, emptyUpdate(state.context), state),
    // A conflict, such as a selection of all, concerns the selected monitors.
    conflictField: "monitors",
    submit: (tx, body, actor, { params }) => splitOff(ctx, tx, params.id, body, actor).row.id,
    done: (id, at, { monitors }) => ({
      // The incident may have been deleted since the form was sent for the first time.
      path: findIncident(ctx.db, { id: at.params.id }) ? home(at) : INCIDENTS_PATH,
      text: `${plural(new Set(monitors).size, "monitor")} split off.`,
      link: { href: incidentPath(id), label: "Open the new incident" },
    }),
  });

  area.action("/:id/publish", {
    summary: "Publish a draft",
    run(tx, { params }, actor) {
      const { row } = getIncident(tx, params.id, true);
      updateIncident(ctx, tx, params.id, { draft: false }, actor);
      return { wasDraft: row.draft };
    },
    done: ({ wasDraft }, at) => ({
      path: home(at),
      text: wasDraft ? "The incident was published." : undefined,
    }),
  });

  area.screen("/:id/publish/preview", "Redirect to the draft", (at) => ({ path: home(at) }));

  area.routes.post(
    "/:id/publish/preview",
    async ({ request, requestContext, params: { id } }) =>
      preview({ request, requestContext }, (tx) =>
        previewIncident(ctx, tx, id, actorOf(requestContext)),
      ),
    {
      ...formBody(),
      ...screenOperation("Preview a draft", session("editor")),
    },
  );

  area.deletion("/:id/delete", {
    showSummary: "Show the confirmation for deleting an incident",
    summary: "Delete an incident",
    show({ params }) {
      const view = readIncidentView(ctx, ctx.db, params.id);
      const title = `Delete “${view.incident.name}”`;
      return { title, children: <DeleteIncident title={title} view={view} /> };
    },
    remove(tx, { params: { id } }, actor) {
      const { name } = getIncident(tx, id, true).row;
      deleteIncident(ctx, tx, id, actor);
      return { name, subjectId: id };
    },
    done: (_, name) => ({ path: INCIDENTS_PATH, text: deletedText("incident", name) }),
  });
}

/** Returns the confirmation of an update. */
function updateText({ row, updates }: IncidentRecord, updateId: string): string {
  if (row.draft) return "The update was added to the draft.";
  // Ids sort by creation.
  const upToThis = updates
    .filter(({ id }) => id <= updateId)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const [isResolved, wasResolved] = upToThis.map(({ status }) => status === "resolved");
  if (isResolved && !wasResolved) return "The incident is resolved.";
  if (!isResolved && wasResolved) return "The incident is open again.";
  return "The update was published.";
}
