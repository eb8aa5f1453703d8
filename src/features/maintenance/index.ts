/**
 * Planned maintenance, its updates, and the clock that sends reminders, starts and ends it. Its
 * components are under maintenance while it is in progress.
 */
export { advanceMaintenance, startMaintenanceClock } from "./clock";
export { listMaintenance, listMaintenanceForPage, listPendingMaintenance, nextEdge } from "./lists";
export {
  findFirstMaintenanceStart,
  listEndedMaintenance,
  listMaintenanceBetween,
  type MaintenanceSummary,
} from "./summaries";
export {
  AddMaintenanceUpdateBody,
  Maintenance,
  PlanMaintenanceBody,
  presentMaintenance,
  UpdateMaintenanceBody,
} from "./model";
export { planMaintenance, updateMaintenance } from "./plan";
export { addMaintenanceUpdate, cancelMaintenance, cancelMaintenanceOfPage } from "./progress";
export { getMaintenance, getMaintenancePart, getMaintenanceRecord } from "./records";
export { isEnded, isUnderWay, isAllowedTransition, UPCOMING_MS } from "./rules";
export { countPendingOfPage, type MaintenanceRecord, type MaintenanceRow } from "./store";
export { type MaintenanceUpdateRow } from "./update-store";
