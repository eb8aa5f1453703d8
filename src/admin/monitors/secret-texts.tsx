import type { Form as SentForm } from "../../http/form-body";
import { Checkbox } from "../../ui/choices";
import { HiddenFields, TextArea, TextField } from "../../ui/form";
import { type Field, InvalidInput } from "../../ui/forms/form";
import { isOfOtherUse, KEPT, type SecretsContext } from "./typed-secrets";

interface TypedText {
  /** Text in this submission; undefined in a form that was not submitted. */
  text: string | undefined;
  isSet: boolean;
  isRemoved: boolean;
}

interface TextOptions {
  /** Name of the field in the configuration, or of field and part: `proxy_password`. */
  field: string;
  /** Name of the secret in the middle of a sentence, such as "body". */
  noun: string;
  label: string;
  /** Hint while nothing is set, without the sentence about secrets. */
  hint: string;
  /** Number of lines of the input; one line for a password if omitted. */
  rows?: number;
  /** True for a text that people paste, such as a key. */
  isPasted?: boolean;
  maxlength: number;
  /** True if the secret cannot be removed alone. */
  isRequired?: boolean;
}

/** Field for a secret text. Null removes it; an omitted one is kept. */
export function secretTextField(
  options: TextOptions,
): Field<TypedText, string | null, SecretsContext> {
  const { field, noun, label, hint, rows, isPasted, maxlength, isRequired = false } = options;
  const initial: TypedText = { text: "", isSet: false, isRemoved: false };
  return {
    label,
    initial,
    read: readText,
    toBody({ text, isSet, isRemoved }, { stored, secrets }) {
      const isStored = stored.texts.includes(field);
      if (isRemoved) return isStored ? null : undefined;
      // The form was not submitted, or nothing was typed.
      if (text === undefined || (text === "" && !isSet)) return undefined;
      const typed = secrets.texts.get(field);
      if (typed !== undefined) return typed;
      return isSet && !isStored
        ? new InvalidInput(
            `The ${noun} was typed too long ago and is no longer held. Type the ${noun} again, or remove it.`,
          )
        : undefined;
    },
    fromStored: (text) => (text === null ? initial : { ...initial, text: undefined, isSet: true }),
    showError: ({ detail }) => ({
      detail: isOfOtherUse(detail)
        ? `The stored ${noun} belongs to another server or request. Type it again, or remove it.`
        : detail,
    }),
    Input({ name, value, errors, context: { stored, secrets } }) {
      const isStored = stored.texts.includes(field);
      const isSet = isStored || secrets.texts.has(field);
      const input = {
        label,
        name,
        hint: isSet
          ? `${KEPT}. The ${noun} is secret and never shown.`
          : `${hint} The ${noun} is secret and never shown again.`,
        error: errors[name],
        maxlength,
      };
      return (
        <>
          {rows === undefined ? (
            <TextField {...input} type="password" autocomplete="off" />
          ) : (
            <TextArea {...input} rows={rows} isPasted={isPasted ?? false} />
          )}
          {isSet ? (
            <>
              <HiddenFields values={{ [`${name}_set`]: "yes" }} />
              {isRequired ? null : (
                <Checkbox
                  label={`Remove the ${noun}`}
                  name={`${name}_remove`}
                  isChecked={value.isRemoved && isStored}
                />
              )}
            </>
          ) : null}
        </>
      );
    },
  };
}

/** Field for the password of a server. */
export function passwordField(): Field<TypedText, string | null, SecretsContext> {
  const maxlength = 1_000;
  return secretTextField({
    field: "password",
    noun: "password",
    label: "Password",
    hint: "Optional.",
    maxlength,
  });
}

/** Reads the inputs of a secret text. */
export function readText(sent: SentForm, name: string) {
  const text = sent.text(name).replaceAll("\r\n", "\n");
  return {
    text: text.trim() === "" ? "" : text,
    isSet: sent.text(`${name}_set`) === "yes",
    isRemoved: sent.text(`${name}_remove`) === "yes",
  };
}
