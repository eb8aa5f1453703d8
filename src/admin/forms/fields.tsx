import { NAME_MAX } from "../../domain/texts";
import { ChoiceField, RadioList, TextField } from "../../ui";
import { type Field, InvalidInput } from "./field";

interface TextOptions {
  label: string;
  hint?: string;
  type?: "email";
  maxlength?: number;
  isRequired?: boolean;
}

/** Field for one line of text, trimmed. */
export function textField(options: TextOptions): Field<string, string> {
  const { label, hint, isRequired, ...rest } = options;
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed.trim(),
    fromStored: (text) => text,
    Input: ({ name, value, errors }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        hint={hint}
        error={errors[name]}
        autocomplete="off"
        required={isRequired ?? false}
        {...rest}
      />
    ),
  };
}

/** Field for the name of an object. */
export function nameField(options: { hint?: string } = {}): Field<string, string> {
  return textField({ label: "Name", maxlength: NAME_MAX, isRequired: true, ...options });
}

// Digits, in groups of three where they are grouped: "1,5" is not 15.
const WHOLE_NUMBER = /^(?:\d{1,15}|\d{1,3}(?:[\s,_]\d{3}){1,4})$/;

/**
 * Field for a whole number. Invalid text becomes NaN, which services reject. An empty optional
 * field is omitted, so that the service's default applies.
 */
export function integerField(options: {
  label: string;
  hint: string;
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
}

/**
 * Field for one of several values, shown as a list if the options have hints, otherwise as a row.
 */
export function choiceField<Value extends string>(
  declared: ChoiceOptions<Value>,
): Field<string, Value> {
  const { label, hint, initial, invalid, options } = declared;
  const hasHints = options.some((option) => option.hint !== undefined);
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
      if (!hasHints) return <ChoiceField {...props} options={options} />;
      const rows = options.map((option) => ({ ...option, hint: option.hint ?? "" }));
      return <RadioList {...props} options={rows} />;
    },
  };
}
