/**
 * Analytics: uptime, latency, incidents and requests of a period by interval, each with its method.
 * Reads data of other modules and writes nothing.
 */
export { answerToCsv, toCsv, toCsvLine } from "./answer";
export { incidentsAnswer } from "./incidents";
export { LatencyLine, METHODS, UptimeLine } from "./model";
export { DEFAULT_DAYS, LINES_MAX, type PeriodInput, readPeriod } from "./period";
export { requestsAnswer } from "./requests";
export { findSubject, type Subject } from "./subjects";
export { uptimeAnswer } from "./uptime";
