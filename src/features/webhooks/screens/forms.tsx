import { Kind, OptionalKind, type TSchema } from "@sinclair/typebox";
import { givenValues, isSecret } from "../../../base/secrets";
import { capitalised, spaced } from "../../../base/text";
import { DESCRIPTION_MAX } from "../../../base/texts";
import {
  ANY_EVENT,
  ANY_MONITOR,
  END_PREFIX,
  getsEachEvent,
  GROUP_SECONDS,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from "../../../base/webhook";
import type { Reader } from "../../../db/statements";
import { EVENTS, type EventType } from "../../../events/outbox";
import type { Form as SentForm } from "../../../http/form-body";
import { Fold } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { Checkbox, CheckRows, ChoiceField, SelectField } from "../../../ui/choices";
import { FieldGroup } from "../../../ui/field";
import { HiddenFields, TextArea, TextField } from "../../../ui/form";
import { integerField, textField } from "../../../ui/forms/fields";
import { defineForm, type Field, InvalidInput, nullable } from "../../../ui/forms/form";
import {
  type MonitorChoice,
  MonitorRows,
  readMonitorChoices,
} from "../../../ui/forms/object-fields";
import { labelAmong, readPages } from "../../../ui/frame/page-choice";
import type { PageRow } from "../../pages/store";
import { FORMATS, isUrlSecret } from "../formats/index";
import { secretNamesIn } from "../formats/template";
import { type Preset, presetNamed, PRESETS, presetSettings } from "../presets";
import { mailtoOf, recipientOf } from "../recipient";
import type { WebhookRow } from "../store";
import type { CreateWebhookBody } from "../wire";

/** Screen data of the fields that select the events of an endpoint. */
interface FilterContext {
  pages: readonly PageRow[];
  /** Monitors whose events can be selected. */
  monitors: readonly MonitorChoice[];
}

/** Selectable event types. `webhook.test` is always sent. */
const EVENT_TYPES = (Object.keys(EVENTS) as EventType[]).filter((type) => type !== "webhook.test");

const EVENT_PARTS = [
  { key: "component", title: "Components" },
  { key: "incident", title: "Incidents" },
  { key: "maintenance", title: "Maintenance" },
  { key: "monitor", title: "Monitors" },
];

interface TypedEvents {
  isForAll: boolean;
  types: readonly string[];
}

type EventFilter = NonNullable<CreateWebhookBody["events"]>;

/** Field for the events that are sent with two inputs: `which` is `all` or `some` of `events`. */
function eventsField(): Field<TypedEvents, EventFilter> {
  return {
    label: "Events",
    initial: { isForAll: true, types: [] },
    showError: () => ({ detail: "Select at least one event." }),
    read: (sent, name) => {
      const preset = chosenPreset(sent);
      return preset
        ? { isForAll: preset.events === undefined, types: preset.events ?? [] }
        : { isForAll: sent.text("which") !== "some", types: sent.all(name) };
    },
    // More than all types hold an unknown or repeated one; thousands would be slow to report.
    toBody: ({ isForAll, types }) =>
      isForAll ? [ANY_EVENT] : (types.slice(0, EVENT_TYPES.length + 1) as EventFilter),
    // In the order of the form, so that an unedited form changes nothing.
    fromStored: (events) => ({
      isForAll: events.includes(ANY_EVENT),
      types: EVENT_TYPES.filter((type) => events.includes(type)),
    }),
    Input: ({ name, value: { isForAll, types }, errors }) => (
      <ChoiceField
        legend="Events to send"
        name="which"
        options={[
          { value: "all", label: "All events" },
          { value: "some", label: "Selected events" },
        ]}
        value={isForAll ? "all" : "some"}
      >
        <CheckRows
          legend="Events"
          name={name}
          error={errors[name]}
          parts={EVENT_PARTS.map(({ key, title }) => ({
            key,
            title,
            options: EVENT_TYPES.filter((type) => type.startsWith(`${key}.`)).map((type) => ({
              value: type,
              label: type,
              hint: EVENTS[type],
              isChecked: types.includes(type),
            })),
          }))}
        />
      </ChoiceField>
    ),
  };
}

interface TypedMonitors {
  isForAll: boolean;
  ids: readonly string[];
}

/** Field for the monitors whose events are sent with two inputs: `of` is `all` or `some` of `monitors`. */
function monitorFilterField(): Field<TypedMonitors, string[], FilterContext> {
  return {
    label: "Monitors",
    initial: { isForAll: true, ids: [] },
    // The pointer of one monitor has its index.
    showError: ({ pointer, detail }) => ({
      detail: pointer.split("/").length > 2 ? "Select monitors that exist." : detail,
    }),
    read: (sent, name) => ({ isForAll: sent.text("of") !== "some", ids: sent.all(name) }),
    // Sorted, so that a form with the same monitors changes nothing.
    toBody: ({ isForAll, ids }) => (isForAll ? [ANY_MONITOR] : ids.toSorted()),
    fromStored: (monitors) => {
      const isForAll = monitors.includes(ANY_MONITOR);
      return { isForAll, ids: isForAll ? [] : monitors };
    },
    Input({ name, value: { isForAll, ids }, errors, context: { monitors } }) {
      if (monitors.length === 0 && isForAll) return null;
      return (
        <ChoiceField
          legend="Monitors"
          name="of"
          hint="Only for events that begin with “monitor.”."
          options={[
            { value: "all", label: "All monitors" },
            { value: "some", label: "Selected monitors" },
          ]}
          value={isForAll ? "all" : "some"}
        >
          <MonitorRows
            legend="Selected monitors"
            name={name}
            error={errors[name]}
            choices={monitors}
            selected={ids}
          />
        </ChoiceField>
      );
    },
  };
}

/** Field for the page whose events are sent; empty for all pages. */
function pageFilterField(): Field<string, string, FilterContext> {
  return {
    label: "Page",
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed,
    fromStored: (id) => id,
    Input({ name, value, errors, context: { pages } }) {
      // The sample page is removed with the creation of the first page, so it cannot be selected.
      const real = pages.filter(({ isSample }) => !isSample);
      const isGone = value !== "" && !pages.some(({ id }) => id === value);
      return (
        <SelectField
          label="Page"
          name={name}
          hint="Only events of this page are sent."
          options={[
            { value: "", label: "All pages" },
            ...real.map((page) => ({ value: page.id, label: labelAmong(real, page) })),
            ...(isGone ? [{ value, label: "Deleted page" }] : []),
          ]}
          value={value}
          error={errors[name]}
        />
      );
    },
  };
}

/** Name and label of the input for the format `email`. */
const ADDRESS = "address";

const ADDRESS_LABEL = "Address";

interface TypedUrl {
  url: string;
  address: string;
  isAddress: boolean;
}

/** Field for the URL; for e-mail it has another input, with the address alone. */
function urlField(
  sentFormat: (sent: SentForm) => string,
): Field<TypedUrl, string, { format: WebhookFormat }> {
  return {
    label: "URL",
    inputs: { [ADDRESS]: ADDRESS_LABEL },
    initial: { url: "", address: "", isAddress: false },
    showError: ({ detail }, { isAddress }) => (isAddress ? { input: ADDRESS, detail } : { detail }),
    read: (sent, name) => ({
      url: chosenPreset(sent)?.url ?? sent.text(name),
      address: sent.text(ADDRESS),
      isAddress: sentFormat(sent) === "email",
    }),
    toBody({ url, address }, { format }) {
      if (format !== "email") return url.trim();
      const text = address.trim();
      return text === "" || /^mailto:/i.test(text) ? text : mailtoOf(text);
    },
    fromStored: (url) =>
      url.startsWith("mailto:")
        ? { url: "", address: recipientOf(url), isAddress: true }
        : { url, address: "", isAddress: false },
    Input: ({ name, value, errors, context: { format } }) =>
      format === "email" ? (
        <TextField
          label={ADDRESS_LABEL}
          name={ADDRESS}
          value={value.address}
          hint="One e-mail address, such as oncall@example.com."
          error={errors[ADDRESS]}
          autocomplete="off"
          maxlength={300}
          required
        />
      ) : (
        <TextField
          label="URL"
          name={name}
          value={value.url}
          hint={
            isUrlSecret(format)
              ? URL_IS_SECRET
              : format === "template"
                ? "The address, with placeholders. It is shown to admins, so write secret parts as {secret.NAME}."
                : "The http or https address to which events are sent."
          }
          error={errors[name]}
          autocomplete="off"
          maxlength={2_000}
          required
        />
      ),
  };
}

const URL_IS_SECRET =
  "Everyone who knows this URL can post to the channel, so its end is hidden after saving.";

/** Screen data of a form for an endpoint. */
interface WebhookFormContext extends FilterContext {
  /** Format whose fields the form shows. */
  format: WebhookFormat;
  /** Names of the settings that are stored for this format, including secrets. */
  storedSettings: readonly string[];
  /** Names of the stored secrets of a template. */
  storedSecrets: readonly string[];
  /** Preset that filled the form. */
  preset: Preset | undefined;
  /** True if the endpoint gets each event by itself. */
  getsEach: boolean;
}

/** Form for a new endpoint and for a stored one. */
export const WEBHOOK_FORM = defineForm<CreateWebhookBody, WebhookFormContext>()({
  format: formatField(),
  url: urlField(sentFormat),
  settings: settingsField(),
  description: nullable(
    textField({
      label: "Description",
      hint: "Purpose of the webhook, shown in the list.",
      maxlength: DESCRIPTION_MAX,
    }),
  ),
  events: eventsField(),
  monitors: monitorFilterField(),
  page: nullable(pageFilterField()),
  group_seconds: gatheringField(),
});

/**
 * Reads the screen data of a form that shows the fields of a format. `row` is the stored endpoint, `sent` the
 * submitted form.
 */
export function readFormContext(
  reader: Reader,
  format: WebhookFormat,
  { row, sent }: { row?: WebhookRow | undefined; sent?: SentForm | undefined },
): WebhookFormContext {
  const stored = row?.format === format ? row.settings : {};
  const preset = sent && (chosenPreset(sent) ?? presetNamed(sent.text(SHOWN_PRESET)));
  const selected = [...(row?.monitors ?? []), ...(sent?.all("monitors") ?? [])];
  const monitors = readMonitorChoices(reader, selected);
  return {
    format,
    getsEach: getsEachEvent({ format, settings: sent ? endOf(sent) : stored }),
    storedSettings: Object.keys(stored),
    storedSecrets: Object.keys(givenValues(stored["secrets"])),
    preset: format === "template" ? preset : undefined,
    pages: readPages(reader),
    monitors,
  };
}

/** Returns the settings of a submitted form, or of the preset that fills it, that describe the request for the end. */
function endOf(sent: SentForm): Record<string, unknown> {
  const preset = chosenPreset(sent);
  if (preset) return presetSettings(preset);
  const names = settingsOf("template").filter(({ name }) => name.startsWith(END_PREFIX));
  return Object.fromEntries(
    names.filter(({ input }) => sent.text(input) !== "").map(({ name }) => [name, true]),
  );
}

/** Name of the buttons that select a format. */
const CHOOSE_FORMAT = "choose_format";

/** Name of the buttons that fill the form with a preset, and of the field with the preset that is shown. */
const CHOOSE_PRESET = "choose_preset";

const SHOWN_PRESET = "preset";

/** Returns the preset whose button was pressed. */
function chosenPreset(sent: Pick<SentForm, "text">): Preset | undefined {
  return presetNamed(sent.text(CHOOSE_PRESET));
}

/** True if a button was pressed that shows the form again with the fields of a format, or filled with a preset. */
function isChoosingFormat(sent: SentForm): boolean {
  return (
    formatNamed(sent.text(CHOOSE_FORMAT)) !== undefined ||
    chosenPreset(sent) !== undefined ||
    sent.text(SHOW_SECRETS) !== ""
  );
}

/** Name of the button that shows the form again with a field for each secret that the request names. */
const SHOW_SECRETS = "show_secrets";

/** Returns the format of a submitted form, as selected by a button or else as shown. */
function sentFormat(sent: Pick<SentForm, "text">): string {
  return sent.text(CHOOSE_FORMAT) || sent.text("format");
}

/** Returns the format whose fields a submitted form shows; `fallback` for an unknown format. */
export function shownFormat(sent: SentForm, fallback: WebhookFormat): WebhookFormat {
  return formatNamed(sentFormat(sent)) ?? fallback;
}

export function formatNamed(name: string | undefined): WebhookFormat | undefined {
  return WEBHOOK_FORMATS.find((format) => format === name);
}

/** Field for the gathering time, only shown for endpoints whose messages are gathered. */
function gatheringField(): Field<string, number, WebhookFormContext> {
  const { default: initial, max } = GROUP_SECONDS;
  const field = integerField({
    label: "Gather messages about monitors (seconds)",
    hint: `The first message is sent at once. Those that follow within this time, up to ${max} s, are sent as one. 0 sends each by itself.`,
    initial,
  });
  return {
    ...field,
    toBody: (typed, context) => (context.getsEach ? undefined : field.toBody(typed, context)),
    Input: (props) => (props.context.getsEach ? null : field.Input(props)),
  };
}

/**
 * Field for the format: buttons that show the form again with the fields of another format. The
 * service rejects a missing or unknown format, so that no stored settings are dropped by mistake.
 */
function formatField(): Field<string, WebhookFormat, WebhookFormContext> {
  return {
    label: "Send to",
    initial: "standard",
    read: sentFormat,
    toBody: (typed) => typed as WebhookFormat,
    fromStored: (format) => format,
    isPressed: isChoosingFormat,
    Input: ({ name, context: { format: shown, preset } }) => (
      <>
        <div class="field">
          <HiddenFields values={{ [name]: shown }} />
          <p class="label" id="field-format">
            Send to
          </p>
          <div class="presets is-many" role="group" aria-labelledby="field-format">
            {WEBHOOK_FORMATS.map((format) => (
              <Button key={format} name={CHOOSE_FORMAT} value={format} isCurrent={format === shown}>
                {FORMATS[format].label}
              </Button>
            ))}
          </div>
          <p class="hint">{FORMATS[shown].hint}</p>
        </div>
        {shown === "template" ? <Presets shown={preset} /> : null}
      </>
    ),
  };
}

/** Buttons that fill the form with the request of a service. */
function Presets({ shown }: { shown: Preset | undefined }) {
  const all: [name: string, preset: Preset][] = Object.entries(PRESETS);
  const current = all.find(([, preset]) => preset === shown)?.[0];
  return (
    <div class="field">
      {current === undefined ? null : <HiddenFields values={{ [SHOWN_PRESET]: current }} />}
      <p class="label" id="field-presets">
        Preset
      </p>
      <div class="presets is-many" role="group" aria-labelledby="field-presets">
        {all.map(([name, preset]) => (
          <Button key={name} name={CHOOSE_PRESET} value={name} isCurrent={name === current}>
            {preset.label}
          </Button>
        ))}
      </div>
      <p class="hint">
        {shown?.hint ?? "A preset replaces the URL, the request and the selected events below."}
      </p>
    </div>
  );
}

/** Setting of a format in addition to the URL, as a form field. */
interface Setting {
  name: string;
  /** Names of the input, and of the checkbox that removes the stored value. */
  input: string;
  clearInput: string;
  label: string;
  hint: string | undefined;
  /** `lines` have a name and a value each. `secrets` are values of a template, with an input for each. */
  kind: "text" | "number" | "choice" | "long" | "lines" | "secrets";
  choices: readonly string[];
  isSecret: boolean;
  isOptional: boolean;
  maxlength: number | undefined;
}

/** Returns the settings of a format, from its schema. */
export function settingsOf(format: WebhookFormat): Setting[] {
  return Object.entries<TSchema>(FORMATS[format].settings.properties).map(([name, schema]) => ({
    name,
    input: inputOf(name),
    clearInput: `clear_${name}`,
    label: capitalised(spaced(name)).replace(/\burl\b/i, "URL"),
    hint: schema.description,
    kind: kindOf(schema),
    choices: (schema["enum"] ?? []) as string[],
    isSecret: isSecret(schema),
    isOptional: OptionalKind in schema,
    maxlength: schema["maxLength"] as number | undefined,
  }));
}

function kindOf(schema: TSchema): Setting["kind"] {
  if (schema[Kind] === "Record") return isSecret(schema) ? "secrets" : "lines";
  if (schema["type"] === "integer") return "number";
  if (schema["enum"] !== undefined) return "choice";
  // Only bodies are longer.
  return (schema["maxLength"] ?? 0) > 5_000 ? "long" : "text";
}

function inputOf(name: string): string {
  return `setting_${name}`;
}

/** Beginning of the names of inputs for secrets of a template. */
const SECRET_INPUT = "secret_";

/** Secrets of a template with an input: more than it may have, so that a longer list is rejected. */
const SECRETS_MAX = 50;

function secretInputOf(name: string): string {
  return SECRET_INPUT + name;
}

/** Returns a stored setting as text: lines with names and values for a record. */
export function settingText(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, text]) => `${name}: ${String(text)}`)
    .join("\n");
}

