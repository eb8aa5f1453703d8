import { Checkbox, ChoiceField, RadioList } from "../../ui/choices";
import { SelectField } from "../../ui/selects";
import { type Field, InvalidInput } from "./field";

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
