/**
 * Incidents and their updates. The status, times, impact and causes of an incident are always computed
 * from all of its updates.
 */
export { createIncident } from "./create";
export { deleteIncident, deleteOpenIncidentsOfPage } from "./delete";
export { putPostmortem, updateIncident } from "./edit";
export {
  countIncidents,
  type IncidentQuery,
  listIncidents,
  listIncidentsById,
  listIncidentsOfComponent,
  listNewestIncidents,
  listOpenIncidents,
  type ReadRecords,
} from "./lists";
export {
  findFirstIncidentStart,
  type IncidentSummary,
  listEndedIncidents,
  listIncidentsBetween,
  listOpenSummariesOf,
} from "./summaries";
export { POSTMORTEM_MAX } from "./bodies";
export { importIncident } from "./import";
export { AddUpdateBody, CreateIncidentBody, EditUpdateBody, UpdateIncidentBody } from "./bodies";
export { createIncidentCache } from "./incident-cache";
export { IncidentEventData } from "./event";
export { ImpactText, Incident, type IncidentSource, presentIncident, presentUpdate } from "./model";
export { findLastIncidentStart, listAllOpenIncidents, type OpenIncident } from "./open-store";
export { getIncident, getIncidentPart, type IncidentRecord } from "./records";
export { impactOf } from "./rules";
export {
  endOutages,
  hasRoomForOutages,
  joinAutomatic,
  linkOutage,
  moveDraft,
  openAutomatic,
  type Outage,
  reopenAutomatic,
} from "./automatic";
export {
  countOutagesOfIncidents,
  findAutomatic,
  findJoinedIncident,
  findLastWritten,
  findOpenOutage,
  findOutageOfMonitor,
  listFailingWithoutIncident,
  listIncidentsOfOutage,
  listJoinable,
  listOpenOutagesOf,
  listOutagesOfIncident,
  listReopenable,
  type OutageRow,
} from "./outage-store";
export { type IncidentOutages, readOutages, type ShownOutage } from "./outage-view";
export { SplitOffBody, splitOff } from "./split-off";
export { asMarkdown, hasDueWords, isAllclears, writeDueWords } from "./words";
export { searchIncidents } from "./search-store";
export { countOpenImpacts, countPublished, findIncidentNames } from "./list-store";
export { findIncident, listOpenImpacts } from "./store";
export { addUpdate, editUpdate, getUpdate, hasRoomForUpdate } from "./updates";
