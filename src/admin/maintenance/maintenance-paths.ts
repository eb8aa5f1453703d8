import { MAINTENANCE_PATH, maintenancePath } from "../paths";
import type { StepName } from "./steps";

export const PLAN_PATH = `${MAINTENANCE_PATH}/new`;

/** Returns the paths of a maintenance's screens and forms. */
export function pathsOfMaintenance(id: string) {
  const home = maintenancePath(id);
  return {
    home,
    edit: `${home}/edit`,
    step: (name: StepName) => `${home}/${name}`,
  };
}
