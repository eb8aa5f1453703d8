import type { ComponentChildren } from "preact";
import { type FieldError, invalidFields, Problem } from "../../errors";
import type { Form as SentForm } from "../../http";
import { ErrorSummary, FormNotice } from "../../ui";
import { type Field, type FormErrors, InvalidInput, toFormErrors } from "./field";

// oxlint-disable-next-line typescript/no-explicit-any
type AnyField = Field<any, any, any>;

/** Fields by the names that the API gives them. */
export type FieldsOf<Body, Context> = {
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
  context: Context;
}

/** Body of a submitted form, and the errors of inputs that could not be converted. */
export interface Parsed<Body> {
  body: Body;
  errors: readonly FieldError[];
}

export interface FormDefinition<Body, Context, Fields> {
  readonly fields: Fields;
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
  /** Returns the errors of a refusal by input. Throws any other error. */
  errorsOf(error: unknown): FormErrors;
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
  ): FormDefinition<Body, Context, Fields> => createForm<Body, Context, Fields>(fields);
}

function createForm<Body, Context, Fields>(fields: Fields): FormDefinition<Body, Context, Fields> {
  type Values = ValuesOf<Fields>;
  const entries = entriesOf({ fields });
  const messages = Object.fromEntries(entries.map(([name, { invalid }]) => [name, invalid]));

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

  return {
    fields,
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
    errorsOf(error) {
      if (error instanceof Problem && error.code === "validation_failed") {
        return toFormErrors(error.fields, messages);
      }
      throw error;
    },
    pick: (...names) =>
      createForm(
        Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<
          Fields,
          (typeof names)[number]
        >,
      ),
  };
}

interface FormProps<Body, Context, Fields> {
  form: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields>, Context>;
}

/** Fields of a form in order, below the error summary. */
export function FormFields<Body, Context, Fields>(
  props: FormProps<Body, Context, Fields> & {
    /** Content between the summary and the first field. */
    children?: ComponentChildren;
  },
) {
  const { form, state, children } = props;
  return (
    <>
      {state.notice === undefined ? null : <FormNotice>{state.notice}</FormNotice>}
      <ErrorSummary errors={summaryOf(entriesOf(form), state.errors)} />
      {children}
      <FormInputs form={form} state={state} />
    </>
  );
}

/** Fields of a form in order, without an error summary, for a dialog with one field. */
export function FormInputs<Body, Context, Fields>(props: FormProps<Body, Context, Fields>) {
  const { values, errors, context } = props.state;
  return (
    <>
      {entriesOf(props.form).map(([name, { Input }]) => (
        <Input
          key={name}
          name={name}
          value={values[name as keyof Fields]}
          errors={errors}
          context={context}
        />
      ))}
    </>
  );
}

function entriesOf({ fields }: { fields: unknown }): [string, AnyField][] {
  return Object.entries(fields as Record<string, AnyField>);
}

/** Returns the errors in the order of the fields, each with the label of its input. */
function summaryOf(entries: readonly [string, AnyField][], errors: FormErrors) {
  const labels: Record<string, string> = {};
  for (const [name, { label, inputs }] of entries) Object.assign(labels, { [name]: label }, inputs);
  const order = Object.keys(labels);
  const placeOf = (name: string) => (name in labels ? order.indexOf(name) : order.length);
  return Object.entries(errors)
    .map(([name, detail]) => ({ name, label: labels[name] ?? name, detail }))
    .sort((a, b) => placeOf(a.name) - placeOf(b.name));
}

/**
 * Runs a change and throws its errors together with those of unreadable inputs. The caller's
 * transaction is rolled back.
 */
export function withErrors<Result>(errors: readonly FieldError[], change: () => Result): Result {
  let result: Result;
  try {
    result = change();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
    throw invalidFields([...errors, ...error.fields]);
  }
  if (errors.length > 0) throw invalidFields([...errors]);
  return result;
}
