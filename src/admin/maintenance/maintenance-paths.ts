import { MAINTENANCE_PATH, maintenancePath } from "../paths";
import type { StepName } from "./steps";

export const PLAN_PATH = `${MAINTENANCE_PATH}/new`;
export const PREVIEW_PLAN_PATH = `${PLAN_PATH}/preview`;

/** Returns the paths of a maintenance's screens and forms. */
export function pathsOfMaintenance(id: string) {
  const home = maintenancePath(id);
  return {
    home,
    edit: `${home}/edit`,
    previewUpdate: `${home}/preview`,
    step: (name: StepName) => `${home}/${name}`,
  };
}

/**
 * Returns the path of the list, filtered by page. `before` continues past maintenance after that
 * id.
 */
export function listPath(at: { page?: string | undefined; before?: string }): string {
  const query = new URLSearchParams();
  if (at.page !== undefined) query.set("page", at.page);
  if (at.before !== undefined) query.set("before", at.before);
  const text = query.toString();
  return text === "" ? MAINTENANCE_PATH : `${MAINTENANCE_PATH}?${text}`;
}
