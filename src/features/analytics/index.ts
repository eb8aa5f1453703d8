/**
 * Analytics: uptime, latency, incidents and requests in figures, of a time and by interval, each with how it
 * was counted. Reads what other rooms keep and writes nothing.
 */
export { answerToCsv, toCsv, toCsvLine } from "./answer";
export { incidentsAnswer } from "./incidents";
export { LatencyLine, METHODS, UptimeLine } from "./model";
export {
  DEFAULT_DAYS,
  type IntervalName,
  INTERVALS,
  LINES_MAX,
  type Period,
  type PeriodInput,
  readPeriod,
} from "./period";
export { requestsAnswer } from "./requests";
export { findSubject, type Subject, type SubjectInput } from "./subjects";
export { uptimeAnswer } from "./uptime";
