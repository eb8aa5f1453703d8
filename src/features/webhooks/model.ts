import { type Static, Type } from "@sinclair/typebox";
import { Instant, Nullable } from "../../base/schema";
import { toIso, toIsoOrNull } from "../../base/time";
import { GROUP_SECONDS } from "../../base/webhook";
import { WebhookFormatText } from "./bodies";
import { shownSettings, shownUrl } from "./formats";
import type { WebhookRecord } from "./records";

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
