import { OptionalKind, type TObject, type TSchema } from "@sinclair/typebox";
import { Fragment } from "preact";
import { FORMATS } from "../../features/webhooks";
import { capitalised, spaced } from "../../kernel/text";
import type { WebhookFormat } from "../../domain/webhook";
import { Checkbox, TextField } from "../../ui";
import type { Wording } from "../field-errors";

/** Setting of a format besides the URL, as a form field. */
export interface Setting {
  name: string;
  /** Names of the input, and of the checkbox that removes the stored value. */
  field: string;
  clearField: string;
  label: string;
  hint: string | undefined;
  isSecret: boolean;
  isOptional: boolean;
  isNumber: boolean;
}

/** Returns the settings of a format, from its schema. */
export function settingsOf(format: WebhookFormat): Setting[] {
  const { settings, secretSettings } = FORMATS[format];
  const { properties } = settings as TObject;
  return Object.entries<TSchema>(properties).map(([name, schema]) => ({
    name,
    field: `setting_${name}`,
    clearField: `clear_${name}`,
    label: capitalised(spaced(name)),
    hint: schema.description,
    isSecret: secretSettings.includes(name),
    isOptional: OptionalKind in schema,
    isNumber: schema["type"] === "integer",
  }));
}

interface SettingFieldsProps {
  format: WebhookFormat;
  /** Typed values by setting name, without secrets. */
  values: Readonly<Record<string, string>>;
  /** Names of stored secrets, which an empty field keeps. */
  kept: readonly string[];
  /** Names of the secrets to remove. */
  cleared: readonly string[];
  wrong: Wording;
}

/** Fields for the settings of a format. Stored secrets are never shown. */
export function SettingFields({ format, values, kept, cleared, wrong }: SettingFieldsProps) {
  return (
    <>
      {settingsOf(format).map(({ name, field, clearField, label, hint, ...of }) => {
        const isKept = of.isSecret && kept.includes(name);
        const optional = of.isOptional && !isKept ? "Optional." : "";
        const keeping = isKept ? "A value is set; leave this field empty to keep that value." : "";
        const words = [hint, optional, keeping].filter(Boolean).join(" ");
        return (
          <Fragment key={name}>
            <TextField
              label={label}
              name={field}
              hint={words}
              type={of.isSecret ? "password" : "text"}
              value={values[name] ?? ""}
              error={wrong.about(field)}
              autocomplete="off"
              required={!of.isOptional && !isKept}
              isShort={of.isNumber}
              {...(of.isNumber ? { inputmode: "numeric" as const } : {})}
            />
            {isKept && of.isOptional ? (
              <Checkbox
                label={`Remove the ${label.toLowerCase()}`}
                name={clearField}
                isChecked={cleared.includes(name)}
              />
            ) : null}
          </Fragment>
        );
      })}
    </>
  );
}
