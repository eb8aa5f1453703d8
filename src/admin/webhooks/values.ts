import { Problem } from "../../errors";
import {
  ANY_EVENT,
  type CreateWebhookBody,
  presentWebhook,
  type UpdateWebhookBody,
  type WebhookRecord,
} from "../../features/webhooks";
import type { Form } from "../../http";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../kernel/webhook";
import { type Complaints, complaintsOf } from "../field-errors";
import { EVENT_TYPES } from "./event-choice";
import { settingsOf } from "./setting-fields";

/** What stands in the form of an endpoint, as it was typed. */
export interface WebhookValues {
  format: WebhookFormat;
  description: string;
  url: string;
  isForAllEvents: boolean;
  events: readonly string[];
  /** An id; empty for every page. */
  page: string;
  /** By the name of the setting. */
  settings: Readonly<Record<string, string>>;
  /** The names of those that are to be taken away. */
  cleared: readonly string[];
}

/** The name of the buttons that ask for another format's fields. */
export const CHOOSE_FORMAT = "choose_format";

/** An empty form, for a format where one is asked for by its name. */
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

/** An endpoint as it is; its URL as it may be shown, and no secret. */
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

/** What was typed; `asksForFormat` where nothing but another format's fields was asked for. */
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

/** The endpoint that a form asks for. All of it is for the service to judge. */
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

/** The change that a form asks for: secrets that are not typed stay, unless they are taken away. */
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

/** What a refusal says of the form's fields; one that is about something else is thrown on. */
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

/** A number where one was typed; else what was typed, of which the format complains. */
function valueOf(text: string, isNumber: boolean): string | number {
  return isNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function formatNamed(name: string | undefined): WebhookFormat | undefined {
  return WEBHOOK_FORMATS.find((format) => format === name);
}
