import { MAINTENANCE_PATH, maintenancePath } from "../paths";
import type { StepName } from "./steps";

export const PLAN_PATH = `${MAINTENANCE_PATH}/new`;
export const PREVIEW_PLAN_PATH = `${PLAN_PATH}/preview`;

/** Where a maintenance's screens and forms are. */
export function pathsOfMaintenance(id: string) {
  const home = maintenancePath(id);
  return {
    home,
    edit: `${home}/edit`,
    previewUpdate: `${home}/preview`,
    step: (name: StepName) => `${home}/${name}`,
  };
}

/** The list, of one page or of all, those that are over from behind `before` on. */
export function listPath(at: { page?: string | undefined; before?: string }): string {
  const query = new URLSearchParams();
  if (at.page !== undefined) query.set("page", at.page);
  if (at.before !== undefined) query.set("before", at.before);
  const text = query.toString();
  return text === "" ? MAINTENANCE_PATH : `${MAINTENANCE_PATH}?${text}`;
}
