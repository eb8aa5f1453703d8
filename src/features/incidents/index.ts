/**
 * Incidents: what went wrong, told in updates. An incident's status, times and impact, and what it
 * marks components with, are always reckoned from all of its updates.
 */
export { createIncident } from "./create";
export { deleteIncident, deleteOpenIncidentsOfPage } from "./delete";
export { updateIncident } from "./edit";
export { listNewestIncidents, listOpenIncidents, type ReadRecords } from "./lists";
export { AddUpdateBody, CreateIncidentBody, EditUpdateBody, UpdateIncidentBody } from "./bodies";
export {
  findFirstIncidentStart,
  type IncidentSummary,
  type SummaryCursor,
  listEndedIncidents,
  listIncidentsBetween,
} from "./summaries";
export { createIncidentCache } from "./incident-cache";
export { type IncidentQuery, listIncidents } from "./listing";
export {
  Incident,
  type IncidentSource,
  IncidentUpdate,
  presentIncident,
  presentUpdate,
} from "./model";
export { putPostmortem } from "./postmortem";
export {
  getIncident,
  getIncidentPart,
  getIncidentRow,
  type IncidentRecord,
  UPDATES_IN_LISTS,
} from "./records";
export { listOpenImpacts } from "./store";
export { addUpdate, editUpdate, getUpdate, hasRoomForUpdate } from "./updates";
