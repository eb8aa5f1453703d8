/* Webhooks and their deliveries in the API. Settings come from the formats. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Instant, Nullable, OneOf, Text } from "../../base/schema";
import { changeSchema, Secret } from "../../base/secrets";
import { capitalised } from "../../base/text";
import { DescriptionText } from "../../base/texts";
import { toIso, toIsoOrNull } from "../../base/time";
import { ANY_EVENT, DELIVERY_STATUSES, GROUP_SECONDS, WEBHOOK_FORMATS } from "../../base/webhook";
import { EVENTS, type EventType } from "../../events/outbox";
import type { TryRow } from "./delivery-store";
import { FORMATS, shownSettings, shownUrl } from "./formats/index";
import type { DeliveryRecord, WebhookRecord } from "./records";
import { groupOf } from "./rules";

const URL_MAX = 2_000;
const SECRET_MAX = 200;
/** Maximum number of monitors that a webhook names. */
export const MONITORS_MAX = 1_000;
/** Maximum length of an id or ref. */
const REFERENCE_MAX = 100;
/** Maximum number of settings in a body, more than any format has. */
const SETTINGS_MAX = 50;

const WebhookFormatText = OneOf(WEBHOOK_FORMATS, {
  title: "WebhookFormat",
  description: WEBHOOK_FORMATS.map((name) => `${name}: ${FORMATS[name].hint}`).join(" "),
});

const FILTERS = [ANY_EVENT, ...(Object.keys(EVENTS) as EventType[])];
const EventFilter = Type.Array(OneOf(FILTERS), {
  minItems: 1,
  maxItems: FILTERS.length,
  uniqueItems: true,
  description: 'Event types that are sent, or ["*"] for all types, including future ones.',
  examples: [["incident.created", "incident.resolved"]],
});

const WritableFields = Type.Object({
  url: Text({
    minLength: 1,
    maxLength: URL_MAX,
    description:
      "http or https, without user info; for `email`, mailto: and one address. URLs of Slack, Discord and Teams are secrets and are shown without their end.",
    examples: ["https://example.com/hooks/allclear"],
  }),
  description: Nullable(DescriptionText),
  events: EventFilter,
  page: Nullable(
    Text({
      minLength: 1,
      maxLength: 100,
      description: "A page's slug or id: only events of this page are sent. Null for all pages.",
    }),
  ),
  monitors: Type.Array(Text({ minLength: 1, maxLength: REFERENCE_MAX }), {
    uniqueItems: true,
    maxItems: MONITORS_MAX,
    description:
      'Monitors, by id or ref, whose `monitor.*` events are sent, or ["*"] for all, including future ones. Other events are not affected.',
    examples: [["mon_01kah2v9w0e0rs6x0h3ye0a1bc", "checkout-api"]],
  }),
  format: WebhookFormatText,
  group_seconds: Type.Integer({
    minimum: 0,
    maximum: GROUP_SECONDS.max,
    description: `Time after a message about monitors in which further ones wait to be sent as one, for formats for people. 0 sends each by itself. Default: ${GROUP_SECONDS.default}.`,
  }),
  enabled: Type.Boolean({ description: "False to send no events. Default: true." }),
});

/** Returns the schema of settings: one of the formats' shapes. The format itself validates them. */
function SettingsOf(shapes: readonly TSchema[], description: string) {
  return Type.Optional(
    Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { anyOf: shapes, maxProperties: SETTINGS_MAX, description }),
    ),
  );
}

const SHAPES = [
  Type.Object({}, { additionalProperties: false, title: "NoSettings" }),
  ...WEBHOOK_FORMATS.map((name) => {
    const title = `${name.split("-").map(capitalised).join("")}Settings`;
    return Type.Object(FORMATS[name].settings.properties, {
      additionalProperties: false,
      title,
    });
  }).filter(({ properties }) => Object.keys(properties).length > 0),
];

