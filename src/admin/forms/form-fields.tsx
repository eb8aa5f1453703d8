import type { ComponentChildren } from "preact";
import { ErrorSummary, FormNotice, Notice } from "../../ui/notices";
import { Fold } from "../../ui/blocks";
import type { FormErrors } from "./field";
import {
  type AnyField,
  entriesOf,
  type FormDefinition,
  type FormState,
  type ValuesOf,
} from "./form";

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
      <Rejection {...state} />
      <ErrorSummary errors={summaryOf(entriesOf(form), state.errors)} />
      {children}
      <Inputs form={form} state={state} />
    </>
  );
}

/** Fields of a form in order, without an error summary, for a dialog with one field. */
export function FormInputs<Body, Context, Fields>(props: FormProps<Body, Context, Fields>) {
  return (
    <>
      <Rejection {...props.state} />
      <Inputs {...props} />
    </>
  );
}

interface RejectionProps {
  notice?: string | undefined;
  kept?: string | undefined;
}

/** Reason for which a whole form was rejected, or the message of one that was kept. */
export function Rejection({ notice, kept }: RejectionProps) {
  if (notice !== undefined) return <FormNotice>{notice}</FormNotice>;
  return kept === undefined ? null : (
    <div role="status">
      <Notice tone="maint" title="Nothing was saved yet">
        {kept}
      </Notice>
    </div>
  );
}

function Inputs<Body, Context, Fields>({ form, state }: FormProps<Body, Context, Fields>) {
  const { values, errors, context } = state;
  const inputs = (entries: readonly [string, AnyField][]) =>
    entries.map(([name, { Input }]) => (
      <Input
        key={name}
        name={name}
        value={values[name as keyof Fields]}
        errors={errors}
        context={context}
      />
    ));
  const isFilledIn = ([name, { initial, inputs: others = {} }]: [string, AnyField]) =>
    !Bun.deepEquals(values[name as keyof Fields], initial) ||
    [name, ...Object.keys(others)].some((input) => input in errors);
  const titleOf = (name: string) =>
    Object.keys(form.folds).find((title) => form.folds[title]?.includes(name));
  const parts = Map.groupBy(entriesOf(form), ([name]) => titleOf(name) ?? name);
  return (
    <>
      {[...parts].map(([key, entries]) =>
        key in form.folds ? (
          <Fold key={key} title={key} isOpen={entries.some(isFilledIn)}>
            {inputs(entries)}
          </Fold>
        ) : (
          inputs(entries)
        ),
      )}
    </>
  );
}

/** Returns the errors in the order of the fields, each with the label of its input. */
function summaryOf(entries: readonly [string, AnyField][], errors: FormErrors) {
  const labels: Record<string, string> = {};
  for (const [name, { label, inputs }] of entries) Object.assign(labels, { [name]: label }, inputs);
  const order = Object.keys(labels);
  const positionOf = (name: string) => (name in labels ? order.indexOf(name) : order.length);
  return Object.entries(errors)
    .map(([name, detail]) => ({ name, label: labels[name] ?? name, detail }))
    .sort((a, b) => positionOf(a.name) - positionOf(b.name));
}
