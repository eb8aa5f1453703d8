import { OptionalKind, type TObject, type TSchema } from "@sinclair/typebox";
import { Fragment } from "preact";
import { FORMATS } from "../../features/webhooks";
import { capitalised, spaced } from "../../kernel/text";
import type { WebhookFormat } from "../../kernel/webhook";
import { Checkbox, TextField } from "../../ui";
import type { Wording } from "../field-errors";

/** What a format needs beside the URL, as a form asks for it. */
export interface Setting {
  name: string;
  /** The names of its field, and of the box that takes away what is set. */
  field: string;
  clearField: string;
  label: string;
  hint: string | undefined;
  isSecret: boolean;
  isOptional: boolean;
  isNumber: boolean;
}

/** The settings of a format, by its own schema. */
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
  /** What was typed, by the name of the setting; of a secret, nothing. */
  values: Readonly<Record<string, string>>;
  /** The names of secrets that are set, and stay where nothing is typed. */
  kept: readonly string[];
  /** The names of those that are to be taken away. */
  cleared: readonly string[];
  wrong: Wording;
}

/** A field for each setting of a format. Secrets are written there, and never read back. */
export function SettingFields({ format, values, kept, cleared, wrong }: SettingFieldsProps) {
  return (
    <>
      {settingsOf(format).map(({ name, field, clearField, label, hint, ...of }) => {
        const isKept = of.isSecret && kept.includes(name);
        const optional = of.isOptional && !isKept ? "Optional." : "";
        const keeping = isKept ? "It is set; leave this empty to keep it." : "";
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
