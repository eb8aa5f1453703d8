import type { ComponentChildren } from "preact";
import type { FieldError } from "../../errors";
import type { Form as SentForm } from "../../http";

/** Message for each input of a form that is wrong, by the name of the input. */
export type FormErrors = Readonly<Record<string, string>>;

export const NO_ERRORS: FormErrors = {};

/** Typed text that has no value to hand to a service, with the error of the input that holds it. */
export class InvalidInput {
  readonly detail: string;
  /** Name of the input; undefined for the one that is named as the field. */
  readonly input: string | undefined;

  constructor(detail: string, input?: string) {
    this.detail = detail;
    this.input = input;
  }
}

/** Everything that an input is rendered from. */
export interface InputProps<Typed, Context> {
  name: string;
  value: Typed;
  errors: FormErrors;
  context: Context;
}

/**
 * One field of a form: `Typed` is the content of its inputs, `Body` the value that a service takes, and
 * `Context` the data of the screen that its options depend on.
 */
export interface Field<Typed, Body, Context = unknown> {
  label: string;
  initial: Typed;
  /** Labels of inputs that are not named as the field, by their names. */
  inputs?: Readonly<Record<string, string>>;
  /** Message that replaces the service's own about this field. */
  invalid?: string;
  /** Reads the content of the inputs, for a form that is shown again as it was typed. */
  read(sent: SentForm, name: string): Typed;
  /** Converts typed content. Undefined leaves the field out; text that cannot be read is passed on for the service to refuse. */
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
