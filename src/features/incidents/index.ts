/**
 * Incidents: what went wrong, told in updates. An incident's status, times and impact, and what it
 * marks components with, are always reckoned from all of its updates.
 */
export { createIncident } from "./create";
export { deleteIncident } from "./delete";
export { updateIncident } from "./edit";
export {
  AddUpdateBody,
  CreateIncidentBody,
  EditUpdateBody,
  PutPostmortemBody,
  UpdateIncidentBody,
} from "./bodies";
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
  type IncidentRecord,
  listEndedIncidents,
  listIncidentsBetween,
  listNewestIncidents,
  listOpenIncidents,
  UPDATES_IN_LISTS,
  type UpdateRecord,
} from "./records";
export { listOpenImpacts } from "./store";
export { addUpdate, editUpdate, getUpdate, type UpdateOfIncident } from "./updates";
