import type { Incident, UpdateIncidentBody } from "../../features/incidents";
import type { Form as SentForm } from "../../http";
import { IMPACTS } from "../../domain/incident-status";
import { IMPACT_WORDS } from "../../public/words";
import {
  Actions,
  Button,
  ButtonLink,
  Form,
  ErrorSummary,
  DateTimeField,
  PageHead,
  FormNotice,
  SelectField,
  TextField,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { NameField } from "../name-field";
import { INCIDENTS_PATH } from "../paths";
import { versionField } from "../stale";
import { minuteOf, type TimeReader } from "./time-reader";
import { pathsOfIncident } from "./incident-paths";

/** Typed values of the form that edits an incident. */
export interface EditValues {
  name: string;
  impact: string;
  externalRef: string;
  startedAt: string;
  identifiedAt: string;
  monitoringAt: string;
  resolvedAt: string;
}

const LABELS = {
  name: "Name",
  impact_override: "Impact",
  external_ref: "External reference",
  started_at: "Started at (UTC)",
  identified_at: "Identified at (UTC)",
  monitoring_at: "Monitoring since (UTC)",
  resolved_at: "Resolved at (UTC)",
};

/** Form for the name, impact, times and external reference of an incident. */
export function EditIncident(props: {
  incident: Incident;
  values: EditValues;
  complaints: Complaints;
  stale: string | undefined;
  timeZone: string;
}) {
  const { incident, values, stale, timeZone } = props;
  const wrong = wording(props.complaints, LABELS);
  const paths = pathsOfIncident(incident.id);
  const momentOf = (name: keyof typeof LABELS, value: string, hint?: string) => (
    <DateTimeField
      label={LABELS[name]}
      name={name}
      value={value}
      hint={hint}
      error={wrong.about(name)}
      timeZone={timeZone}
    />
  );
  return (
    <>
      <PageHead
        title="Edit incident"
        crumbs={[
          { href: INCIDENTS_PATH, label: "Incidents" },
          { href: paths.home, label: incident.name },
        ]}
      >
        Status and components change through updates.
      </PageHead>
      <Form action={paths.edit} hidden={versionField(incident)}>
        {stale === undefined ? null : <FormNotice>{stale}</FormNotice>}
        <ErrorSummary errors={wrong.all} />
        <NameField value={values.name} wrong={wrong} />
        <SelectField
          label={LABELS.impact_override}
          name="impact_override"
          options={[
            { value: "", label: "Worst of the components" },
            ...IMPACTS.map((impact) => ({ value: impact, label: IMPACT_WORDS[impact] })),
          ]}
          value={values.impact}
          error={wrong.about("impact_override")}
        />
        {momentOf(
          "started_at",
          values.startedAt,
          "Component statuses apply from then on. History and uptime change accordingly.",
        )}
        {momentOf(
          "identified_at",
          values.identifiedAt,
          "Empty if the incident never had this status.",
        )}
        {momentOf(
          "monitoring_at",
          values.monitoringAt,
          "Empty if the incident never had this status.",
        )}
        {incident.status === "resolved" ? momentOf("resolved_at", values.resolvedAt) : null}
        <TextField
          label={LABELS.external_ref}
          name="external_ref"
          value={values.externalRef}
          hint="Id of this incident in another system. Unique on the page."
          error={wrong.about("external_ref")}
          maxlength={255}
          autocomplete="off"
        />
        <Actions>
          <Button kind="primary">Save changes</Button>
          <ButtonLink href={paths.home}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Returns the form values of a stored incident. */
export function storedEdit(incident: Incident): EditValues {
  return {
    name: incident.name,
    impact: incident.impact_override ?? "",
    externalRef: incident.external_ref ?? "",
    startedAt: minuteOf(incident.started_at),
    identifiedAt: minuteOf(incident.identified_at),
    monitoringAt: minuteOf(incident.monitoring_at),
    resolvedAt: minuteOf(incident.resolved_at),
  };
}

/** Reads the typed values. */
export function readEdit(form: SentForm): EditValues {
  return {
    name: form.text("name"),
    impact: form.text("impact_override"),
    externalRef: form.text("external_ref"),
    startedAt: form.text("started_at"),
    identifiedAt: form.text("identified_at"),
    monitoringAt: form.text("monitoring_at"),
    resolvedAt: form.text("resolved_at"),
  };
}

/** Returns the requested change of an incident. Invalid times are recorded in `times`. */
export function toEdit(
  values: EditValues,
  incident: Incident,
  times: TimeReader,
): UpdateIncidentBody {
  const externalRef = values.externalRef.trim();
  const startedAt = times.read("started_at", values.startedAt, [incident.started_at]);
  const read = (name: "identified_at" | "monitoring_at" | "resolved_at", typed: string) =>
    times.read(name, typed, [incident[name], startedAt]);
  const readOptional = (name: "identified_at" | "monitoring_at", typed: string) =>
    typed.trim() === "" ? null : read(name, typed);
  return {
    name: values.name.trim(),
    // What is none of them is for the service to refuse.
    impact_override: (values.impact || null) as UpdateIncidentBody["impact_override"] & string,
    external_ref: externalRef === "" ? null : externalRef,
    started_at: startedAt,
    identified_at: readOptional("identified_at", values.identifiedAt),
    monitoring_at: readOptional("monitoring_at", values.monitoringAt),
    ...(incident.status === "resolved"
      ? { resolved_at: read("resolved_at", values.resolvedAt) }
      : {}),
  };
}
