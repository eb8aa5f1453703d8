import { IMPORTS_PATH } from "../paths";

/** Returns the path of the form for importing from a source of this kind. */
export function importFormPath(kind: string): string {
  return `${IMPORTS_PATH}/from/${encodeURIComponent(kind)}`;
}

/** Returns the path of the plan of an import, which also shows its progress. */
export function importPlanPath(id: string): string {
  return `${IMPORTS_PATH}/plans/${encodeURIComponent(id)}`;
}
