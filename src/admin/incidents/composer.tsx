import { Button } from "../../ui/buttons";
import { Fold } from "../../ui/blocks";
import type { StateOf } from "../forms/form";
import { AudienceHint } from "../timeline/audience";
import { notifyLabel } from "../timeline/notified";
import { UpdateForm } from "../timeline/update-form";
import { UPDATE_TEMPLATES } from "./built-in-templates";
import { UPDATE_FIELDS, type UPDATE_FORM } from "./forms";
import { pathsOfIncident } from "./incident-paths";
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
