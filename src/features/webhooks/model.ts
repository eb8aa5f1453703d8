import { type Static, Type } from "@sinclair/typebox";
import { Instant, Nullable } from "../../kernel/schema";
import { toIso } from "../../kernel/time";
import { WebhookFormatText } from "./bodies";
import { shownSettings, shownUrl } from "./formats";
import type { WebhookRecord } from "./records";

const Fields = Type.Object({
  id: Type.String({ examples: ["whk_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  ref: Type.String({ examples: ["our-chat"] }),
  url: Type.String({
    description: "Where it is sent to. Of a URL that is a secret itself, the beginning.",
    examples: ["https://hooks.slack.com/services/…"],
  }),
  description: Nullable(Type.String()),
  events: Type.Array(Type.String(), { description: 'Types of events; ["*"] for all.' }),
  page: Nullable(Type.String({ description: "The page's slug; null for every page." })),
  page_id: Nullable(Type.String()),
  format: WebhookFormatText,
  settings: Type.Object({}, { description: "What the format needs beside the URL." }),
  secret_settings: Type.Array(Type.String(), {
    description: "The names of settings that are set and never shown.",
  }),
  enabled: Type.Boolean(),
  disabled_reason: Nullable(
    Type.String({ description: "Why it was disabled, where nobody did so by hand." }),
  ),
  success_rate_24h: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Of the tries of the last 24 hours, the share that succeeded; null if none.",
    }),
  ),
  version: Type.Integer({ minimum: 1 }),
  created_at: Instant,
  updated_at: Instant,
});

/** An endpoint as the API shows it: without its secret and those among its settings. */
export const Webhook = Type.Object(Fields.properties, { title: "Webhook" });
export type Webhook = Static<typeof Webhook>;

/** The same in the one answer that shows its secret. */
export const RevealedWebhook = Type.Object(
  {
    ...Fields.properties,
    secret: Nullable(
      Type.String({
        description: "What signs. Shown this once; null where the answer is sent again.",
        examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
      }),
    ),
  },
  { title: "RevealedWebhook" },
);
export type RevealedWebhook = Static<typeof RevealedWebhook>;

export function presentWebhook({ row, pageSlug, successRate }: WebhookRecord): Webhook {
  const { settings, secretSettings } = shownSettings(row.format, row.settings);
  return {
    id: row.id,
    ref: row.ref,
    url: shownUrl(row.format, row.url),
    description: row.description,
    events: row.events,
    page: pageSlug,
    page_id: row.pageId,
    format: row.format,
    settings,
    secret_settings: secretSettings,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    success_rate_24h: successRate,
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}

/** With its secret: for the answers to creation and rotation, and for nothing else. */
export function revealWebhook(record: WebhookRecord): RevealedWebhook {
  return { ...presentWebhook(record), secret: record.row.secret };
}
