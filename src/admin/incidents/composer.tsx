import { Button, Fold, HiddenFields } from "../../ui";
import type { StateOf } from "../forms/form";
import { AudienceHint } from "../timeline/audience";
import { notifyLabel } from "../timeline/notified";
import { UpdateForm } from "../timeline/update-form";
import { Elapsed, Links } from "../overview/parts";
import { monitorPath } from "../paths";
import { RESOLVED_TEXT, UPDATE_TEMPLATES } from "./built-in-templates";
import { UPDATE_FIELDS, type UPDATE_FORM } from "./forms";
import { pathsOfIncident, RESOLVE_INTENT } from "./incident-paths";
import type { IncidentView } from "./incident-view";
import { TemplateMenu } from "./template-buttons";
import { fromBuiltIn } from "./templates";

type UpdateState = StateOf<typeof UPDATE_FORM>;

/** Form for the next update; folded for a resolved incident unless something was typed. */
export function NextUpdate({ state }: { state: UpdateState }) {
  const { incident, offersBuiltIn, notified, audience } = state.context;
  const action = pathsOfIncident(incident.id).updates;
  const isOver = incident.status === "resolved";
  const templates = UPDATE_TEMPLATES.filter(
    ({ status }) => offersBuiltIn && status !== incident.status,
  ).map(fromBuiltIn);
  const form = (
    <UpdateForm
      title={isOver ? "New update" : "Next update"}
      menu={<TemplateMenu templates={templates} action={action} message={state.values.body} />}
      fields={UPDATE_FIELDS}
      // The submitted form says which status its author saw, so that it cannot revert a newer one.
      state={{ ...state, hidden: { ...state.hidden, seen_status: incident.status } }}
      action={action}
      audience={audience && <AudienceHint audience={audience} />}
      notifyLabel={notifyLabel(notified) + (incident.draft ? " when published" : "")}
    >
      {incident.draft ? <Button>Add to draft</Button> : undefined}
    </UpdateForm>
  );
  if (!isOver)
    return (
      <section class="card" id="next-update" data-live="">
        {form}
      </section>
    );
  const { values, errors, notice } = state;
  const isOpen = values.body !== "" || notice !== undefined || Object.keys(errors).length > 0;
  return (
    <section class="card panel" id="next-update" data-live="">
      <Fold title="Add an update, or reopen the incident" isOpen={isOpen}>
        {form}
      </Fold>
    </section>
  );
}

/**
 * Says that all monitors that opened an incident are up again, and resolves it with one button. Renders
 * nothing for a draft, and while a monitor is not up.
 */
export function Recovered(props: {
  view: IncidentView;
  /** Token of the form. */
  token: string;
  canWrite: boolean;
  now: number;
}) {
  const { view, token, canWrite, now } = props;
  const { incident, monitors } = view;
  const states = monitors.map(({ record }) => record.state);
  const isUp = states.length > 0 && states.every(({ state }) => state === "up");
  if (!isUp || incident.draft || incident.status === "resolved") return null;
  return (
    <div class="notice t-ok">
      <div class="notice-text panel-head">
        <p>
          <Links
            items={monitors.map(({ record: { row } }) => ({
              href: monitorPath(row.id),
              name: row.name,
            }))}
          />{" "}
          {monitors.length === 1 ? "has" : "have"} been up for{" "}
          <Elapsed since={Math.max(...states.map(({ since }) => since))} now={now} />.
        </p>
        {canWrite ? (
          <form method="post" action={pathsOfIncident(incident.id).updates}>
            <HiddenFields
              values={{
                form: token,
                seen_status: incident.status,
                intent: RESOLVE_INTENT,
                status: "resolved",
                body: RESOLVED_TEXT,
                notify: "yes",
              }}
            />
            <Button>Resolve incident</Button>
          </form>
        ) : null}
      </div>
    </div>
  );
}
