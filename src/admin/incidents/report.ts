import { Problem } from "../../errors";
import type { CreateIncidentBody } from "../../features/incidents";
import type { Form } from "../../http";
import type { ComponentStatus } from "../../domain/component-status";
import { INCIDENT_STATUSES } from "../../domain/incident-status";
import { type Complaints, complaintsOrThrow } from "../field-errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";
import { NOTIFY_LABEL } from "../notify-field";
import { multilineText } from "../multiline-text";
import { readImpacts } from "./component-impacts";

/** Typed values of the form for a new incident. */
export interface ReportValues {
  name: string;
  /** Statuses by component id. */
  impacts: Readonly<Record<string, ComponentStatus>>;
  body: string;
  status: string;
  /** Impact override; empty if the component statuses determine the impact. */
  impactOverride: string;
  /** Field texts in UTC. An empty start means now, an empty end means unresolved. */
  startedAt: string;
  resolvedAt: string;
  isNotifying: boolean;
  externalRef: string;
}

/** Labels by the service's field names, in the order of the form. */
export const REPORT_LABELS = {
  page: "Page",
  name: "Name",
  components: "Components",
  body: "First message",
  status: "Status",
  impact_override: "Impact",
  started_at: "Started at (UTC)",
  resolved_at: "Resolved at (UTC)",
  notify: NOTIFY_LABEL,
  external_ref: "External reference",
} as const;

/** Fields inside the fold. */
export const FOLDED = ["impact_override", "started_at", "resolved_at", "external_ref"] as const;

const [FIRST_STATUS] = INCIDENT_STATUSES;

/** Initial values of the form. */
export const EMPTY_REPORT: ReportValues = {
  name: "",
  impacts: {},
  body: "",
  status: FIRST_STATUS,
  impactOverride: "",
  startedAt: "",
  resolvedAt: "",
  isNotifying: true,
  externalRef: "",
};

/** Reads the typed values. `components` are those that the form showed. */
export function readReport(form: Form, components: readonly { id: string }[]): ReportValues {
  return {
    name: form.text("name"),
    impacts: readImpacts(form, components),
    body: multilineText(form, "body"),
    status: form.text("status") || FIRST_STATUS,
    impactOverride: form.text("impact_override"),
    startedAt: form.text("started_at"),
    resolvedAt: form.text("resolved_at"),
    isNotifying: form.text("notify") === "yes",
    externalRef: form.text("external_ref"),
  };
}

/** Converts form values to a new incident. The service validates all fields together. */
export function toIncident(
  values: ReportValues,
  { page, isDraft }: { page: string; isDraft: boolean },
): CreateIncidentBody {
  const { startedAt, resolvedAt, impactOverride } = values;
  const externalRef = values.externalRef.trim();
  return {
    page,
    name: values.name.trim(),
    body: values.body,
    status: values.status as NonNullable<CreateIncidentBody["status"]>,
    components: values.impacts,
    draft: isDraft,
    notify: values.isNotifying,
    ...(impactOverride === ""
      ? {}
      : { impact_override: impactOverride as CreateIncidentBody["impact_override"] }),
    ...(externalRef === "" ? {} : { external_ref: externalRef }),
    // What is no moment goes on as it was typed, so that it is refused with all that is wrong besides.
    ...(startedAt === "" ? {} : { started_at: parseDateTimeInput(startedAt) ?? startedAt }),
    ...(resolvedAt === "" ? {} : { resolved_at: parseDateTimeInput(resolvedAt) ?? resolvedAt }),
  };
}

/** Reason for which a report was rejected. */
export interface ReportRejection {
  status: 409 | 422;
  complaints: Complaints;
}

/** Returns a refusal as errors of the form's fields. Any other error is rethrown. */
export function reportRejectionOrThrow(error: unknown, values: ReportValues): ReportRejection {
  // The reference is all that an incident can have in common with another.
  if (error instanceof Problem && error.code === "conflict") {
    return { status: 409, complaints: { external_ref: error.message } };
  }
  const complaints: Record<string, string> = { ...complaintsOrThrow(error) };
  for (const [field, typed] of [
    ["started_at", values.startedAt],
    ["resolved_at", values.resolvedAt],
  ] as const) {
    if (complaints[field] && parseDateTimeInput(typed) === undefined)
      complaints[field] = DATE_TIME_ERROR;
  }
  return { status: 422, complaints };
}
