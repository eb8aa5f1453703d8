import { ANY_EVENT } from "../../domain/webhook";
import type { Reader } from "../../db";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../domain/webhook";
import { DESCRIPTION_MAX } from "../../domain/texts";
import { EVENTS, type EventType } from "../../events";
import type { PageRow } from "../../features/pages";
import { type CreateWebhookBody, FORMATS, type WebhookRow } from "../../features/webhooks";
import type { Form as SentForm } from "../../http";
import { Button, CheckRows, ChoiceField, HiddenFields, SelectField } from "../../ui";
import {
  DATE_TIME_ERROR,
  dateTimeField,
  parseDateTimeInput,
  type TimeZoneContext,
} from "../forms/date-time-field";
import { type Field, InvalidInput, nullable } from "../forms/field";
import { defineForm } from "../forms/form";
import { textField } from "../forms/text-fields";
import { labelAmong, readPages } from "../page-choice";
import { settingsField } from "./setting-fields";
import { urlField } from "./url-field";

/** Screen data of a form for an endpoint. */
interface WebhookFormContext {
  /** Format whose fields the form shows. */
  format: WebhookFormat;
  /** Names of the settings that are stored for this format, including secrets. */
  storedSettings: readonly string[];
  pages: readonly PageRow[];
}

/**
 * Form for a new endpoint and for a stored one. The buttons for formats precede the main button, so
 * it needs `enter`.
 */
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
  page: nullable(pageFilterField()),
});

/** Form for the time from which failed deliveries are sent again. */
export const REDELIVER_FORM = defineForm<{ since: string }, TimeZoneContext>()({
  since: {
    ...dateTimeField({ label: "Queued since (UTC)", isRequired: true }),
    // No service validates this time.
    toBody: (typed) => parseDateTimeInput(typed) ?? new InvalidInput(DATE_TIME_ERROR),
  },
});

/** Form of a confirmation without fields. */
export const CONFIRM_FORM = defineForm<object>()({});

/**
 * Reads the screen data of a form that shows the fields of a format. `row` is the stored endpoint.
 */
export function readFormContext(
  reader: Reader,
  format: WebhookFormat,
  row?: WebhookRow,
): WebhookFormContext {
  const storedSettings = row?.format === format ? Object.keys(row.settings) : [];
  return { format, storedSettings, pages: readPages(reader) };
}

/** Name of the buttons that select a format. */
const CHOOSE_FORMAT = "choose_format";

/** Returns true if a button was pressed that shows a form again with the fields of a format. */
export function isChoosingFormat(sent: SentForm): boolean {
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

/** Field for the page whose events are sent; empty for all pages. */
function pageFilterField(): Field<string, string, WebhookFormContext> {
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
