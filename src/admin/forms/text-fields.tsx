import { DESCRIPTION_MAX, NAME_MAX } from "../../base/texts";
import { UPDATE_TEXT_MAX } from "../../features/timeline/updates";
import { TextArea, TextField } from "../../ui/inputs";
import type { Field } from "./field";

interface TextOptions {
  label: string;
  hint?: string;
  initial?: string;
  type?: "email" | "date" | "url";
  autocomplete?: "name" | "username";
  autofocus?: boolean;
  maxlength?: number;
  suggestions?: readonly string[];
  /** Name of the field whose text a script proposes here as a slug. */
  slugOf?: string;
  isShort?: boolean;
  isRequired?: boolean;
}

/** Field for one line of text, trimmed. */
export function textField(options: TextOptions): Field<string, string> {
  const { label, initial = "", isRequired = false, ...rest } = options;
  return {
    label,
    initial,
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed.trim(),
    fromStored: (text) => text,
    Input: ({ name, value, errors }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        error={errors[name]}
        autocomplete="off"
        required={isRequired}
        {...rest}
      />
    ),
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
