import { OptionalKind, type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { type FieldError, FieldErrors, pointer, schemaErrors } from "../../errors";
import { Nullable } from "../../kernel/schema";
import type { WebhookFormat } from "../../domain/webhook";
import { ANY_EVENT, CreateWebhookBody } from "./bodies";
import { CUT, FORMATS } from "./formats";
import { secretError } from "./secrets";
import { validateEvents } from "./settings";
import type { WebhookRow } from "./store";

/*
 * An endpoint as a declarative file tells it: what is left out has its default. Secrets need not stand in
 * it: null is one that is there and stays as it is, and so is one that is left out.
 */

const { url: Url, settings: _settings, secret: Secret, ...Open } = CreateWebhookBody.properties;

/** The fields of such an endpoint. What its format asks for is judged apart. */
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
  return !FORMATS[format].isForPeople;
}

/**
 * Returns errors that the schema of a declared endpoint cannot express. The addresses of its URL
 * are checked later.
 */
export function validateDeclaredWebhook(webhook: DeclaredWebhook): readonly FieldError[] {
  const errors = new FieldErrors();
  const { url, settings = {}, secret, events = [ANY_EVENT] } = webhook;
  const format = formatOf(webhook);
  if (typeof url === "string" && url.includes(CUT)) {
    errors.add(["url"], "is as it is shown, without its end: give the whole, or null to keep it");
  }
  if (typeof url !== "string" && !isUrlSecret(format)) {
    errors.add(["url"], "is required: in this format it is no secret that could be kept");
  }
  errors.addAll(
    ["settings"],
    schemaErrors(declaredSettings(format), withoutCleared(format, settings)),
  );
  const complaint = typeof secret === "string" ? secretError(secret) : undefined;
  if (complaint !== undefined) errors.add(["secret"], complaint);
  validateEvents(errors, events);
  return errors.all;
}

/** The schema of such settings: that of a creating body, where a secret may be null or left out. */
function declaredSettings(format: WebhookFormat): TSchema {
  const { settings, secretSettings } = FORMATS[format];
  const fields = Object.entries((settings as TObject).properties).map(([name, schema]) => [
    name,
    secretSettings.includes(name) ? Type.Optional(Nullable(schema)) : schema,
  ]);
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

/** An empty text takes a secret away that an endpoint can do without. */
function withoutCleared(
  format: WebhookFormat,
  settings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { secretSettings } = FORMATS[format];
  const isCleared = (name: string, value: unknown) =>
    value === "" && secretSettings.includes(name) && mayLeaveOut(format, name);
  return Object.fromEntries(Object.entries(settings).filter((entry) => !isCleared(...entry)));
}

/** Returns true if a setting of this format is optional. */
export function mayLeaveOut(format: WebhookFormat, setting: string): boolean {
  const { properties } = FORMATS[format].settings as TObject;
  return OptionalKind in (properties[setting] ?? {});
}

/** The same endpoint with other secrets: `change` is given each that is told, and its pointer. */
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
 * An endpoint that is there as a file tells it, with null in the places of its secrets. What was disabled
 * by itself is told as if it were not: that is how it goes, not how it is meant.
 */
export function declareWebhook(row: WebhookRow, pageSlug: string | null): DeclaredWebhook {
  const { format, description, events } = row;
  const settings = declareSettings(row);
  const isDefault = events.length === 1 && events[0] === ANY_EVENT;
  return {
    url: isUrlSecret(format) ? null : row.url,
    ...(description !== null && { description }),
    ...(!isDefault && { events: events as NonNullable<DeclaredWebhook["events"]> }),
    ...(pageSlug !== null && { page: pageSlug }),
    ...(format !== "standard" && { format }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(isOffByHand(row) && { enabled: false }),
    ...(isVerified(format) && { secret: null }),
  };
}

/** Returns true if a person disabled the endpoint, not the failures of its deliveries. */
export function isOffByHand({ enabled, disabledReason }: WebhookRow): boolean {
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
