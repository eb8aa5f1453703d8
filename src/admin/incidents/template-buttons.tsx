import type { ComponentChildren } from "preact";
import { Button } from "../../ui/buttons";
import { Fold } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import type { Field } from "../forms/field";
import { messageField } from "../forms/text-fields";
import {
  type FormTemplate,
  type OfferedTemplates,
  SHORT_LENGTH,
  TEMPLATE_BUTTON,
  valuesByInput,
} from "./templates";

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
