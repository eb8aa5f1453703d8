import type { IncidentStatus } from "../../domain/incident-status";
import type { Form as SentForm } from "../../http";
import { Button } from "../../ui";
import type { Field } from "../forms/field";
import { messageField } from "../forms/text-fields";

/** Template of a message. All texts that it fills in can be edited in the form. */
export interface MessageTemplate {
  id: string;
  label: string;
  status: IncidentStatus;
  /** Message in Markdown. */
  body: string;
}

/** Templates for the first update of an incident. */
export const REPORT_TEMPLATES: readonly MessageTemplate[] = [
  {
    id: "errors",
    label: "Investigating an error",
    status: "investigating",
    body: "We are seeing errors and are looking into the cause. We will post an update as soon as we know more.",
  },
  {
    id: "slow",
    label: "Slow responses",
    status: "investigating",
    body: "Requests take longer than usual. We are looking into the cause and will post an update as soon as we know more.",
  },
  {
    id: "third-party",
    label: "Third-party provider",
    status: "identified",
    body: "A provider that we depend on has a problem, which affects us. We are following its progress and will post an update when something changes.",
  },
  {
    id: "unknown",
    label: "Cause unknown",
    status: "investigating",
    body: "Something is not working as it should. We are finding out what it is and will post an update as soon as we know more.",
  },
];

/** Templates for further updates. */
export const UPDATE_TEMPLATES: readonly MessageTemplate[] = [
  {
    id: "identified",
    label: "Cause found",
    status: "identified",
    body: "We have found the cause and are working on a fix.",
  },
  {
    id: "monitoring",
    label: "Fix in place",
    status: "monitoring",
    body: "A fix is in place. We are watching whether everything recovers.",
  },
  {
    id: "resolved",
    label: "Resolved",
    status: "resolved",
    body: "This incident is resolved. Everything works as usual again.",
  },
];

/** Name of the template buttons; their values are the ids of the templates. */
const TEMPLATE_BUTTON = "template";

/**
 * Returns form values filled in from the template whose button was pressed; undefined if another
 * button was. The message is kept if it differs from every template. An unknown id changes nothing.
 */
export function fillInTemplate<Values extends { body: string; status: string }>(
  values: Values,
  sent: SentForm,
  templates: readonly MessageTemplate[],
): Values | undefined {
  const id = sent.text(TEMPLATE_BUTTON);
  if (id === "") return undefined;
  const template = templates.find((candidate) => candidate.id === id);
  if (!template) return values;
  const isOwn = values.body.trim() !== "" && !templates.some(({ body }) => body === values.body);
  return { ...values, status: template.status, body: isOwn ? values.body : template.body };
}

/**
 * Field for a message, below buttons that fill a template into it and into the field `status`, by
 * script or by submitting the form. The buttons precede the main one, so the form needs `enter`.
 */
export function templateMessageField<Context>(options: {
  label: string;
  hint: string;
  /** Returns the offered templates. */
  templates: (context: Context) => readonly MessageTemplate[];
  /** Returns the path of the form, which is then shown at its message. */
  action: (context: Context) => string;
}): Field<string, string, Context> {
  const { templates, action, ...rest } = options;
  const message = messageField(rest);
  return {
    ...message,
    Input: (props) => (
      <>
        <TemplateButtons
          templates={templates(props.context)}
          action={action(props.context)}
          message={props.value}
        />
        {message.Input(props)}
      </>
    ),
  };
}

function TemplateButtons(props: {
  templates: readonly MessageTemplate[];
  action: string;
  message: string;
}) {
  return (
    <div class="field">
      <p class="label" id="templates">
        Message templates
      </p>
      <div class="presets" role="group" aria-labelledby="templates">
        {props.templates.map(({ id, label, status, body }) => (
          <Button
            key={id}
            name={TEMPLATE_BUTTON}
            value={id}
            action={`${props.action}#field-body`}
            preset={{ status, body }}
            isCurrent={props.message === body}
            title={body}
          >
            {label}
          </Button>
        ))}
      </div>
    </div>
  );
}
