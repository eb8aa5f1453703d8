/** What a webhook's body is made for. `standard` is Standard Webhooks' envelope. */
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

/** How far an event is on its way to one endpoint. `failed`: it was tried for three days in vain. */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
