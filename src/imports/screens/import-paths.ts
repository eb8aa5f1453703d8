import { IMPORTS_PATH, withQuery } from "../../ui/frame/paths";

/** Returns the path of the form for importing from a source of this kind, with the options of an earlier plan. */
export function importFormPath(kind: string, planId?: string): string {
  return withQuery(`${IMPORTS_PATH}/from/${encodeURIComponent(kind)}`, { plan: planId });
}

/** Returns the path of the plan of an import, which also shows its progress. */
export function importPlanPath(id: string): string {
  return `${IMPORTS_PATH}/plans/${encodeURIComponent(id)}`;
}
