/**
 * Webhooks: who is told of what happens, in which form, and how that goes. Events are queued for endpoints
 * in the transaction of the change; whoever delivers tries until they have arrived.
 */
export { ANY_EVENT, CreateWebhookBody, UpdateWebhookBody } from "./bodies";
export { webhookName } from "./changes";
export { type ApplyMetadata, createWebhook } from "./create";
export {
  DECLARED_WEBHOOK_FIELDS,
  type DeclaredWebhook,
  declareWebhook,
  mapWebhookSecrets,
  validateDeclaredWebhook,
} from "./declared";
export { listStoredWebhooks, type StoredWebhook, webhookWishOf } from "./apply-plan";
export { deleteWebhook, rotateSecret, updateWebhook } from "./update";
export { type Deliverer, startDelivering } from "./deliver/deliverer";
export type { DelivererFigures } from "./deliver/figures";
export { createLoadThrottle, type LoadThrottle } from "./deliver/load-throttle";
export {
  type DeliveryQuery,
  type DeliveryRecord,
  getDelivery,
  getTries,
  listDeliveries,
  redeliver,
  redeliverFailed,
  sendTestEvent,
  type SentRequest,
  sentRequest,
  trimDeliveries,
} from "./deliveries";
export type { TryRow } from "./delivery-store";
export { enqueueDeliveries } from "./enqueue";
export {
  type Backlog,
  type DeliveryHealth,
  deliveryHealth,
  type Failure,
  lastFailure,
  successRate,
} from "./health";
export { FORMATS, shownUrl } from "./formats";
export { presentWebhook, type Webhook } from "./model";
export { getWebhookRecord, listWebhooks, type WebhookRecord } from "./records";
export { listAllWebhooks, type WebhookRow } from "./store";
export { signatureHeaders } from "./secrets";
