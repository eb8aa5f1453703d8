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

/** What stands in the form for an update that was written before, as it was typed. */
export interface EditUpdateValues {
  body: string;
  displayAt: string;
}

const LABELS = { body: "Message", display_at: "Took effect at (UTC)" };

/** Mending an update: its text, and the moment that it tells of. */
export function EditUpdate(props: {
  incident: Incident;
  update: IncidentUpdate;
  /** Of the update: others may go on telling while this one is mended. */
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
        {incident.draft ? undefined : "The page shows it at once. Nobody is told of an edit."}
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
          hint="What components were marked with moves along, and so does their history."
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

/** An update as its form begins. */
export function storedUpdate(update: IncidentUpdate): EditUpdateValues {
  return { body: update.body, displayAt: minuteOf(update.display_at) };
}

/** What was typed. */
export function readEditUpdate(form: SentForm): EditUpdateValues {
  return { body: multilineText(form, "body"), displayAt: form.text("display_at") };
}

/**
 * The change that was asked for. `known` are the moments that its minute may stand for; a time that is
 * none is told to `times`.
 */
export function toEditUpdate(
  values: EditUpdateValues,
  known: readonly string[],
  times: TimeReader,
): EditUpdateBody {
  return { body: values.body, display_at: times.read("display_at", values.displayAt, known) };
}
