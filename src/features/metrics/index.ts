/**
 * Metrics for Prometheus. Modules add families with `add`; their values are read only when metrics
 * are requested.
 */
export { databaseFamilies, limiterFamilies, processFamilies } from "./server";
export { alarmFamilies } from "./alarms";
export { mailFamilies } from "./mail";
export { subscriberFamilies } from "./subscribers";
export { createMetrics, type MetricFamily, type Metrics } from "./metrics";
export { checkFamilies, monitorFamilies } from "./monitors";
export { deliveryFamilies, webhookFamilies } from "./webhooks";
