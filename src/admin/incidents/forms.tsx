import type {
  AddUpdateBody,
  CreateIncidentBody,
  EditUpdateBody,
  UpdateIncidentBody,
} from "../../features/incidents/bodies";
import { type Impact, IMPACTS, INCIDENT_STATUSES } from "../../domain/incident-status";
import type { Form as SentForm } from "../../http/form-body";
import { IMPACT_WORDS, INCIDENT_WORDS } from "../../public/words";
import { buttonField, choiceField, notifyField, selectField } from "../forms/choice-fields";
import type { PageComponents } from "../forms/components-field";
import { dateTimeField, type TimeZoneContext } from "../forms/date-time-field";
import { InvalidInput, nullable, optional } from "../forms/field";
import { defineForm } from "../forms/form";
import { type PageContext, pageField } from "../forms/page-field";
import { messageField, nameField, textAreaField, textField } from "../forms/text-fields";
import { affectedComponentsField, changedComponentsField } from "./component-statuses";
import { REPORT_PATH } from "./incident-paths";
import type { IncidentView } from "./incident-view";
import { templateMessageField } from "./template-buttons";
import type { OfferedTemplates } from "./templates";

const [FIRST_STATUS] = INCIDENT_STATUSES;

const statusField = choiceField({
  label: "Status",
  initial: FIRST_STATUS,
  options: INCIDENT_STATUSES.map((value) => ({ value, label: INCIDENT_WORDS[value] })),
});

/** Field for the impact of an incident; empty for that of its components. */
export const impactField = selectField<Impact>({
  label: "Impact",
  hint: "Impact of the incident as a whole.",
  empty: "From the component statuses",
  options: IMPACTS.map((value) => ({ value, label: IMPACT_WORDS[value] })),
});

const externalRefField = textField({
  label: "External reference",
  hint: "ID of this incident in another system. Must be unique on the page.",
  maxlength: 255,
});

/** Screen data of the form for a new incident. */
interface ReportContext extends PageContext, PageComponents {
  templates: OfferedTemplates;
}

/** Form for a new incident. */
export const REPORT_FORM = defineForm<CreateIncidentBody, ReportContext>()(
  {
    page: pageField(),
    name: nameField({
      hint: "A short summary, such as “Checkout fails for some cards”.",
    }),
    components: affectedComponentsField(),
    body: templateMessageField({
      label: "First message",
      hint: "What is known so far. Markdown.",
      templates: ({ templates }) => templates,
      action: () => REPORT_PATH,
    }),
    status: {
      ...statusField,
      read: (sent: SentForm, name: string) => sent.text(name) || FIRST_STATUS,
    },
    impact_override: optional(impactField),
    started_at: optional(
      dateTimeField({
        label: "Started at (UTC)",
        hint: "Empty means now. The component statuses apply from this time.",
      }),
    ),
    resolved_at: optional(
      dateTimeField({
        label: "Resolved at (UTC)",
        hint: "For a past incident, with the status “Resolved”.",
      }),
    ),
    notify: notifyField(),
    external_ref: optional(externalRefField),
    draft: { ...buttonField({ draft: true }), read: (sent: SentForm) => sent.text("intent") },
  },
  { advanced: ["impact_override", "started_at", "resolved_at", "notify", "external_ref"] },
);

/** Form for the next update of an incident. */
export const UPDATE_FORM = defineForm<AddUpdateBody, IncidentView>()({
  status: statusField,
  body: messageField({ label: "Message", hint: "What visitors should know now. Markdown." }),
  components: changedComponentsField(),
  notify: notifyField(),
});

/** Fields of that form without `notify`, which is in the foot of the form. */
export const UPDATE_FIELDS = UPDATE_FORM.pick("status", "body", "components");

const startedAtField = dateTimeField({
  label: "Started at (UTC)",
  hint: "The component statuses apply from this time. A change also changes past uptime.",
  isRequired: true,
});
const resolvedAtField = dateTimeField({ label: "Resolved at (UTC)" });

/** Labels of the times that an error about the start may name. */
const TIME_LABELS: Readonly<Record<string, string>> = {
  identified_at: "“Identified at”",
  monitoring_at: "“Monitoring since”",
  resolved_at: "“Resolved at”",
  display_at: "time",
};
const TIME_NAME = /\b(?:identified|monitoring|resolved|display)_at\b/;

/** Form that edits an incident. */
export const INCIDENT_FORM = defineForm<UpdateIncidentBody, IncidentView>()({
  name: nameField(),
  impact_override: nullable(impactField),
  started_at: {
    ...startedAtField,
    showError(error, typed) {
      const { detail } = startedAtField.showError(error, typed);
      return { detail: detail.replace(TIME_NAME, (name) => TIME_LABELS[name] ?? name) };
    },
  },
  identified_at: nullable(
    dateTimeField({
      label: "Identified at (UTC)",
      hint: "Empty if the incident never had this status.",
    }),
  ),
  monitoring_at: nullable(
    dateTimeField({
      label: "Monitoring since (UTC)",
      hint: "Empty if the incident never had this status.",
    }),
  ),
  // Shown only while the incident is resolved. A time that was typed before it was reopened counts
  // as a change, so that an outdated form is a conflict.
  resolved_at: {
    ...resolvedAtField,
    toBody: (typed, context) =>
      typed.trim() === "" && !isResolved(context)
        ? undefined
        : resolvedAtField.toBody(typed, context),
    fromStored: (iso: string | null) => (iso === null ? "" : resolvedAtField.fromStored(iso)),
    Input: (props) => (isResolved(props.context) ? resolvedAtField.Input(props) : null),
  },
  external_ref: nullable(externalRefField),
});

function isResolved({ incident }: IncidentView): boolean {
  return incident.status === "resolved";
}

/** Form that edits an update. */
export const EDIT_UPDATE_FORM = defineForm<EditUpdateBody, TimeZoneContext>()({
  body: messageField({ label: "Message", hint: "Markdown.", rows: 6 }),
  display_at: dateTimeField({
    label: "Took effect at (UTC)",
    hint: "The component statuses of this update apply from this time. A change also changes past uptime.",
    isRequired: true,
  }),
});

/** Outline of a new post-mortem. */
export const OUTLINE = `## What happened

## What was affected

## Why it happened

## What we do so that it does not happen again
`;

const postmortemNotifyField = notifyField();

/** Form that edits a post-mortem. Its buttons publish and withdraw it. */
export const POSTMORTEM_FORM = defineForm<
  { body: string; publish?: boolean; notify?: boolean },
  IncidentView
>()({
  body: {
    ...textAreaField({
      label: "Post-mortem",
      hint: "Markdown, up to 50,000 characters.",
      isLong: true,
      isRequired: true,
    }),
    toBody: (typed) => (typed.trim() === "" ? new InvalidInput("is empty") : typed),
  },
  publish: {
    ...buttonField({ publish: true, withdraw: false }),
    read: (sent: SentForm) => sent.text("do"),
  },
  // Only publishing notifies.
  notify: {
    ...postmortemNotifyField,
    toBody: (typed, { incident }) => (incident.postmortem?.published_at ? undefined : typed),
    Input: (props) =>
      props.context.incident.postmortem?.published_at ? null : postmortemNotifyField.Input(props),
  },
});
