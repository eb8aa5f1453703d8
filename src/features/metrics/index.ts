/**
 * Metrics: what the server counts of itself, for Prometheus. A room that has figures of its own adds its
 * families with `add`; they are read when somebody asks, and nothing is counted for them in between.
 */
export { databaseFamilies, limiterFamilies, processFamilies } from "./server";
export { createMetrics, type MetricFamily, type Metrics, type Sample, single } from "./metrics";
export { checkFamilies, monitorFamilies } from "./monitors";
export { deliveryFamilies, webhookFamilies } from "./webhooks";
