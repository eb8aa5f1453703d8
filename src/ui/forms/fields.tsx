import type { ComponentChildren } from "preact";
import { TAG_MAX, TAGS_MAX } from "../../base/tags";
import { DESCRIPTION_MAX, NAME_MAX } from "../../base/texts";
import { TIME_ZONE_MAX, timeZones, zoneNamed } from "../../base/zones";
import { UPDATE_TEXT_MAX } from "../../features/timeline/updates";
import { ErrorSummary, Fold, FormNotice, Notice } from "../blocks";
import { Checkbox, ChoiceField, RadioList, SelectField } from "../choices";
import { TextArea, TextField } from "../form";
import {
  type AnyField,
  entriesOf,
  type Field,
  type FormDefinition,
  type FormErrors,
  type FormState,
  InvalidInput,
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
  const { advanced, summary, folds, pairs } = form.layout;
  const isAdvanced = ([name]: [string, AnyField]) => advanced.includes(name);
  const isFilledIn = ([name, field]: [string, AnyField]) =>
    !Bun.deepEquals(values[name as keyof Fields], field.initial) ||
    [name, ...Object.keys(field.inputs ?? {})].some((input) => input in errors) ||
    (field.isUnfolded?.(context) ?? false);
  const foldOf = (name: string) => Object.keys(folds).find((title) => folds[title]?.includes(name));
  const pairOf = (name: string) => pairs.find((pair) => pair.includes(name))?.join(" ");

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
  /** Inputs below each other, with pairs in one row. */
  const rows = (entries: readonly [string, AnyField][]) =>
    [...Map.groupBy(entries, ([name]) => pairOf(name) ?? name)].map(([key, row]) =>
      row.length === 1 ? (
        inputs(row)
      ) : (
        <div key={key} class="pair">
          {inputs(row)}
        </div>
      ),
    );
  const parts = (entries: readonly [string, AnyField][]) =>
    [...Map.groupBy(entries, ([name]) => foldOf(name) ?? pairOf(name) ?? name)].map(
      ([key, part]) =>
        key in folds ? (
          <Fold key={key} title={key} isOpen={part.some(isFilledIn)}>
            {rows(part)}
          </Fold>
        ) : (
          rows(part)
        ),
    );

  const entries = entriesOf(form);
  const further = entries.filter(isAdvanced);
  return (
    <>
      {parts(entries.filter((entry) => !isAdvanced(entry)))}
      {further.length === 0 ? null : (
        <Fold title="More options" line={summary?.(values) ?? ""} isOpen={further.some(isFilledIn)}>
          {parts(further)}
        </Fold>
      )}
    </>
  );
}

/** Returns the errors in the order of the fields, each with the label of its input. */
function summaryOf(entries: readonly [string, AnyField][], errors: FormErrors) {
  const labels: Record<string, string> = {};
  for (const [name, { label, inputs }] of entries) Object.assign(labels, { [name]: label }, inputs);
  const labelOf = (name: string) =>
    labels[name] ?? entries.map(([, field]) => field.labelOf?.(name)).find(Boolean) ?? name;
  const order = Object.keys(labels);
  const positionOf = (name: string) => (name in labels ? order.indexOf(name) : order.length);
  return Object.entries(errors)
    .map(([name, detail]) => ({ name, label: labelOf(name), detail }))
    .sort((a, b) => positionOf(a.name) - positionOf(b.name));
}

interface TextOptions<Context = unknown> {
  label: string;
  hint?: string;
  initial?: string;
  type?: "email" | "date" | "url";
  autocomplete?: "name" | "username";
  autofocus?: boolean;
  maxlength?: number;
  /** Returns common values, offered while typing. */
  suggestions?: (context: Context) => readonly string[];
  /** Name of the field whose text a script proposes here as a slug. */
  slugOf?: string;
  isShort?: boolean;
  isRequired?: boolean;
}

