/**
 * Monitors: their configuration and results. Probes run checks, `rules.ts` evaluates results, and
 * the engine schedules checks and applies transitions.
 */
export { changeSchemaOf, CreateMonitorBody, PARENTS_MAX, UpdateMonitorBody } from "./bodies";
export { type Assertion, patternProblem } from "./assertions";
export {
  type CheckRow,
  listChecksBefore,
  listNewestSpans,
  listNoDataOfPage,
  listSpans,
  type SpanRow,
} from "./checks-store";
export { createMonitor, type NewMonitor, validateNewMonitor } from "./create";
export {
  declaredMonitorSchema,
  declareMonitor,
  mapDeclaredSecrets,
  validateDeclaredMonitor,
} from "./declared";
export {
  type DeclarableMonitor,
  isDeclarable,
  listStoredMonitors,
  listUndeclarableRefs,
  planMonitor,
} from "./apply-plan";
export {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
  updateMonitor,
  validateMonitorChange,
} from "./update";
export { findInvalidChain } from "./dependencies";
export { endToken, type MonitorToken, rotateToken, tokensOf } from "./tokens";
export { listRuns, listSignals, type SignalRow } from "./heartbeat-store";
export { findMeaning, messageInBody, messageOf } from "./signal-text";
export { listDependents } from "./dependency-store";
export { detachMonitorsOfPage, watchesOnlyPage } from "./detach";
export {
  createMonitoring,
  DELAY_BOUNDS_MS,
  type FindProbe,
  type MonitoringFigures,
} from "./engine";
export {
  addImportedTokens,
  createHeartbeatDirectory,
  findTokenOwner,
  type HeartbeatDirectory,
  type ImportedToken,
  isSameToken,
  isShortToken,
  ofPostOnly,
  type TokenOwner,
} from "./heartbeat-tokens";
export {
  type LatencyFigures,
  latencyOfEach,
  type LatencyTogether,
  latencyTogether,
} from "./latency";
export {
  CertificateEventData,
  type Monitor,
  MonitorEventData,
  MonitorReminderData,
  presentMonitor,
} from "./model";
export { type Figures, figuresOf, figuresToRow, mergeFigures } from "./figures";
export { continueFrom, type PastState, rememberState } from "./past";
export {
  findFirstSpan,
  insertPastChecks,
  insertPastNoData,
  insertPastRollups,
  insertPastSpans,
  listMonitorsOfComponent,
  rollUpAgainFrom,
  startSpanEarlier,
} from "./past-store";
export type { RollupRow } from "./rollups-store";
export { SERVER_OFFLINE } from "./engine/liveness";
export { pageIdOf } from "./engine/transitions";
export { createIdleMonitoring, type Heartbeat, type Monitoring } from "./monitoring";
export {
  countMonitorsMatching,
  listMonitorsInOrder,
  type ListOrder,
  type PeriodState,
  placeOf,
  type RecentTimes,
  recentTimesOf,
} from "./overview";
export {
  listMonitorGroups,
  listMonitorNames,
  listMonitorTags,
  WORST_FIRST,
} from "./overview-store";
export {
  graceSecondsOf,
  type MonitorConfig,
  occurrencesOf,
  originOf,
  probeOf,
  meaningInBody,
  scheduleOf,
  storedField,
} from "./probes";
export { type CertificateFacts, certificatesIn, PRIVATE_KEY } from "./probes/client-certificate";
export { getMonitorRecord, listMonitors, type MonitorRecord, resolveMonitorId } from "./records";
export { listIncidentsOfMonitor } from "./records-store";
export { retentionOf } from "./rollup";
export { searchMonitors } from "./search-store";
export { startRollUps } from "./rollup-clock";
export { invertResult } from "./probe";
export { defaultSettings } from "./settings";
export { type ReplacingMonitor, replaceMonitor, validateReplacingMonitor } from "./replace";
export { createUnsupportedMonitor, requireSupported, type UnsupportedMonitor } from "./unsupported";
export { intervalsOf } from "./bodies";
export {
  addTimes,
  knownTime,
  type StateSpan,
  type StateTimes,
  timesByInterval,
  timesByState,
  type Trouble,
  troublesOf,
  uptimeOf,
} from "./spans";
export { type Sparkline, sparklinesOf } from "./sparklines";
export {
  findLongestGap,
  listMonitorsOfIncident,
  listOpenIncidentsOfMonitors,
  listTroubledMonitors,
} from "./trouble-store";
export {
  countMonitorsByState,
  findMonitor,
  findMonitorByRef,
  listComponentsOfMonitors,
  listMonitorsOfPage,
  type MonitorRow,
} from "./store";
