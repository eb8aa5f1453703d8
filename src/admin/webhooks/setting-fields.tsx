import { OptionalKind, type TObject, type TSchema } from "@sinclair/typebox";
import { FORMATS } from "../../features/webhooks/formats";
import { capitalised, spaced } from "../../base/text";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../base/webhook";
import { Checkbox } from "../../ui/choices";
import { TextField } from "../../ui/form";
import type { Field } from "../../ui/forms/form";

/** Setting of a format in addition to the URL, as a form field. */
interface Setting {
  name: string;
  /** Names of the input, and of the checkbox that removes the stored value. */
  input: string;
  clearInput: string;
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
    input: inputOf(name),
    clearInput: `clear_${name}`,
    label: capitalised(spaced(name)),
    hint: schema.description,
    isSecret: secretSettings.includes(name),
    isOptional: OptionalKind in schema,
    isNumber: schema["type"] === "integer",
  }));
}

function inputOf(name: string): string {
  return `setting_${name}`;
}

interface TypedSettings {
  /** Texts by setting name. */
  texts: Readonly<Record<string, string>>;
  /** Names of the secrets to remove. */
  cleared: readonly string[];
}

interface SettingsContext {
  /** Format whose settings the form shows. */
  format: WebhookFormat;
  /** Names of the settings that are stored for this format, including secrets. */
  storedSettings: readonly string[];
}

/**
 * Field for the settings of a format, with an input for each. Stored secrets are never shown; an
 * empty input keeps them, unless they are to be removed.
 */
export function settingsField(): Field<TypedSettings, Record<string, unknown>, SettingsContext> {
  const all = WEBHOOK_FORMATS.flatMap(settingsOf);
  return {
    label: "Settings",
    inputs: Object.fromEntries(all.map(({ input, label }) => [input, label])),
    initial: { texts: {}, cleared: [] },
    showError({ pointer, detail }) {
      const [, , name] = pointer.split("/");
      return name === undefined ? { detail } : { input: inputOf(name), detail };
    },
    read: (sent) => ({
      texts: Object.fromEntries(all.map(({ name, input }) => [name, sent.text(input)])),
      cleared: all
        .filter(({ clearInput }) => sent.text(clearInput) === "yes")
        .map(({ name }) => name),
    }),
    toBody({ texts, cleared }, { format, storedSettings }) {
      const body: Record<string, unknown> = {};
      for (const { name, isSecret, isOptional, isNumber } of settingsOf(format)) {
        const text = (texts[name] ?? "").trim();
        const isStored = storedSettings.includes(name);
        const isKept = isSecret && isStored && !cleared.includes(name);
        if (text !== "") body[name] = isNumber ? toNumber(text) : text;
        else if (!isOptional && !isKept) body[name] = "";
        else if (isStored && !isKept) body[name] = null;
      }
      return body;
    },
    fromStored: (settings) => ({
      texts: Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [name, String(value)]),
      ),
      cleared: [],
    }),
    Input: ({ value, errors, context }) => (
      <>
        {settingsOf(context.format).map((setting) => (
          <SettingInput
            key={setting.name}
            setting={setting}
            text={value.texts[setting.name]}
            isKept={setting.isSecret && context.storedSettings.includes(setting.name)}
            isCleared={value.cleared.includes(setting.name)}
            error={errors[setting.input]}
          />
        ))}
      </>
    ),
  };
}

/** Converts text to a number. Invalid text is passed on unchanged, for the service to reject. */
function toNumber(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

interface SettingInputProps {
  setting: Setting;
  text: string | undefined;
  /** True for a stored secret. */
  isKept: boolean;
  isCleared: boolean;
  error: string | undefined;
}

function SettingInput({ setting, text, isKept, isCleared, error }: SettingInputProps) {
  const { input, clearInput, label, hint, isSecret, isOptional, isNumber } = setting;
  const optional = isOptional && !isKept ? "Optional." : "";
  const keeping = isKept ? "A value is set; leave this field empty to keep that value." : "";
  // Stored secrets are never loaded, so this one was typed in a form that is shown again.
  const again = isSecret && text ? "Enter the new value again, because secrets are not shown." : "";
  return (
    <>
      <TextField
        label={label}
        name={input}
        hint={[hint, optional, keeping, again].filter(Boolean).join(" ")}
        type={isSecret ? "password" : "text"}
        value={text}
        error={error}
        autocomplete="off"
        required={!isOptional && !isKept}
        isShort={isNumber}
        {...(isNumber ? { inputmode: "numeric" as const } : {})}
      />
      {isKept && isOptional ? (
        <Checkbox
          label={`Remove the ${label.toLowerCase()}`}
          name={clearInput}
          isChecked={isCleared}
        />
      ) : null}
    </>
  );
}
