import { INCIDENTS_PATH, incidentPath } from "../paths";

export const REPORT_PATH = `${INCIDENTS_PATH}/new`;

/** Returns the paths of an incident's screens and forms. */
export function pathsOfIncident(id: string) {
  const home = incidentPath(id);
  return {
    home,
    updates: `${home}/updates`,
    update: (updateId: string) => `${home}/updates/${encodeURIComponent(updateId)}`,
    edit: `${home}/edit`,
    publish: `${home}/publish`,
    postmortem: `${home}/postmortem`,
    delete: `${home}/delete`,
  };
}
