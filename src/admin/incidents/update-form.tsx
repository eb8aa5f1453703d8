import type { Form as SentForm } from "../../http";
import { INCIDENT_STATUSES } from "../../domain/incident-status";
import { INCIDENT_WORDS } from "../../public/words";
import { Actions, Button, Card, ChoiceField, Fold, Form, ErrorSummary, FormNotice } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MessageField } from "../message-field";
import { NOTIFY_LABEL, NotifyField } from "../notify-field";
import { multilineText } from "../multiline-text";
import { ComponentImpacts, readImpacts } from "./component-impacts";
import { pathsOfIncident } from "./incident-paths";
import type { IncidentView } from "./incident-view";
import { TemplateButtons } from "./template-buttons";
import { UPDATE_TEMPLATES } from "./templates";

/** Typed values of the form for the next update. */
export interface UpdateValues {
  status: string;
  body: string;
  /** Statuses by component id, for the selected components. */
  impacts: Readonly<Record<string, string>>;
  isNotifying: boolean;
}

export interface UpdateFormState {
  values: UpdateValues;
  complaints: Complaints;
  /** Reason for which the form was refused, unless a field is wrong. */
  rejection?: string | undefined;
  /** Identifies this rendering of the form, so that submitting it twice creates one update. */
  formToken: string;
}

const LABELS = {
  body: "Message",
  status: "Status",
  components: "Components",
  notify: NOTIFY_LABEL,
};

/** Form for the next update. */
export function UpdateForm({ view, state }: { view: IncidentView; state: UpdateFormState }) {
  const { incident, components, groups } = view;
  const { values, complaints, rejection, formToken } = state;
  const wrong = wording(complaints, LABELS);
  const paths = pathsOfIncident(incident.id);
  const isFoldOpen = Object.keys(values.impacts).length > 0 || "components" in complaints;
  const form = (
    <Form
      action={paths.updates}
      // What its writer saw: whoever leaves the status as it is must not undo another's.
      hidden={{ form: formToken, seen_status: incident.status }}
      enter={{}}
    >
      {rejection === undefined ? null : <FormNotice>{rejection}</FormNotice>}
      <ErrorSummary errors={wrong.all} />
      <TemplateButtons
        action={paths.updates}
        templates={UPDATE_TEMPLATES.filter(({ status }) => status !== incident.status)}
        body={values.body}
      />
      <MessageField
        label={LABELS.body}
        value={values.body}
        hint="What people should know now. Markdown."
        wrong={wrong}
      />
      <ChoiceField
        legend={LABELS.status}
        name="status"
        options={INCIDENT_STATUSES.map((status) => ({
          value: status,
          label: INCIDENT_WORDS[status],
        }))}
        value={values.status}
        error={wrong.about("status")}
      />
      {components.length > 0 ? (
        <Fold title="Change components" isOpen={isFoldOpen}>
          <ComponentImpacts
            components={components}
            groups={groups}
            chosen={values.impacts}
            error={wrong.about("components")}
            hint="Resolving ends all component statuses set by this incident. You need not select components."
            unchangedLabel="No change"
          />
        </Fold>
      ) : null}
      <NotifyField isChecked={values.isNotifying} error={wrong.about("notify")} />
      <Actions>
        {incident.draft ? (
          <Button>Add to draft</Button>
        ) : (
          <Button kind="primary">Publish update</Button>
        )}
        <Button previewAction={paths.previewUpdate}>Preview</Button>
      </Actions>
    </Form>
  );
  // What is over takes the room of one line, until somebody has more to say.
  if (incident.status !== "resolved") return <Card title="Next update">{form}</Card>;
  const isBegun = values.body !== "" || rejection !== undefined || wrong.all.length > 0;
  return (
    <Card>
      <Fold title="Add an update, or reopen the incident" isOpen={isBegun}>
        {form}
      </Fold>
    </Card>
  );
}

/** Returns the initial values of the form, with the current status. */
export function emptyUpdate({ incident }: IncidentView): UpdateValues {
  return { status: incident.status, body: "", impacts: {}, isNotifying: true };
}

/** Reads the typed values. */
export function readUpdate(form: SentForm, components: IncidentView["components"]): UpdateValues {
  return {
    status: form.text("status"),
    body: multilineText(form, "body"),
    impacts: readImpacts(form, components),
    isNotifying: form.text("notify") === "yes",
  };
}
