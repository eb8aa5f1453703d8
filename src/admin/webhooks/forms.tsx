import type { Reader } from "../../db/statements";
import {
  GROUP_SECONDS,
  isForPeople,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from "../../base/webhook";
import { DESCRIPTION_MAX } from "../../base/texts";
import type { CreateWebhookBody } from "../../features/webhooks/bodies";
import { FORMATS } from "../../features/webhooks/formats";
import type { WebhookRow } from "../../features/webhooks/store";
import type { Form as SentForm } from "../../http/form-body";
import { Button } from "../../ui/buttons";
import { HiddenFields } from "../../ui/form";
import {
  DATE_TIME_ERROR,
  dateTimeField,
  integerField,
  parseDateTimeInput,
  textField,
  type TimeZoneContext,
} from "../../ui/forms/fields";
import { defineForm, type Field, InvalidInput, nullable } from "../../ui/forms/form";
import { readMonitorChoices } from "../../ui/forms/object-fields";
import { readPages } from "../../ui/frame/page-choice";
import {
  eventsField,
  type FilterContext,
  monitorFilterField,
  pageFilterField,
} from "./filter-fields";
import { settingsField } from "./setting-fields";
import { urlField } from "./url-field";

/** Screen data of a form for an endpoint. */
interface WebhookFormContext extends FilterContext {
  /** Format whose fields the form shows. */
  format: WebhookFormat;
  /** Names of the settings that are stored for this format, including secrets. */
  storedSettings: readonly string[];
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
  monitors: monitorFilterField(),
  page: nullable(pageFilterField()),
  group_seconds: gatheringField(),
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
