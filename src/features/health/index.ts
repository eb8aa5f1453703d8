/**
 * Whether the server lives and can work, for load balancers and supervisors. Decides nothing else.
 */
export { createReadiness, type Readiness } from "./readiness";