const { url: Url, ...Others } = WritableFields.properties;
const Optional = Type.Partial(Type.Object(Others)).properties;

export const CreateWebhookBody = Type.Object(
  {
    url: Url,
    ...Optional,
    settings: SettingsOf(
      SHAPES,
      "Further settings of the format; most formats have none. Tokens are never returned.",
    ),
    secret: Type.Optional(
      Secret({
        maxLength: SECRET_MAX,
        description:
          "Signing secret: `whsec_` and the base64 of 24 to 64 bytes. Default: a generated one.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ url: "https://example.com/hooks/allclear", events: ["incident.created"] }],
  },
);
export type CreateWebhookBody = Static<typeof CreateWebhookBody>;

export const UpdateWebhookBody = Type.Object(
  {
    url: Type.Optional(Url),
    ...Optional,
    settings: SettingsOf(
      SHAPES.map((shape) => changeSchema(shape, { title: `Update${shape.title}` })),
      "Omitted settings keep their values, including tokens; null clears an optional one. Another format starts without settings.",
    ),
  },
  { additionalProperties: false, minProperties: 1, examples: [{ enabled: false }] },
);
export type UpdateWebhookBody = Static<typeof UpdateWebhookBody>;

const Fields = Type.Object({
  id: Type.String({ examples: ["whk_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  ref: Type.String({ examples: ["our-chat"] }),
  url: Type.String({
    description: "Address of the endpoint. A URL that is a secret is shown without its end.",
    examples: ["https://hooks.slack.com/services/…"],
  }),
  description: Nullable(Type.String()),
  events: Type.Array(Type.String(), { description: 'Types of events; ["*"] for all.' }),
  page: Nullable(Type.String({ description: "The page's slug; null for every page." })),
  page_id: Nullable(Type.String()),
  monitors: Type.Array(Type.String(), {
    description: 'Ids of the monitors whose events are sent; ["*"] for all.',
  }),
  format: WebhookFormatText,
  group_seconds: Type.Integer({
    minimum: 0,
    maximum: GROUP_SECONDS.max,
    description:
      "Time after a message about monitors in which further ones wait to be sent as one; 0 for none. Only for formats for people.",
  }),
  settings: Type.Object({}, { description: "Further settings of the format." }),
  secret_settings: Type.Array(Type.String(), {
    description: "Names of secret settings, whose values are never shown.",
  }),
  enabled: Type.Boolean(),
  disabled_reason: Nullable(
    Type.String({ description: "Reason for which it was disabled automatically." }),
  ),
  success_rate_24h: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Share of successful attempts in the last 24 hours; null without attempts.",
    }),
  ),
  paused_until: Nullable(
    Type.String({
      format: "date-time",
      description:
        "Time until which nothing is sent, since the receiver refused messages for now (429, or 503 with Retry-After). All webhooks with its URL wait. Null without a pause.",
    }),
  ),
  confirmed_at: Nullable(
    Type.String({
      format: "date-time",
      description:
        "Time from which the address of an `email` webhook gets events: when its owner confirmed, or at once for the address of an enabled user. Null before, and for other formats.",
    }),
  ),
  version: Type.Integer({ minimum: 1 }),
  created_at: Instant,
  updated_at: Instant,
});

/** An endpoint as the API shows it, without its signing secret and secret settings. */
export const Webhook = Type.Object(Fields.properties, { title: "Webhook" });
export type Webhook = Static<typeof Webhook>;

/** The data of a test: an endpoint without its URL, settings and secrets, which readers need not know. */
export const TestEventData = Type.Pick(
  Fields,
  ["id", "ref", "description", "events", "page", "page_id", "format", "version"],
  { title: "TestEventData" },
);

/** An endpoint in the only answer that shows its signing secret. */
export const RevealedWebhook = Type.Object(
  {
    ...Fields.properties,
    secret: Nullable(
      Type.String({
        description:
          "Signing secret. Shown only once; null if the answer is repeated, and for `email`.",
        examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
      }),
    ),
  },
  { title: "RevealedWebhook" },
);
export type RevealedWebhook = Static<typeof RevealedWebhook>;

export function presentWebhook(record: WebhookRecord): Webhook {
  const { row, pageSlug, successRate, pausedUntil, confirmedAt } = record;
  const { settings, secretSettings } = shownSettings(row.format, row.settings);
  return {
    id: row.id,
    ref: row.ref,
    url: shownUrl(row.format, row.url),
    description: row.description,
    events: row.events,
    page: pageSlug,
    page_id: row.pageId,
    monitors: row.monitors,
    format: row.format,
    group_seconds: row.groupSeconds,
    settings,
    secret_settings: secretSettings,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    success_rate_24h: successRate,
    paused_until: toIsoOrNull(pausedUntil),
    confirmed_at: toIsoOrNull(confirmedAt),
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}

/** Returns an endpoint with its secret, only for the answers to creation and rotation. */
export function revealWebhook(record: WebhookRecord): RevealedWebhook {
  const { format, secret } = record.row;
  return { ...presentWebhook(record), secret: format === "email" ? null : secret };
}

export const DeliveryStatusText = OneOf(DELIVERY_STATUSES, {
  title: "DeliveryStatus",
  description:
    "pending: a first or another attempt will follow; failed: attempts failed for three days; cancelled: the webhook was disabled before it arrived, or its format has no message for the event; superseded: a newer message about the same object arrived first.",
});

const DeliveryTry = Type.Object(
  {
    at: Instant,
    status_code: Nullable(Type.Integer({ description: "Null without a response." })),
    latency_ms: Type.Integer({ minimum: 0 }),
    error: Nullable(
      Type.String({
        description: "Reason for a missing response, or the reply of the mail relay.",
      }),
    ),
    answer: Nullable(Type.String({ description: "First 20 KB of the response, if it was text." })),
  },
  { title: "DeliveryTry" },
);
type DeliveryTry = Static<typeof DeliveryTry>;

export const Delivery = Type.Object(
  {
    id: Type.String({ examples: ["dlv_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    event_id: Type.String({
      description: "Header `webhook-id` of every attempt that sends it by itself.",
      examples: ["evt_01kah2v9w0e0rs6x0h3ye0a1bc"],
    }),
    event_type: Type.String({ examples: ["incident.created"] }),
    group_id: Nullable(
      Type.String({
        description:
          "Group of deliveries about monitors that one message sends, set at its first attempt: then the header `webhook-id`. They have the same attempts. Null for a delivery by itself.",
        examples: ["dgr_01kah2v9w0e0rs6x0h3ye0a1bc"],
      }),
    ),
    sent_with: Type.Integer({
      minimum: 0,
      description: "Number of other deliveries of its group.",
    }),
    status: DeliveryStatusText,
    tries: Type.Integer({ minimum: 0 }),
    next_try_at: Nullable(Instant),
    last_try: Nullable(DeliveryTry),
    created_at: Instant,
    delivered_at: Nullable(Instant),
  },
  { title: "Delivery" },
);
export type Delivery = Static<typeof Delivery>;

function presentTry({ at, statusCode, latencyMs, error, answer }: TryRow): DeliveryTry {
  return { at: toIso(at), status_code: statusCode, latency_ms: latencyMs, error, answer };
}

export function presentDelivery({ row, eventType, lastTry, sentWith }: DeliveryRecord): Delivery {
  return {
    id: row.id,
    event_id: row.eventId,
    event_type: eventType,
    group_id: groupOf(row),
    sent_with: sentWith,
    status: row.status,
    tries: row.tries,
    next_try_at: toIsoOrNull(row.nextTryAt),
    last_try: lastTry && presentTry(lastTry),
    created_at: toIso(row.createdAt),
    delivered_at: row.status === "delivered" ? toIsoOrNull(row.finishedAt) : null,
  };
}
