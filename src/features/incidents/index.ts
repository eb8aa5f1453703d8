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
export { searchIncidents } from "./search-store";
export { countOpenImpacts, countPublished, findIncidentNames } from "./list-store";
export { findIncident, listOpenImpacts } from "./store";
export { addUpdate, editUpdate, getUpdate, hasRoomForUpdate } from "./updates";
