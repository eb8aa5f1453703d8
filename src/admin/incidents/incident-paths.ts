import { incidentPath } from "../paths";

/** Returns the paths of an incident's screens and forms. */
export function pathsOfIncident(id: string) {
  const home = incidentPath(id);
  return {
    home,
    updates: `${home}/updates`,
    previewUpdate: `${home}/updates/preview`,
    update: (updateId: string) => `${home}/updates/${encodeURIComponent(updateId)}`,
    edit: `${home}/edit`,
    publish: `${home}/publish`,
    previewPublish: `${home}/publish/preview`,
    postmortem: `${home}/postmortem`,
    previewPostmortem: `${home}/postmortem/preview`,
    delete: `${home}/delete`,
  };
}
