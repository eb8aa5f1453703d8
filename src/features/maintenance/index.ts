/**
 * Planned maintenance, its updates, and the clock that sends reminders, starts and ends it. Its
 * components are under maintenance while it is in progress.
 */
export { MaintenanceEventData } from "./event";
export { advanceMaintenance, countClockChanges, startMaintenanceClock } from "./clock";
export {
  countMaintenance,
  findFirstMaintenanceStart,
  listEndedMaintenance,
  findMaintenances,
  listMaintenance,
  listMaintenanceBetween,
  listMaintenanceForPage,
  listPendingMaintenance,
  type MaintenanceSummary,
  nextEdge,
} from "./lists";
export { findMaintenanceNames, listPlannedBetween } from "./list-store";
export { importMaintenance } from "./import";
export {
  AddMaintenanceUpdateBody,
  Maintenance,
  PlanMaintenanceBody,
  presentMaintenance,
  UpdateMaintenanceBody,
} from "./model";
export { planMaintenance, REMIND_MINUTES_BEFORE, updateMaintenance } from "./plan";
export { addMaintenanceUpdate, cancelMaintenance, cancelMaintenanceOfPage } from "./progress";
export { getMaintenance, getMaintenancePart, getMaintenanceRecord } from "./records";
export { isEnded, isUnderWay, isAllowedTransition, UPCOMING_MS } from "./rules";
export {
  CreateScheduleBody,
  DURATION_MINUTES_MAX,
  presentSchedule,
  ScheduleFields,
} from "./schedules/model";
export { findSchedule, getSchedule, listSchedules, type ScheduleRecord } from "./schedules/records";
export { previewOccurrences } from "./schedules/preview";
export {
  createSchedule,
  deleteSchedule,
  SCHEDULES_MAX,
  SCHEDULES_PER_PAGE_MAX,
  updateSchedule,
} from "./schedules/service";
export { listUpcomingOfSchedule, type ScheduleRow } from "./schedules/store";
export { searchMaintenances } from "./search-store";
export { countPendingOfPage, findMaintenance, type MaintenanceRecord } from "./store";