interface TypedSettings {
  /** Texts by setting name. */
  texts: Readonly<Record<string, string>>;
  /** Names of the secrets to remove. */
  cleared: readonly string[];
  /** Secrets of a template by name: those that the typed request names, and their typed values. */
  secrets: Readonly<Record<string, string>>;
}

type SettingsContext = Pick<
  WebhookFormContext,
  "format" | "storedSettings" | "storedSecrets" | "preset"
>;

/**
 * Field for the settings of a format, with an input for each. Stored secrets are never shown; an
 * empty input keeps them, unless they are to be removed.
 */
function settingsField(): Field<TypedSettings, Record<string, unknown>, SettingsContext> {
  const all = WEBHOOK_FORMATS.flatMap(settingsOf);
  return {
    label: "Settings",
    inputs: Object.fromEntries(all.map(({ input, label }) => [input, label])),
    labelOf: (input) =>
      input.startsWith(SECRET_INPUT) ? input.slice(SECRET_INPUT.length) : undefined,
    initial: { texts: {}, cleared: [], secrets: {} },
    showError({ pointer, detail }) {
      const [, , name, part] = pointer.split("/");
      if (name === undefined) return { detail };
      if (part === undefined) return { input: inputOf(name), detail };
      return name === "secrets"
        ? { input: secretInputOf(part), detail }
        : { input: inputOf(name), detail: `“${part}” ${detail}.` };
    },
    read(sent) {
      const preset = chosenPreset(sent);
      const texts = preset
        ? textsOf(presetSettings(preset))
        : Object.fromEntries(
            all.map(({ name, input }) => [name, sent.text(input).replaceAll("\r\n", "\n")]),
          );
      const names = secretNamesIn(preset?.url ?? sent.text("url"), texts).slice(0, SECRETS_MAX);
      return {
        texts,
        cleared: all
          .filter(({ clearInput }) => sent.text(clearInput) === "yes")
          .map(({ name }) => name),
        secrets: Object.fromEntries(names.map((name) => [name, sent.text(secretInputOf(name))])),
      };
    },
    toBody({ texts, cleared, secrets }, context) {
      const { format, storedSettings } = context;
      const body: Record<string, unknown> = {};
      for (const { name, kind, input, isSecret, isOptional } of settingsOf(format)) {
        if (kind === "secrets") {
          const changed = changedSecrets(secrets, context);
          if (Object.keys(changed).length > 0) body[name] = changed;
          continue;
        }
        const text = (texts[name] ?? "").trim();
        const isStored = storedSettings.includes(name);
        const isKept = isSecret && isStored && !cleared.includes(name);
        if (text === "") {
          if (!isOptional && !isKept) body[name] = "";
          else if (isStored && !isKept) body[name] = null;
          continue;
        }
        const value = kind === "number" ? toNumber(text) : kind === "lines" ? toRecord(text) : text;
        if (value === undefined) {
          return new InvalidInput("Write a name, a colon and a value on each line.", input);
        }
        body[name] = value;
      }
      return body;
    },
    fromStored: (settings) => ({ texts: textsOf(settings), cleared: [], secrets: {} }),
    Input({ value, errors, context }) {
      const settings = settingsOf(context.format);
      const isOfEnd = ({ name }: Setting) => name.startsWith(END_PREFIX);
      const render = (shown: readonly Setting[]) =>
        shown.map((setting) => (
          <SettingInput
            key={setting.name}
            setting={setting}
            text={value.texts[setting.name]}
            isKept={setting.isSecret && context.storedSettings.includes(setting.name)}
            isCleared={value.cleared.includes(setting.name)}
            error={errors[setting.input]}
          />
        ));
      const isSecrets = ({ kind }: Setting) => kind === "secrets";
      const ofEnd = settings.filter(isOfEnd);
      const isEndShown = ofEnd.some(({ name, input }) => value.texts[name] || input in errors);
      return (
        <>
          {settings.filter(isSecrets).map((setting) => (
            <SecretInputs
              key={setting.name}
              setting={setting}
              typed={value.secrets}
              errors={errors}
              context={context}
            />
          ))}
          {render(settings.filter((setting) => !isOfEnd(setting) && !isSecrets(setting)))}
          {ofEnd.length === 0 ? null : (
            <Fold title="Another request for the end" isOpen={isEndShown}>
              <p class="hint">
                Sent when a monitor is up again, an incident is resolved, or maintenance is over.
                With it, each event is sent by itself.
              </p>
              {render(ofEnd)}
            </Fold>
          )}
        </>
      );
    },
  };
}

