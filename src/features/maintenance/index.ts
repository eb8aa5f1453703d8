/**
 * Planned maintenance: what is announced, how far it is, what it tells, and the clock that reminds,
 * begins and ends it. While it is under way its components are under maintenance; the marks are theirs.
 */
export { advanceMaintenance } from "./advance";
export { cancelMaintenanceOfPage } from "./cancel-of-page";
export { startMaintenanceClock } from "./clock";
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
export { addMaintenanceUpdate, cancelMaintenance } from "./progress";
export {
  getMaintenance,
  getMaintenancePart,
  getMaintenanceRecord,
  listMaintenance,
  listMaintenanceForPage,
  listPendingMaintenance,
  nextEdge,
} from "./records";
export { isEnded, isUnderWay, isAllowedTransition, UPCOMING_MS } from "./rules";
export { countPendingOfPage, type MaintenanceRecord, type MaintenanceRow } from "./store";
export { type MaintenanceUpdateRow } from "./update-store";
