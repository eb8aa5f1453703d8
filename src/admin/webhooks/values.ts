import { Problem } from "../../errors";
import {
  ANY_EVENT,
  type CreateWebhookBody,
  presentWebhook,
  type UpdateWebhookBody,
  type WebhookRecord,
} from "../../features/webhooks";
import type { Form } from "../../http";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../domain/webhook";
import { type Complaints, complaintsOf } from "../field-errors";
import { EVENT_TYPES } from "./event-choice";
import { settingsOf } from "./setting-fields";

/** Typed values of the endpoint form. */
export interface WebhookValues {
  format: WebhookFormat;
  description: string;
  url: string;
  isForAllEvents: boolean;
  events: readonly string[];
  /** Id of a page; empty for all pages. */
  page: string;
  /** Texts by setting name. */
  settings: Readonly<Record<string, string>>;
  /** Names of the secrets to remove. */
  cleared: readonly string[];
}

/** Name of the buttons that select a format. */
export const CHOOSE_FORMAT = "choose_format";

/** Returns an empty form, for the named format if there is one. */
export function emptyWebhook(format: string | undefined): WebhookValues {
  return {
    format: formatNamed(format) ?? "standard",
    description: "",
    url: "",
    isForAllEvents: true,
    events: [],
    page: "",
    settings: {},
    cleared: [],
  };
}

/**
 * Returns the form values of a stored endpoint, with the URL masked for display and without
 * secrets.
 */
export function storedWebhook(record: WebhookRecord): WebhookValues {
  const { format, description, url, events, settings } = presentWebhook(record);
  return {
    format,
    description: description ?? "",
    url,
    isForAllEvents: events.includes(ANY_EVENT),
    events: events.filter((type) => type !== ANY_EVENT),
    page: record.row.pageId ?? "",
    settings: Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, String(value)]),
    ),
    cleared: [],
  };
}

/** Reads the typed values. `asksForFormat` is true if a format button was pressed. */
export function readWebhook(form: Form): { values: WebhookValues; asksForFormat: boolean } {
  const asked = formatNamed(form.text(CHOOSE_FORMAT));
  const format = asked ?? formatNamed(form.text("format")) ?? "standard";
  const settings = settingsOf(format);
  return {
    asksForFormat: asked !== undefined,
    values: {
      format,
      description: form.text("description"),
      url: form.text("url"),
      isForAllEvents: form.text("which") !== "some",
      // More than there are hold one that is unknown or doubled.
      events: form.all("events").slice(0, EVENT_TYPES.length + 1),
      page: form.text("page"),
      settings: Object.fromEntries(settings.map(({ name, field }) => [name, form.text(field)])),
      cleared: settings
        .filter(({ clearField }) => form.text(clearField) === "yes")
        .map(({ name }) => name),
    },
  };
}

/** Converts form values to a new endpoint. The service validates them. */
export function toNewWebhook(values: WebhookValues): CreateWebhookBody {
  const { format, settings, page } = values;
  return {
    ...fieldsOf(values),
    page: page === "" ? null : page,
    format,
    settings: Object.fromEntries(
      settingsOf(format)
        .filter(({ name, isOptional }) => !isOptional || typed(settings, name) !== "")
        .map(({ name, isNumber }) => [name, valueOf(typed(settings, name), isNumber)]),
    ),
  };
}

/**
 * Returns the requested change. Secrets that are not typed are kept, unless they are to be removed.
 */
export function toChange(values: WebhookValues, { row }: WebhookRecord): UpdateWebhookBody {
  const { format, settings, cleared, page } = values;
  const isSet = (name: string) => format === row.format && name in row.settings;
  return {
    ...fieldsOf(values),
    page: page === "" ? null : page,
    format,
    settings: Object.fromEntries(
      settingsOf(format)
        .filter(({ name, isSecret }) => {
          const isLeftOut = typed(settings, name) === "" && !cleared.includes(name);
          return !(isLeftOut && isSecret && isSet(name));
        })
        .map(({ name, isOptional, isNumber }) => {
          const text = typed(settings, name);
          return [name, text === "" && isOptional ? null : valueOf(text, isNumber)];
        }),
    ),
  };
}

/** Returns a refusal as errors of the form's fields. Any other error is rethrown. */
export function webhookComplaintsOrThrow(error: unknown): Complaints {
  if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
  const complaints = complaintsOf(
    error.fields.map(({ pointer, detail }) => ({
      pointer: pointer.replace(/^#\/settings\//, "#/setting_"),
      detail,
    })),
  );
  // Told of all of them: nobody typed the list.
  return "events" in complaints
    ? { ...complaints, events: "Choose at least one event." }
    : complaints;
}

function fieldsOf({ description, url, isForAllEvents, events }: WebhookValues) {
  return {
    url: url.trim(),
    description: description.trim() === "" ? null : description.trim(),
    events: isForAllEvents ? [ANY_EVENT] : [...events],
  } as Pick<CreateWebhookBody, "url" | "description" | "events">;
}

function typed(settings: WebhookValues["settings"], name: string): string {
  return (settings[name] ?? "").trim();
}

/** Converts text to a number. Invalid text is passed on unchanged, for the service to reject. */
function valueOf(text: string, isNumber: boolean): string | number {
  return isNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function formatNamed(name: string | undefined): WebhookFormat | undefined {
  return WEBHOOK_FORMATS.find((format) => format === name);
}
