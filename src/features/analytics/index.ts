/**
 * Analytics: uptime, latency, incidents and requests of a period by interval, each with its method.
 * Reads data of other modules and writes nothing.
 */
export { answerToCsv } from "./answer";
export { foldComponents, foldInTurns } from "./fold";
export { incidentsAnswer } from "./incidents";
export { METHODS, type UptimeFigures, UptimeLine } from "./model";
export { LINES_MAX, type Period, type PeriodInput, readPeriod } from "./period";
export { requestsAnswer } from "./requests";
export { listComponents, listMeasuringMonitors, listUnattachedMonitors } from "./store";
export { type ComponentOnPage, findSubject, type MonitorName } from "./subjects";
export { type TotalUptime, totalUptime, uptimeTogether } from "./total-uptime";
export { sumOfFolded, uptimeAnswer, uptimeByComponent, uptimeByMonitor } from "./uptime";
