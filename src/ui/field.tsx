import type { ComponentChildren } from "preact";
import { Icon } from "./icons";

/**
 * Properties of every field. Element ids derive from the name, so that errors can link to the
 * field.
 */
export interface FieldProps {
  label: string;
  name: string;
  hint?: string | undefined;
  /** Error as a sentence, or as the continuation of the label (`is required`). */
  error?: string | undefined;
}

/** Returns the id of the field's control, for its label and for links from an `ErrorSummary`. */
export function fieldId(name: string): string {
  return `field-${name}`;
}

/** Returns an error as the continuation of its label: " is required.", or a sentence after a colon. */
export function errorSuffix(error: string): string {
  return isSentence(error) ? `: ${error}` : ` ${error}.`;
}

function isSentence(error: string): boolean {
  return !/^\p{Ll}/u.test(error);
}

type Described = Pick<FieldProps, "name" | "hint" | "error">;

/** Returns the attribute that links a control or a fieldset to its hint and its error. */
function describedBy({ name, hint, error }: Described) {
  const id = fieldId(name);
  const ids = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean);
  return { "aria-describedby": ids.length > 0 ? ids.join(" ") : undefined };
}

/** Returns id, name and accessibility attributes of a control. */
export function controlAttributes(props: Described) {
  return {
    id: fieldId(props.name),
    name: props.name,
    "aria-invalid": props.error ? ("true" as const) : undefined,
    ...describedBy(props),
  };
}

function FieldHint({ name, hint }: Described) {
  if (!hint) return null;
  return (
    <p class="hint" id={`${fieldId(name)}-hint`}>
      {hint}
    </p>
  );
}

/** Error below a control. Renders nothing without an error. */
export function FieldError({ name, label, error }: Described & { label: string }) {
  if (!error) return null;
  return (
    <p class="field-error" id={`${fieldId(name)}-error`}>
      <Icon name="triangle-alert" />
      <span>{isSentence(error) ? error : label + errorSuffix(error)}</span>
    </p>
  );
}

/** Control with its label above, and its hint and error below. `unit` follows the label in brackets. */
export function Field(props: FieldProps & { unit?: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label class="label" for={fieldId(props.name)}>
        {props.unit === undefined ? props.label : `${props.label} (${props.unit})`}
      </label>
      {props.children}
      <FieldHint {...props} />
      <FieldError {...props} />
    </div>
  );
}

interface FieldGroupProps extends FieldProps {
  isLegendHidden?: boolean | undefined;
  children: ComponentChildren;
}

/** Fieldset with its legend, hint and error. A link to its id moves the focus to it. */
export function FieldGroup(props: FieldGroupProps) {
  return (
    <fieldset class="field" id={fieldId(props.name)} tabIndex={-1} {...describedBy(props)}>
      <legend class={props.isLegendHidden ? "visually-hidden" : "label"}>{props.label}</legend>
      <FieldHint {...props} />
      {props.children}
      <FieldError {...props} />
    </fieldset>
  );
}

interface FieldPartProps {
  title: string | undefined;
  /** True if a titled part can be folded. */
  isFolded: boolean | undefined;
  /** True if a part that can be folded starts open. */
  isOpen: boolean;
  children: ComponentChildren;
}

/** Part of a field with many rows, below its title. */
export function FieldPart({ title, isFolded, isOpen, children }: FieldPartProps) {
  if (title !== undefined && isFolded) {
    return (
      <details class="fold" open={isOpen}>
        <summary>{title}</summary>
        {children}
      </details>
    );
  }
  return (
    <div>
      {title === undefined ? null : <p class="select-title">{title}</p>}
      {children}
    </div>
  );
}
