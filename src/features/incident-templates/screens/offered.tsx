import type { ComponentChildren } from "preact";
import type { Field } from "../../../ui/forms/form";
import { messageField } from "../../../ui/forms/fields";
import type { IncidentStatus } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import type { Form as SentForm } from "../../../http/form-body";
import { Fold } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { Icon } from "../../../ui/icons";
import { areBuiltInTemplatesHidden } from "../../settings/settings";
import { measureTemplates, type TemplateRecord } from "../store";
import { listTemplatesForPage, listTemplatesInShort } from "../templates";

/** Template of a form. All that it fills in can be edited. */
interface FormTemplate {
  id: string;
  label: string;
  /** Values by input. An input that only other templates fill in is emptied. */
  values: Readonly<Record<string, string>>;
}

/** Templates that a form offers. */
export interface OfferedTemplates {
  /** Those that users wrote. */
  own: readonly FormTemplate[];
  builtIn: readonly FormTemplate[];
  /** True if a script fills in the templates. Otherwise the form is submitted, and `own` may be short. */
  isScripted: boolean;
}

/**
 * Maximum size of the templates that a script fills in, in characters. Larger ones are filled in by
 * submitting the form, so that the screen stays small.
 */
const SCRIPTED_MAX = 64_000;

/** Approximate size of one input of a template, and number of inputs besides components. */
const INPUT_SIZE = 50;

const INPUTS = 4;

/** Length of the message of a template that is offered in short, enough for a tooltip. */
const SHORT_LENGTH = 300;

/**
 * Reads the templates for a new incident on a page. If they are too large for a script, the messages of
 * the own ones are cut and their other values are left out, unless `isFull`.
 */
export function readReportTemplates(
  reader: Reader,
  pageId: string,
  { isFull = false } = {},
): OfferedTemplates {
  const { length, components } = measureTemplates(reader, { pageId }) ?? {
    length: 0,
    components: 0,
  };
  const short = listTemplatesInShort(reader, { pageId, length: SHORT_LENGTH });
  const size = length + short.length * (INPUTS + components) * INPUT_SIZE;
  const isScripted = size <= SCRIPTED_MAX;
  return {
    own:
      isScripted || isFull
        ? listTemplatesForPage(reader, pageId).map(toFormTemplate)
        : short.map(({ id, name, beginning }) => ({
            id,
            label: name,
            values: { body: beginning },
          })),
    builtIn: areBuiltInTemplatesHidden(reader) ? [] : REPORT_TEMPLATES.map(fromBuiltIn),
    isScripted,
  };
}

export function fromBuiltIn({ id, label, status, body }: BuiltInTemplate): FormTemplate {
  return { id, label, values: { status, body } };
}

function toFormTemplate({ row, components }: TemplateRecord): FormTemplate {
  return {
    id: row.id,
    label: row.name,
    values: {
      name: row.title,
      // As browsers hold it in a text area.
      body: row.body.replaceAll(/\r\n?/g, "\n"),
      status: row.status,
      impact_override: row.impactOverride ?? "",
      ...Object.fromEntries([...components].map(([id, status]) => [inputOf(id), status])),
    },
  };
}

/** Name of the template buttons, and of the query parameter; their values are ids of templates. */
export const TEMPLATE_BUTTON = "template";

interface FilledValues {
  body: string;
  status: string;
  components: (componentId: string) => string;
}

/**
 * Returns form values filled in from the template whose button was pressed; undefined if another
 * button was. An unknown id changes nothing.
 */
export function fillInTemplate<Values extends FilledValues>(
  values: Values,
  sent: SentForm,
  offered: Pick<OfferedTemplates, "own" | "builtIn">,
): Values | undefined {
  const id = sent.text(TEMPLATE_BUTTON);
  return id === "" ? undefined : valuesFrom(values, id, offered);
}

/**
 * Returns form values filled in from a template. What was typed is kept: an input that is not empty
 * and has no template's value. The status is always that of the template.
 */
export function valuesFrom<Values extends FilledValues>(
  values: Values,
  id: string,
  { own, builtIn }: Pick<OfferedTemplates, "own" | "builtIn">,
): Values {
  const templates = [...own, ...builtIn];
  const chosen = templates.find((template) => template.id === id);
  if (!chosen) return values;
  const fill = (input: string, typed: string) => {
    const isOwn = typed.trim() !== "" && !templates.some(({ values }) => values[input] === typed);
    return isOwn ? typed : (chosen.values[input] ?? "");
  };
  const texts = Object.entries(values).map(([input, typed]) => [
    input,
    typeof typed === "string" ? fill(input, typed) : typed,
  ]);
  return {
    ...(Object.fromEntries(texts) as Values),
    status: chosen.values["status"] ?? values.status,
    components: (componentId) => fill(inputOf(componentId), values.components(componentId)),
  };
}

