/**
 * Analytics: uptime, latency, incidents and requests of a period by interval, each with its method.
 * Reads data of other modules and writes nothing.
 */
export { answerToCsv, toCsv, toCsvLine } from "./answer";
export { incidentsAnswer } from "./incidents";
export { METHODS, UptimeLine } from "./model";
export { LINES_MAX, type PeriodInput, readPeriod } from "./period";
export { requestsAnswer } from "./requests";
export { findSubject } from "./subjects";
export { type TotalUptime, totalUptime } from "./total-uptime";
export { uptimeAnswer } from "./uptime";
