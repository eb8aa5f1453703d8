/**
 * Webhooks: endpoints, their formats and deliveries. Events are queued for endpoints in the
 * transaction of the change; the deliverer repeats attempts until they succeed or are given up.
 */
export { CreateWebhookBody, MONITORS_MAX, UpdateWebhookBody } from "./bodies";
export { webhookName } from "./changes";
export { createWebhook } from "./create";
export {
  isDisabledByPerson,
  DECLARED_WEBHOOK_FIELDS,
  declareWebhook,
  isUrlSecret,
  mapWebhookSecrets,
  validateDeclaredWebhook,
  webhookSettingsSchema,
} from "./declared";
export { listStoredWebhooks, type StoredWebhook, planWebhook } from "./apply-plan";
export { isOpenToEvents } from "./alerts/receivers";
export { confirmAlerts, declineAlerts, openAlertLink } from "./alerts/answer";
export { describeQuestion, findQuestion, type Question } from "./alerts/question";
export { ALERT_TEMPLATES } from "./alerts/templates";
export { mailtoOf, recipientOf } from "./recipient";
export { deleteWebhook, requestConfirmation, rotateSecret, updateWebhook } from "./update";
export { startDelivering } from "./deliver/deliverer";
export { type DelivererFigures, TRY_OUTCOMES } from "./deliver/figures";
export {
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
export { enqueueDeliveries, listReceivers } from "./enqueue";
export {
  type Backlog,
  countAttempts,
  deliveryHealth,
  type Failure,
  lastFailure,
  successRate,
} from "./health";
export { findNewestDeliveryAbout } from "./log-store";
export { listMonitorsById } from "./monitor-store";
export {
  listSelectiveWebhooks,
  listWebhooksOnlyFor,
  monitorRefs,
  removeFromWebhooks,
  selectWebhooksOfMonitor,
} from "./monitors";
export { readMonitors } from "./settings";
export { FORMATS } from "./formats";
export { presentWebhook, TestEventData } from "./model";
export { isSuccess } from "./rules";
export { findPausedUntil, getWebhookRecord, listWebhooks, type WebhookRecord } from "./records";
export { deletePausesBefore, findWebhook, listAllWebhooks, type WebhookRow } from "./store";
export { signatureHeaders } from "./secrets";