function textsOf(settings: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, settingText(value)]),
  );
}

/** Returns the typed secrets, and null for stored ones that the request does not name any more. */
function changedSecrets(
  secrets: TypedSettings["secrets"],
  { storedSecrets }: SettingsContext,
): Record<string, string | null> {
  const names = Object.keys(secrets);
  // A form that was not submitted has none.
  if (names.length === 0) return {};
  const typed = Object.entries(secrets).filter(([, text]) => text !== "");
  const unused = storedSecrets.filter((name) => !names.includes(name));
  return Object.fromEntries([...typed, ...unused.map((name) => [name, null] as const)]);
}

/** Converts text to a number. Invalid text is passed on unchanged, for the service to reject. */
function toNumber(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Converts lines to a record; undefined if one has no name or no colon. */
function toRecord(text: string): Record<string, string> | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const entries = lines.map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, Math.max(0, at)).trim(), line.slice(at + 1).trim()] as const;
  });
  return entries.some(([name]) => name === "") ? undefined : Object.fromEntries(entries);
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
  const { input, clearInput, label, hint, kind, choices, isSecret, isOptional } = setting;
  const optional = isOptional && !isKept ? "Optional." : "";
  const keeping = isKept ? KEPT : "";
  // Stored secrets are never loaded, so this one was typed in a form that is shown again.
  const again = isSecret && text ? AGAIN : "";
  const field = {
    label,
    name: input,
    hint: [hint, optional, keeping, again].filter(Boolean).join(" "),
    error,
  };
  if (kind === "choice") {
    const none = isOptional ? [{ value: "", label: "That of the first request" }] : [];
    const options = [...none, ...choices.map((value) => ({ value, label: value }))];
    return <SelectField {...field} options={options} value={text} />;
  }
  if (kind === "long" || kind === "lines") {
    const lines = (text ?? "").split("\n").length;
    return <TextArea {...field} value={text} rows={Math.min(Math.max(3, lines), 24)} isPasted />;
  }
  return (
    <>
      <TextField
        {...field}
        type={isSecret ? "password" : "text"}
        value={text}
        autocomplete="off"
        required={!isOptional && !isKept}
        isShort={kind === "number"}
        {...(kind === "number" ? { inputmode: "numeric" as const } : {})}
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

const KEPT = "A value is set; leave this field empty to keep that value.";

const AGAIN = "Enter the new value again, because secrets are not shown.";

interface SecretInputsProps {
  setting: Setting;
  typed: TypedSettings["secrets"];
  errors: Readonly<Record<string, string>>;
  context: SettingsContext;
}

/** Inputs for the secrets that a template names. A form that was not submitted shows the stored ones. */
function SecretInputs({ setting, typed, errors, context }: SecretInputsProps) {
  const { storedSecrets, preset } = context;
  const names = Object.keys(typed).length > 0 ? Object.keys(typed) : storedSecrets;
  return (
    <>
      <FieldGroup
        name={setting.input}
        label="Secrets"
        hint="Values of {secret.NAME} in the URL, the headers and the bodies. They are never shown again."
        error={errors[setting.input]}
      >
        <Button name={SHOW_SECRETS} value="yes">
          Show fields of secrets
        </Button>
      </FieldGroup>
      {names.map((name) => {
        const input = secretInputOf(name);
        const hints = [
          preset?.secrets[name],
          storedSecrets.includes(name) ? KEPT : "",
          typed[name] ? AGAIN : "",
        ];
        return (
          <TextField
            key={name}
            label={name}
            name={input}
            type="password"
            hint={hints.filter(Boolean).join(" ")}
            error={errors[input]}
            autocomplete="off"
            maxlength={4_000}
          />
        );
      })}
    </>
  );
}
