/**
 * Metrics: what the server counts of itself, for Prometheus. A room that has figures of its own adds its
 * families with `add`; they are read when somebody asks, and nothing is counted for them in between.
 */
export { databaseFamilies } from "./database";
export { type MetricFamily, type Sample, single } from "./family";
export { limiterFamilies } from "./limiter";
export { createMetrics, type Exposition, type Metrics } from "./metrics";
export { checkFamilies, monitorFamilies } from "./monitors";
export { processFamilies } from "./process";
export { deliveryFamilies, webhookFamilies } from "./webhooks";
