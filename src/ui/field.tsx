import type { ComponentChildren } from "preact";
import { ToneIcon } from "./tone-icon";

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

/** The id of the field of this name: where its label and a summary of errors lead. */
export function fieldId(name: string): string {
  return `field-${name}`;
}

/** An error as it follows its field's label: " is required.", or after a colon if it is a sentence. */
export function complaintAfter(error: string): string {
  return isSentence(error) ? `: ${error}` : ` ${error}.`;
}

function isSentence(error: string): boolean {
  return !/^\p{Ll}/u.test(error);
}

type Described = Pick<FieldProps, "name" | "hint" | "error">;

/** The attributes that tie a control (or a fieldset) to its hint and its error. */
function describedBy({ name, hint, error }: Described) {
  const id = fieldId(name);
  const ids = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean);
  return { "aria-describedby": ids.length > 0 ? ids.join(" ") : undefined };
}

/** The same for a control, which also says that it is wrong. */
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

export function FieldError({ name, label, error }: Described & { label: string }) {
  if (!error) return null;
  return (
    <p class="field-error" id={`${fieldId(name)}-error`}>
      <ToneIcon tone="danger" />
      <span>{isSentence(error) ? error : label + complaintAfter(error)}</span>
    </p>
  );
}

/** A control with its label and hint above it and its error below. */
export function Field(props: FieldProps & { children: ComponentChildren }) {
  return (
    <div class="field">
      <label class="label" for={fieldId(props.name)}>
        {props.label}
      </label>
      <FieldHint {...props} />
      {props.children}
      <FieldError {...props} />
    </div>
  );
}

interface FieldGroupProps extends FieldProps {
  isLegendHidden?: boolean | undefined;
  children: ComponentChildren;
}

/** Several controls that answer one question. A link to its id moves the focus to it. */
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
