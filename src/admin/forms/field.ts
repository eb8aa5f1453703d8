import type { ComponentChildren } from "preact";
import type { FieldError } from "../../base/errors";
import type { Form as SentForm } from "../../http/form-body";

/** Error messages of a form by input name. */
export type FormErrors = Readonly<Record<string, string>>;

export const NO_ERRORS: FormErrors = {};

/** Typed text that cannot be converted for a service, with the error of its input. */
export class InvalidInput {
  readonly detail: string;
  /** Name of the input; undefined if it equals the name of the field. */
  readonly input: string | undefined;

  constructor(detail: string, input?: string) {
    this.detail = detail;
    this.input = input;
  }
}

/** Properties of a rendered input. */
interface InputProps<Typed, Context> {
  name: string;
  value: Typed;
  errors: FormErrors;
  context: Context;
}

/** Error as a form shows it. `input` is undefined if the input is named like the field. */
interface ShownError {
  input?: string;
  detail: string;
}

/**
 * Field of a form. `Typed` is the content of its inputs, `Body` the value for a service, `Context`
 * the screen data that its options depend on.
 */
export interface Field<Typed, Body, Context = unknown> {
  label: string;
  initial: Typed;
  /** Labels of inputs whose names differ from the field's, by input name. */
  inputs?: Readonly<Record<string, string>>;
  /**
   * Assigns an error of the service to one of several inputs, or rewords it. Without this function
   * the error is shown as it is, at the input that is named like the field.
   */
  showError?(error: FieldError, typed: Typed): ShownError;
  /** Reads the content of the inputs as typed, so that a rejected form can be shown again. */
  read(sent: SentForm, name: string): Typed;
  /**
   * Converts typed content. Undefined omits the field. Invalid text is passed on unchanged, for the
   * service to reject.
   */
  toBody(typed: Typed, context: Context): Body | InvalidInput | undefined;
  /** Converts a stored value to the content of the inputs. */
  fromStored(value: Body): Typed;
  Input(props: InputProps<Typed, Context>): ComponentChildren;
}

/** Omits a field from the body while its input is empty. */
export function optional<Typed, Body, Context>(
  field: Field<Typed, Body, Context>,
): Field<Typed, Body, Context> {
  const isEmpty = emptinessOf(field);
  return {
    ...field,
    toBody: (typed, context) => (isEmpty(typed) ? undefined : field.toBody(typed, context)),
  };
}

/** Sends null while the input of a field is empty, which clears a stored value. */
export function nullable<Typed, Body, Context>(
  field: Field<Typed, Body, Context>,
): Field<Typed, Body | null, Context> {
  const isEmpty = emptinessOf(field);
  return {
    ...field,
    toBody: (typed, context) => (isEmpty(typed) ? null : field.toBody(typed, context)),
    fromStored: (value) => (value === null ? field.initial : field.fromStored(value)),
  };
}

/** Returns a test for text of white space only, or for the initial content of other inputs. */
function emptinessOf<Typed>({ initial }: { initial: Typed }): (typed: Typed) => boolean {
  return (typed) =>
    typeof typed === "string" ? typed.trim() === "" : Bun.deepEquals(typed, initial);
}
