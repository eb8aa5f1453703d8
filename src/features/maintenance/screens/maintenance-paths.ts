import {
  MAINTENANCE_PATH,
  MAINTENANCE_SCHEDULES_PATH,
  maintenancePath,
  maintenanceSchedulePath,
} from "../../../ui/frame/paths";
import type { StepName } from "./steps";

export const PLAN_PATH = `${MAINTENANCE_PATH}/new`;
export const PLAN_CALENDAR_PATH = `${MAINTENANCE_PATH}/calendar`;
export const NEW_SCHEDULE_PATH = `${MAINTENANCE_SCHEDULES_PATH}/new`;

/** Returns the paths of a maintenance's screens and forms. */
export function pathsOfMaintenance(id: string) {
  const home = maintenancePath(id);
  return {
    home,
    edit: `${home}/edit`,
    step: (name: StepName) => `${home}/${name}`,
  };
}

/** Returns the paths of a schedule's screens and forms. */
export function pathsOfSchedule(id: string) {
  const home = maintenanceSchedulePath(id);
  return { home, delete: `${home}/delete` };
}
