import type { ComponentChildren } from "preact";
import { type FieldError, invalidFields, Problem } from "../../base/errors";
import type { Form as SentForm } from "../../http/form-body";

// oxlint-disable-next-line typescript/no-explicit-any
export type AnyField = Field<any, any, any>;

/** Fields by the names that the API gives them. */
type FieldsOf<Body, Context> = {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [Name in keyof Body]?: Field<any, NonNullable<Body[Name]> | null, Context>;
};

/** Content of all inputs of a form, by field. */
export type ValuesOf<Fields> = {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Typed, any, any>
    ? Typed
    : never;
};

/** State of a rendered form: values of its inputs, and errors. */
export interface FormState<Values, Context> {
  values: Values;
  errors: FormErrors;
  /** Reason for which the whole form was rejected. */
  notice?: string | undefined;
  /** Message of a form that was kept while its user signed in. */
  kept?: string | undefined;
  context: Context;
  /** Hidden inputs: the token of a form that is submitted once, or the version that is edited. */
  hidden: Readonly<Record<string, string>>;
}

/** Body of a submitted form, and the errors of inputs that could not be converted. */
export interface Parsed<Body> {
  body: Body;
  errors: readonly FieldError[];
}

interface FormOptions<Name> {
  /** Rarely needed fields, the last ones of the form, shown in the fold “More options”. */
  advanced?: readonly Name[];
  /** Returns the values of these fields in one line, which the closed fold shows. */
  summary?: (values: Readonly<Record<string, unknown>>) => string;
  /** Fields of further folds by title, each shown at the place of its first field, also in “More options”. */
  folds?: Readonly<Record<string, readonly Name[]>>;
  /** Fields that stand beside each other in a wide window. */
  pairs?: readonly (readonly Name[])[];
}

/** Places of the fields of a form. */
type Layout = Required<Omit<FormOptions<PropertyKey>, "summary">> &
  Pick<FormOptions<PropertyKey>, "summary">;

export interface FormDefinition<Body, Context, Fields> {
  readonly fields: Fields;
  readonly layout: Layout;
  /** Returns the initial values of the form for a new object. */
  initial(overrides?: Partial<ValuesOf<Fields>>): ValuesOf<Fields>;
  /** Reads the typed values. */
  read(sent: SentForm): ValuesOf<Fields>;
  /** Returns the form values of a stored object. */
  stored(resource: { readonly [Name in keyof Fields]: unknown }): ValuesOf<Fields>;
  parse(values: ValuesOf<Fields>, context: Context): Parsed<Body>;
  /** Returns the fields that differ from a stored object; an empty body if none does. */
  changes(
    values: ValuesOf<Fields>,
    resource: { readonly [Name in keyof Fields]: unknown },
    context: Context,
  ): Parsed<Partial<Body>>;
  /** Returns the state of a form that was not submitted yet. */
  state<View extends Context>(
    values: ValuesOf<Fields>,
    context: View,
    hidden?: Readonly<Record<string, string>>,
  ): FormState<ValuesOf<Fields>, View>;
  /** Returns the state of a form whose values have errors. */
  rejected<View extends Context>(
    values: ValuesOf<Fields>,
    errors: readonly FieldError[],
    context: View,
  ): FormState<ValuesOf<Fields>, View>;
  /** Assigns a service's errors about the values to inputs. */
  errorsByInput(errors: readonly FieldError[], values: ValuesOf<Fields>): FormErrors;
  /** Returns a form of some of the fields. */
  pick<Name extends keyof Fields & keyof Body>(
    ...names: Name[]
  ): FormDefinition<Pick<Body, Name>, Context, Pick<Fields, Name>>;
}

/** State of a form by its definition. */
export type StateOf<Form> =
  Form extends FormDefinition<infer _Body, infer Context, infer Fields>
    ? FormState<ValuesOf<Fields>, Context>
    : never;

/**
 * Declares a form. Its fields are named as in the API, so that service errors map to them directly.
 */
export function defineForm<Body, Context = unknown>() {
  return <const Fields extends FieldsOf<Body, Context>>(
    fields: Fields,
    options: FormOptions<keyof Fields> = {},
  ): FormDefinition<Body, Context, Fields> =>
    createForm<Body, Context, Fields>(fields, { advanced: [], folds: {}, pairs: [], ...options });
}

