/**
 * Health checks for load balancers, supervisors and alerts: liveness, readiness, and whether
 * changes can be stored.
 */
export { createReadiness, drain, type Readiness, requirePages, requireReady } from "./readiness";
