import type { ComponentChildren } from "preact";
import type { FieldError } from "../../errors";
import type { Form as SentForm } from "../../http";

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
export interface InputProps<Typed, Context> {
  name: string;
  value: Typed;
  errors: FormErrors;
  context: Context;
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
  /** Message that replaces the service's own about this field. */
  invalid?: string;
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

/** Assigns a service's errors to inputs: `#/scopes/0` belongs to `scopes`. Each input keeps its first. */
export function toFormErrors(
  errors: readonly FieldError[],
  messages: Readonly<Record<string, string | undefined>> = {},
): FormErrors {
  const byInput: Record<string, string> = {};
  for (const { pointer, detail } of errors) {
    const input = pointer.split("/")[1] ?? "";
    byInput[input] ??= messages[input] ?? detail;
  }
  return byInput;
}
