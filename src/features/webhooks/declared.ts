import { OptionalKind, type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../base/errors";
import { FieldErrors, schemaErrors } from "../../base/validation";
import { Nullable, Text } from "../../base/schema";
import {
  ANY_EVENT,
  ANY_MONITOR,
  GROUP_SECONDS,
  isForPeople,
  type WebhookFormat,
} from "../../base/webhook";
import { CreateWebhookBody } from "./bodies";
import { ELLIPSIS, FORMATS } from "./formats";
import { validateEvents, validateSecret } from "./settings";
import type { WebhookRow } from "./store";

/*
 * Endpoints in a configuration file. A field that is left out has its default. A secret that is
 * null or left out keeps its stored value.
 */

const { url: Url, settings: _settings, secret: Secret, ...Open } = CreateWebhookBody.properties;

/**
 * Fields of an endpoint in a configuration file. The format's own settings are validated
 * separately.
 */
export const DECLARED_WEBHOOK_FIELDS = {
  ...Open,
  url: Type.Optional(Nullable(Url)),
  settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  secret: Type.Optional(Nullable(Secret)),
};

const DeclaredWebhook = Type.Object(DECLARED_WEBHOOK_FIELDS);
export type DeclaredWebhook = Static<typeof DeclaredWebhook>;

export function formatOf({ format = "standard" }: DeclaredWebhook): WebhookFormat {
  return format;
}

/** Returns true if a URL of this format is a secret, because knowing it is enough to use it. */
export function isUrlSecret(format: WebhookFormat): boolean {
  return FORMATS[format].openPath !== undefined;
}

/**
 * Returns true if receivers of this format verify signatures and need the signing secret. Formats
 * for people have none.
 */
export function isVerified(format: WebhookFormat): boolean {
  return !isForPeople(format);
}

/**
 * Returns errors that the schema of a declared endpoint cannot express. The addresses of its URL
 * are checked later.
 */
export function validateDeclaredWebhook(webhook: DeclaredWebhook): readonly FieldError[] {
  const errors = new FieldErrors();
  const { url, settings = {}, secret, events = [ANY_EVENT] } = webhook;
  const format = formatOf(webhook);
  if (typeof url === "string" && url.includes(ELLIPSIS)) {
    errors.add(["url"], "is the shortened URL: enter the whole URL, or null to keep it");
  }
  if (typeof url !== "string" && !isUrlSecret(format)) {
    errors.add(["url"], "is required: only a secret URL can be left out to keep it");
  }
  errors.addAll(
    ["settings"],
    schemaErrors(declaredSettings(format), withoutCleared(format, settings)),
  );
  validateSecret(errors, secret ?? undefined);
  validateEvents(errors, events);
  return errors.all;
}

/**
 * Returns the schema of settings in a file: that of a create body, in which secrets may be null or
 * left out.
 */
function declaredSettings(format: WebhookFormat): TObject {
  const { settings, secretSettings } = FORMATS[format];
  const fields = Object.entries((settings as TObject).properties).map(([name, schema]) => [
    name,
    secretSettings.includes(name) ? Type.Optional(Nullable(schema)) : schema,
  ]);
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

/** Returns the schema of settings as they are written: secrets can contain variables, or be empty to be removed. */
export function webhookSettingsSchema(format: WebhookFormat): TSchema {
  const { properties } = declaredSettings(format);
  const { secretSettings } = FORMATS[format];
  const fields = Object.entries(properties).map(([name, schema]) => {
    if (!secretSettings.includes(name)) return [name, schema];
    const written = Type.Union([schema, Text({ pattern: "^$|\\$\\{" })]);
    return [name, OptionalKind in schema ? Type.Optional(written) : written];
  });
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

/** Returns the settings without optional secrets that an empty text removes. */
function withoutCleared(
  format: WebhookFormat,
  settings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { secretSettings } = FORMATS[format];
  const isCleared = (name: string, value: unknown) =>
    value === "" && secretSettings.includes(name) && canOmit(format, name);
  return Object.fromEntries(Object.entries(settings).filter((entry) => !isCleared(...entry)));
}

/** Returns true if a setting of this format is optional. */
export function canOmit(format: WebhookFormat, setting: string): boolean {
  const { properties } = FORMATS[format].settings as TObject;
  return OptionalKind in (properties[setting] ?? {});
}

/**
 * Returns the endpoint with each secret replaced by the result of `change`, which receives the
 * secret and its pointer.
 */
export function mapWebhookSecrets<Webhook extends DeclaredWebhook>(
  webhook: Webhook,
  change: (text: string, at: string) => string,
): Webhook {
  const format = formatOf(webhook);
  const { secretSettings } = FORMATS[format];
  const map = (value: unknown, at: string) =>
    typeof value === "string" ? change(value, at) : value;
  const mapped: Record<string, unknown> = { ...webhook };
  if ("url" in webhook && isUrlSecret(format)) mapped["url"] = map(webhook.url, pointer("url"));
  if ("secret" in webhook) mapped["secret"] = map(webhook.secret, pointer("secret"));
  if (webhook.settings) {
    mapped["settings"] = Object.fromEntries(
      Object.entries(webhook.settings).map(([name, value]) => [
        name,
        secretSettings.includes(name) ? map(value, pointer("settings", name)) : value,
      ]),
    );
  }
  return mapped as Webhook;
}

/**
 * Returns a stored endpoint as a configuration file describes it, with null for secrets. `monitors` are the
 * refs of its monitors, or `ANY_MONITOR`. An
 * endpoint that was disabled automatically is described as enabled, since the file holds intent,
 * not state.
 */
export function declareWebhook(
  row: WebhookRow,
  pageSlug: string | null,
  monitors: readonly string[],
): DeclaredWebhook {
  const { format, description, events, groupSeconds } = row;
  const settings = declareSettings(row);
  const isDefault = events.length === 1 && events[0] === ANY_EVENT;
  return {
    url: isUrlSecret(format) ? null : row.url,
    ...(description !== null && { description }),
    ...(!isDefault && { events: events as NonNullable<DeclaredWebhook["events"]> }),
    ...(pageSlug !== null && { page: pageSlug }),
    ...(!monitors.includes(ANY_MONITOR) && { monitors: [...monitors] }),
    ...(format !== "standard" && { format }),
    ...(groupSeconds !== GROUP_SECONDS.default && { group_seconds: groupSeconds }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(isDisabledByPerson(row) && { enabled: false }),
    ...(isVerified(format) && { secret: null }),
  };
}

/** Returns true if a person disabled the endpoint, not the failures of its deliveries. */
export function isDisabledByPerson({ enabled, disabledReason }: WebhookRow): boolean {
  return !enabled && disabledReason === null;
}

function declareSettings({ format, settings }: WebhookRow): Record<string, unknown> {
  const { secretSettings } = FORMATS[format];
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      secretSettings.includes(name) ? null : value,
    ]),
  );
}
