/** Body formats of webhooks, by receiver. `standard` is Standard Webhooks' envelope. */
export const WEBHOOK_FORMATS = [
  "standard",
  "statuspage",
  "slack",
  "discord",
  "ntfy",
  "gotify",
  "telegram",
  "teams",
] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/**
 * Progress of an event's delivery to one endpoint. `failed`: every attempt of three days failed.
 */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
