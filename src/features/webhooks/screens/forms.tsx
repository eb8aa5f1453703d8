import { OptionalKind, type TSchema } from "@sinclair/typebox";
import { isSecret } from "../../../base/secrets";
import { capitalised, spaced } from "../../../base/text";
import { DESCRIPTION_MAX } from "../../../base/texts";
import {
  ANY_EVENT,
  ANY_MONITOR,
  GROUP_SECONDS,
  isForPeople,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from "../../../base/webhook";
import type { Reader } from "../../../db/statements";
import { EVENTS, type EventType } from "../../../events/outbox";
import type { Form as SentForm } from "../../../http/form-body";
import { Button } from "../../../ui/buttons";
import { Checkbox, CheckRows, ChoiceField, SelectField } from "../../../ui/choices";
import { HiddenFields, TextField } from "../../../ui/form";
import { integerField, textField } from "../../../ui/forms/fields";
import { defineForm, type Field, nullable } from "../../../ui/forms/form";
import {
  type MonitorChoice,
  MonitorRows,
  readMonitorChoices,
} from "../../../ui/forms/object-fields";
import { labelAmong, readPages } from "../../../ui/frame/page-choice";
import type { PageRow } from "../../pages/store";
import { FORMATS, isUrlSecret } from "../formats/index";
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
    read: (sent, name) => ({ isForAll: sent.text("which") !== "some", types: sent.all(name) }),
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
  sentFormat: (sent: { text(name: string): string }) => string,
): Field<TypedUrl, string, { format: WebhookFormat }> {
  return {
    label: "URL",
    inputs: { [ADDRESS]: ADDRESS_LABEL },
    initial: { url: "", address: "", isAddress: false },
    showError: ({ detail }, { isAddress }) => (isAddress ? { input: ADDRESS, detail } : { detail }),
    read: (sent, name) => ({
      url: sent.text(name),
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
  const storedSettings = row?.format === format ? Object.keys(row.settings) : [];
  const selected = [...(row?.monitors ?? []), ...(sent?.all("monitors") ?? [])];
  const monitors = readMonitorChoices(reader, selected);
  return { format, storedSettings, pages: readPages(reader), monitors };
}

/** Name of the buttons that select a format. */
const CHOOSE_FORMAT = "choose_format";

/** True if a button was pressed that shows the form again with the fields of a format. */
function isChoosingFormat(sent: SentForm): boolean {
  return formatNamed(sent.text(CHOOSE_FORMAT)) !== undefined;
}

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

/** Field for the gathering time, only shown for formats for people. */
function gatheringField(): Field<string, number, WebhookFormContext> {
  const { default: initial, max } = GROUP_SECONDS;
  const field = integerField({
    label: "Gather messages about monitors (seconds)",
    hint: `The first message is sent at once. Those that follow within this time, up to ${max} s, are sent as one. 0 sends each by itself.`,
    initial,
  });
  return {
    ...field,
    toBody: (typed, context) =>
      isForPeople(context.format) ? field.toBody(typed, context) : undefined,
    Input: (props) => (isForPeople(props.context.format) ? field.Input(props) : null),
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
    Input: ({ name, context: { format: shown } }) => (
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
    ),
  };
}

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
  return Object.entries<TSchema>(FORMATS[format].settings.properties).map(([name, schema]) => ({
    name,
    input: inputOf(name),
    clearInput: `clear_${name}`,
    label: capitalised(spaced(name)),
    hint: schema.description,
    isSecret: isSecret(schema),
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
function settingsField(): Field<TypedSettings, Record<string, unknown>, SettingsContext> {
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
