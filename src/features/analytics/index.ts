/**
 * Analytics: uptime, latency, incidents and requests in figures, of a time and by interval, each with how it
 * was counted. Reads what other rooms keep and writes nothing.
 */
export { answerToCsv, toCsv, toCsvLine } from "./answer";
export { incidentsAnswer } from "./incidents";
export { LatencyLine, METHODS, UptimeLine } from "./model";
export { DEFAULT_DAYS, type PeriodInput, readPeriod } from "./period";
export { requestsAnswer } from "./requests";
export { findSubject, type Subject } from "./subjects";
export { uptimeAnswer } from "./uptime";
