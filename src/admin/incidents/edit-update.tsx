import type { EditUpdateBody, Incident, IncidentUpdate } from "../../features/incidents";
import type { Form as SentForm } from "../../http";
import { INCIDENT_WORDS } from "../../public/words";
import {
  Actions,
  Button,
  ButtonLink,
  Form,
  ErrorSummary,
  DateTimeField,
  PageHead,
  FormNotice,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MessageField } from "../message-field";
import { INCIDENTS_PATH } from "../paths";
import { versionField } from "../stale";
import { multilineText } from "../multiline-text";
import { minuteOf, type TimeReader } from "./time-reader";
import { pathsOfIncident } from "./incident-paths";

/** Typed values of the form that edits an update. */
export interface EditUpdateValues {
  body: string;
  displayAt: string;
}

const LABELS = { body: "Message", display_at: "Took effect at (UTC)" };

/** Form that edits the text and the effective time of an update. */
export function EditUpdate(props: {
  incident: Incident;
  update: IncidentUpdate;
  /** Version of the update, so that new updates of the incident do not make the form stale. */
  version: number;
  values: EditUpdateValues;
  complaints: Complaints;
  stale: string | undefined;
  timeZone: string;
}) {
  const { incident, update, values, stale, timeZone } = props;
  const wrong = wording(props.complaints, LABELS);
  const paths = pathsOfIncident(incident.id);
  return (
    <>
      <PageHead
        title={`Edit update “${INCIDENT_WORDS[update.status]}”`}
        crumbs={[
          { href: INCIDENTS_PATH, label: "Incidents" },
          { href: paths.home, label: incident.name },
        ]}
      >
        {incident.draft ? undefined : "The page shows an edit at once. No notifications are sent."}
      </PageHead>
      <Form action={paths.update(update.id)} hidden={versionField(props)}>
        {stale === undefined ? null : <FormNotice>{stale}</FormNotice>}
        <ErrorSummary errors={wrong.all} />
        <MessageField
          label={LABELS.body}
          value={values.body}
          hint="Markdown."
          rows={6}
          wrong={wrong}
        />
        <DateTimeField
          label={LABELS.display_at}
          name="display_at"
          value={values.displayAt}
          hint="The component statuses of this update move along, and so does their history."
          error={wrong.about("display_at")}
          timeZone={timeZone}
          required
        />
        <Actions>
          <Button kind="primary">Save update</Button>
          <ButtonLink href={paths.home}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Returns the form values of a stored update. */
export function storedUpdate(update: IncidentUpdate): EditUpdateValues {
  return { body: update.body, displayAt: minuteOf(update.display_at) };
}

/** Reads the typed values. */
export function readEditUpdate(form: SentForm): EditUpdateValues {
  return { body: multilineText(form, "body"), displayAt: form.text("display_at") };
}

/**
 * Returns the requested change. `known` holds the exact times that the typed minute may mean;
 * invalid times are recorded in `times`.
 */
export function toEditUpdate(
  values: EditUpdateValues,
  known: readonly string[],
  times: TimeReader,
): EditUpdateBody {
  return { body: values.body, display_at: times.read("display_at", values.displayAt, known) };
}