/** Returns the values that templates fill in, by input. */
function valuesByInput(
  templates: readonly FormTemplate[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const filled = new Map<string, Set<string>>();
  for (const { values } of templates) {
    for (const [input, value] of Object.entries(values)) {
      const known = filled.get(input);
      if (known) known.add(value);
      else filled.set(input, new Set([value]));
    }
  }
  return filled;
}

/** Template of a message that is part of the program. */
interface BuiltInTemplate {
  id: string;
  label: string;
  status: IncidentStatus;
  /** Message in Markdown. */
  body: string;
}

/** Templates for the first update of an incident. */
export const REPORT_TEMPLATES: readonly BuiltInTemplate[] = [
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

/** Message of the update that resolves an incident. */
export const RESOLVED_TEXT = "This incident is resolved. Everything works as usual again.";

/** Templates for further updates. */
export const UPDATE_TEMPLATES: readonly BuiltInTemplate[] = [
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
    body: RESOLVED_TEXT,
  },
];

/** Returns the values that a script fills in, by template. */
function presetsOf(
  templates: readonly FormTemplate[],
): ReadonlyMap<FormTemplate, Readonly<Record<string, string>>> {
  const inputs = [...valuesByInput(templates).keys()];
  return new Map(
    templates.map((template) => [
      template,
      Object.fromEntries(inputs.map((input) => [input, template.values[input] ?? ""])),
    ]),
  );
}

/**
 * Field for a message, below buttons that fill a template into the form, by script or by submitting
 * it. The buttons precede the main one, so the form needs `enter`.
 */
export function templateMessageField<Context>(options: {
  label: string;
  hint: string;
  /** Returns the offered templates. */
  templates: (context: Context) => OfferedTemplates;
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
          offered={templates(props.context)}
          action={action(props.context)}
          message={props.value}
        />
        {message.Input(props)}
      </>
    ),
  };
}

/** Number of templates that are shown without opening the fold. */
const UNFOLDED_MAX = 12;

interface ButtonsProps {
  templates: readonly FormTemplate[];
  /** Undefined if the buttons submit the form. */
  presets: ReturnType<typeof presetsOf> | undefined;
  /** Path of the form, which is then shown at its message. */
  action: string;
  /** Typed message. */
  message: string;
}

function TemplateButtonList({ templates, presets, action, message }: ButtonsProps) {
  return (
    <>
      {templates.map((template) => {
        const { id, label, values } = template;
        const { body = "" } = values;
        const preset = presets?.get(template);
        return (
          <Button
            key={id}
            name={TEMPLATE_BUTTON}
            value={id}
            action={`${action}#field-body`}
            {...(preset && { preset })}
            isCurrent={message === body}
            title={beginningOf(body)}
          >
            {label}
          </Button>
        );
      })}
    </>
  );
}

interface TemplateMenuProps {
  templates: readonly FormTemplate[];
  action: string;
  message: string;
}

/** Menu of templates in the head of a form, whose first button must be the main one. */
export function TemplateMenu({ templates, action, message }: TemplateMenuProps) {
  if (templates.length === 0) return null;
  return (
    <details class="more-menu template-menu">
      <summary class="button">
        Start from a template
        <Icon name="chevron-down" />
      </summary>
      <div class="card more-items">
        <TemplateButtonList
          templates={templates}
          presets={presetsOf(templates)}
          action={action}
          message={message}
        />
      </div>
    </details>
  );
}

function TemplateButtons(props: { offered: OfferedTemplates; action: string; message: string }) {
  const { offered, ...rest } = props;
  const { own, builtIn } = offered;
  const buttons = {
    presets: offered.isScripted ? presetsOf([...own, ...builtIn]) : undefined,
    ...rest,
  };
  return (
    <>
      {own.length > 0 ? (
        <div class="field">
          <TemplateGroup id="own-templates" label="Your templates">
            <TemplateButtonList templates={own.slice(0, UNFOLDED_MAX)} {...buttons} />
          </TemplateGroup>
          {own.length > UNFOLDED_MAX ? (
            <Fold title="More of your templates">
              <div class="presets" role="group" aria-label="More of your templates">
                <TemplateButtonList templates={own.slice(UNFOLDED_MAX)} {...buttons} />
              </div>
            </Fold>
          ) : null}
        </div>
      ) : null}
      {builtIn.length > 0 ? (
        <div class="field">
          <TemplateGroup
            id="templates"
            label={own.length > 0 ? "Built-in templates" : "Message templates"}
          >
            <TemplateButtonList templates={builtIn} {...buttons} />
          </TemplateGroup>
        </div>
      ) : null}
    </>
  );
}

/** Returns the beginning of a message for a tooltip. */
function beginningOf(body: string): string {
  if (body.length <= SHORT_LENGTH) return body;
  return Array.from(body.slice(0, 2 * SHORT_LENGTH))
    .slice(0, SHORT_LENGTH)
    .join("");
}

function TemplateGroup(props: { id: string; label: string; children: ComponentChildren }) {
  return (
    <>
      <p class="label" id={props.id}>
        {props.label}
      </p>
      <div class="presets" role="group" aria-labelledby={props.id}>
        {props.children}
      </div>
    </>
  );
}

/** Returns the name of the input for the status of a component. */
export function inputOf(componentId: string): string {
  return `component:${componentId}`;
}
