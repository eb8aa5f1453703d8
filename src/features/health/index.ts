/**
 * Health checks for load balancers, supervisors and alerts: the process answers, pages can be served,
 * changes can be stored. Decides nothing else.
 */
export { createReadiness, type Readiness } from "./readiness";