/** Field for one line of text, trimmed. */
export function textField<Context = unknown>(
  options: TextOptions<Context>,
): Field<string, string, Context> {
  const { label, initial = "", isRequired = false, suggestions, ...rest } = options;
  return {
    label,
    initial,
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed.trim(),
    fromStored: (text) => text,
    Input: ({ name, value, errors, context }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        error={errors[name]}
        autocomplete="off"
        required={isRequired}
        suggestions={suggestions?.(context)}
        {...rest}
      />
    ),
  };
}

/** Field for a time zone, with a list that browsers search while people type. A city or an alias is accepted too. */
export function timeZoneField(
  options: Pick<TextOptions, "label" | "hint" | "initial" | "isRequired">,
): Field<string, string> {
  return {
    ...textField({ ...options, maxlength: TIME_ZONE_MAX, suggestions: timeZones }),
    toBody: zoneNamed,
  };
}

/** Field for a password, which is never shown again. */
export function passwordField(options: {
  label: string;
  hint?: string;
  autocomplete: "current-password" | "new-password";
  autofocus?: boolean;
}): Field<string, string> {
  return {
    label: options.label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed,
    fromStored: () => "",
    Input: ({ name, errors }) => (
      <TextField {...options} name={name} type="password" error={errors[name]} required />
    ),
  };
}

/** Field for the name of an object. */
export function nameField(options: { hint?: string } = {}): Field<string, string> {
  return textField({ label: "Name", maxlength: NAME_MAX, isRequired: true, ...options });
}

interface TextAreaOptions {
  label: string;
  hint?: string;
  rows?: number;
  isLong?: boolean;
  maxlength?: number;
  isRequired?: boolean;
}

/** Field for several lines of text. CR LF, which browsers send, and CR become LF. */
export function textAreaField(options: TextAreaOptions): Field<string, string> {
  const { label, isRequired = false, ...rest } = options;
  return {
    label,
    initial: "",
    read: (sent, name) => withLineFeeds(sent.text(name)),
    toBody: (typed) => (typed.trim() === "" ? "" : typed),
    // An unedited text is unchanged, even if a program stored it with CR LF.
    fromStored: withLineFeeds,
    Input: ({ name, value, errors }) => (
      <TextArea
        label={label}
        name={name}
        value={value}
        error={errors[name]}
        required={isRequired}
        {...rest}
      />
    ),
  };
}

function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

/** Field for texts, one per line. */
export function linesField(options: TextAreaOptions): Field<string, string[]> {
  return {
    ...textAreaField(options),
    toBody: linesOf,
    fromStored: (lines) => lines.join("\n"),
  };
}