function createForm<Body, Context, Fields>(
  fields: Fields,
  layout: Layout,
): FormDefinition<Body, Context, Fields> {
  type Values = ValuesOf<Fields>;
  const entries = entriesOf({ fields });

  function collect(content: (name: string, field: AnyField) => unknown): Values {
    return Object.fromEntries(
      entries.map(([name, field]) => [name, content(name, field)]),
    ) as Values;
  }

  function parse(values: Values, context: Context): Parsed<Body> {
    const body: Record<string, unknown> = {};
    const errors: FieldError[] = [];
    for (const [name, field] of entries) {
      const value: unknown = field.toBody(values[name as keyof Values], context);
      if (value instanceof InvalidInput) {
        errors.push({ pointer: `#/${value.input ?? name}`, detail: value.detail });
      } else if (value !== undefined) {
        body[name] = value;
      }
    }
    return { body: body as Body, errors };
  }

  const stored = (resource: { readonly [Name in keyof Fields]: unknown }) =>
    collect((name, field) => field.fromStored(resource[name as keyof Fields]));

  const state = <View>(
    values: Values,
    context: View,
    hidden: Readonly<Record<string, string>> = {},
  ): FormState<Values, View> => ({ values, errors: NO_ERRORS, context, hidden });

  const inputErrors = (errors: readonly FieldError[], values: Values) =>
    errorsByInput(errors, fields as Record<string, AnyField>, values);

  return {
    fields,
    layout,
    initial: (overrides) => ({ ...collect((_, field) => field.initial), ...overrides }),
    read: (sent) => collect((name, field) => field.read(sent, name)),
    stored,
    parse,
    changes(values, resource, context) {
      const typed = parse(values, context);
      const current = parse(stored(resource), context).body as Record<string, unknown>;
      const body = Object.fromEntries(
        Object.entries(typed.body as object).filter(
          ([name, value]) => !Bun.deepEquals(value, current[name]),
        ),
      );
      return { body: body as Partial<Body>, errors: typed.errors };
    },
    state,
    rejected: (values, errors, context) => ({
      ...state(values, context),
      errors: inputErrors(errors, values),
    }),
    errorsByInput: inputErrors,
    pick(...names) {
      const picked = Object.fromEntries(names.map((name) => [name, fields[name]]));
      return createForm(picked as Pick<Fields, (typeof names)[number]>, layout);
    },
  };
}

/** Assigns a service's errors to inputs. Each input keeps its first. */
function errorsByInput(
  errors: readonly FieldError[],
  fields: Readonly<Record<string, AnyField>>,
  values: Readonly<Record<string, unknown>>,
): FormErrors {
  const byInput: Record<string, string> = {};
  for (const error of errors) {
    const name = fieldOf(error, Object.keys(fields));
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const { input = name, detail } = field?.showError?.(error, values[name]) ?? {
      detail: error.detail,
    };
    byInput[input] ??= detail;
  }
  return byInput;
}

/**
 * Returns the name of the field of an error: `#/scopes/0` belongs to `scopes`, `#/config/url` to
 * `config_url` if there is one, and `#/config` to the first field with this prefix.
 */
function fieldOf({ pointer }: FieldError, names: readonly string[]): string {
  const [first = "", second] = pointer.split("/").slice(1);
  const nested = `${first}_${second}`;
  if (names.includes(nested)) return nested;
  if (names.includes(first)) return first;
  return names.find((name) => name.startsWith(`${first}_`)) ?? first;
}

/** Returns the hidden input of a form that edits a version of an object. */
export function versionInput(version: number): Readonly<Record<string, string>> {
  return { version: String(version) };
}

/** Returns the fields of a form with their names, in order. */
export function entriesOf({ fields }: { fields: unknown }): [string, AnyField][] {
  return Object.entries(fields as Record<string, AnyField>);
}

/**
 * Runs a change and throws its errors together with those of unreadable inputs. The caller's
 * transaction is rolled back.
 */
export function withErrors<Result>(errors: readonly FieldError[], change: () => Result): Result {
  const all = [...errors];
  const done = collectErrors(all, () => ({ result: change() }));
  if (!done || all.length > 0) throw invalidFields(all);
  return done.result;
}

/** Runs a change. Adds its errors to those of others and returns undefined if it is invalid. */
export function collectErrors<Result>(
  errors: FieldError[],
  change: () => Result,
): Result | undefined {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
    errors.push(...error.fields);
    return undefined;
  }
}

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
  /** Returns the label of an input whose name follows from typed content; undefined for the input of another field. */
  labelOf?(input: string): string | undefined;
  /**
   * Assigns an error of the service to one of several inputs, or rewords it. Without this function
   * the error is shown as it is, at the input that is named like the field.
   */
  showError?(error: FieldError, typed: Typed): ShownError;
  /**
   * Returns true if a button of the field was pressed, which shows the form again as it was typed. Enter then
   * presses an invisible main button.
   */
  isPressed?(sent: SentForm): boolean;
  /** Returns true if the fold of the field starts open although nothing was filled in. */
  isUnfolded?(context: Context): boolean;
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

/**
 * Field with which a form is shown again after its user signed in: `yes`, or `partly` if typed secrets
 * were left out. Nothing else is done with such a form.
 */
export const KEPT_FIELD = "kept_form";

/** Returns the message of a form that was kept while its user signed in; undefined for other forms. */
export function keptNotice(sent: SentForm): string | undefined {
  switch (sent.text(KEPT_FIELD)) {
    case "yes":
      return "The form has all that you typed before you signed in. Check it, then submit it.";
    case "partly":
      return "The form has what you typed before you signed in, except for secrets and files. Enter those again, then submit the form.";
    default:
      return undefined;
  }
}