/** Returns the lines of a text that are not blank. */
export function linesOf(typed: string): string[] {
  return typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Field for the text of an update in Markdown. */
export function messageField(options: Pick<TextAreaOptions, "label" | "hint" | "rows">) {
  return textAreaField({ maxlength: UPDATE_TEXT_MAX, isRequired: true, ...options });
}

/** Field for a description or a reason, trimmed, which is optional where it is used. */
export function descriptionField(
  options: Partial<Pick<TextAreaOptions, "label" | "hint" | "rows">>,
): Field<string, string> {
  const maxlength = DESCRIPTION_MAX;
  return {
    ...textAreaField({ label: "Description", rows: 2, maxlength, ...options }),
    toBody: (typed) => typed.trim(),
  };
}

// Digits, possibly in groups of three, so that "1,5" is not read as 15.
const WHOLE_NUMBER = /^(?:\d{1,15}|\d{1,3}(?:[\s,_]\d{3}){1,4})$/;

/**
 * Field for a whole number. Invalid text becomes NaN, which services reject. An empty optional
 * field is omitted, so that the service's default applies.
 */
export function integerField(options: {
  label: string;
  hint?: string;
  initial?: number;
  isRequired?: boolean;
}): Field<string, number> {
  const { label, hint, initial, isRequired = false } = options;
  return {
    label,
    initial: initial === undefined ? "" : String(initial),
    read: (sent, name) => sent.text(name),
    toBody(typed) {
      const text = typed.trim();
      if (text === "" && !isRequired) return undefined;
      return WHOLE_NUMBER.test(text) ? Number(text.replaceAll(/\D/g, "")) : Number.NaN;
    },
    fromStored: String,
    Input: ({ name, value, errors }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        hint={hint}
        error={errors[name]}
        inputmode="numeric"
        autocomplete="off"
        isShort
        required={isRequired}
      />
    ),
  };
}

interface ChoiceOptions<Value extends string> {
  label: string;
  hint?: string;
  initial: Value;
  /** Message for a value outside the options; without it the service rejects the value. */
  invalid?: string;
  options: readonly { value: Value; label: string; hint?: string }[];
  /** True to show the options below each other; by default if an option has a hint. */
  isList?: boolean;
}

/** Field for one of several values. */
export function choiceField<Value extends string>(
  declared: ChoiceOptions<Value>,
): Field<string, Value> {
  const { label, hint, initial, invalid, options } = declared;
  const { isList = options.some((option) => option.hint !== undefined) } = declared;
  return {
    label,
    initial,
    read: (sent, name) => sent.text(name),
    toBody(typed) {
      const isOption = options.some(({ value }) => value === typed);
      return isOption || invalid === undefined ? (typed as Value) : new InvalidInput(invalid);
    },
    fromStored: (value) => value,
    Input({ name, value, errors }) {
      const props = { name, value, hint, legend: label, error: errors[name] };
      if (!isList) return <ChoiceField {...props} options={options} />;
      const rows = options.map((option) => ({ ...option, hint: option.hint ?? "" }));
      return <RadioList {...props} options={rows} />;
    },
  };
}

interface SelectOptions<Value extends string, Context> {
  label: string;
  hint?: string;
  /** First choice; the empty option by default. */
  initial?: Value;
  /** Label of the empty option, which `optional` and `nullable` give a meaning. */
  empty?: string;
  options:
    | readonly { value: Value; label: string }[]
    | ((context: Context) => readonly { value: Value; label: string }[]);
}

/** Field for one of many values, in a menu. The service rejects others. */
export function selectField<Value extends string, Context = unknown>(
  declared: SelectOptions<Value, Context>,
): Field<string, Value, Context> {
  const { label, hint, initial = "", empty, options } = declared;
  return {
    label,
    initial,
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed as Value,
    fromStored: (value) => value,
    Input: ({ name, value, errors, context }) => (
      <SelectField
        label={label}
        name={name}
        hint={hint}
        options={[
          ...(empty === undefined ? [] : [{ value: "", label: empty }]),
          ...(typeof options === "function" ? options(context) : options),
        ]}
        value={value}
        error={errors[name]}
      />
    ),
  };
}

/** Field for yes or no. */
export function checkboxField(options: {
  label: string;
  hint?: string;
  initial?: boolean;
}): Field<boolean, boolean> {
  const { label, hint, initial = false } = options;
  return {
    label,
    initial,
    read: (sent, name) => sent.text(name) === "yes",
    toBody: (typed) => typed,
    fromStored: (value) => value,
    Input: ({ name, value, errors }) => (
      <Checkbox label={label} name={name} hint={hint} isChecked={value} error={errors[name]} />
    ),
  };
}

/** Field that decides if a change sends notifications. `also` is appended to the hint. */
export function notifyField(also = ""): Field<boolean, boolean> {
  return checkboxField({
    label: "Send notifications",
    hint: `If unchecked, no notifications are sent${also}. The status page shows the change in any case.`,
    initial: true,
  });
}

/** Field whose value depends on the button that submits the form. `values` has the value of each. */
export function buttonField<Value>(values: Readonly<Record<string, Value>>): Field<string, Value> {
  return {
    label: "",
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => (Object.hasOwn(values, typed) ? values[typed] : undefined),
    fromStored: (stored) =>
      Object.keys(values).find((name) => Bun.deepEquals(values[name], stored)) ?? "",
    Input: () => null,
  };
}

/** Field for tags, one per line, since a tag may contain a comma. */
export function tagsField(): Field<string, string[]> {
  return linesField({
    label: "Tags",
    hint: `Optional. One per line, at most ${TAGS_MAX}. Visitors never see them.`,
    rows: 2,
    // In UTF-16 code units, of which a character can have two.
    maxlength: TAGS_MAX * (2 * TAG_MAX + 1),
  });
}
