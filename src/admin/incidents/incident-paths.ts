import { INCIDENTS_PATH, incidentPath } from "../paths";

export const REPORT_PATH = `${INCIDENTS_PATH}/new`;

/** Returns the paths of an incident's screens and forms. */
export function pathsOfIncident(id: string) {
  const home = incidentPath(id);
  return {
    home,
    updates: `${home}/updates`,
    update: (updateId: string) => `${home}/updates/${encodeURIComponent(updateId)}`,
    /** Screen whose form for the next update proposes to resolve the incident. */
    resolve: `${home}?status=resolved`,
    edit: `${home}/edit`,
    publish: `${home}/publish`,
    postmortem: `${home}/postmortem`,
    delete: `${home}/delete`,
  };
}

/** Returns the links from the list to an incident, for the screens below it. */
export function incidentCrumbs({ id, name }: { id: string; name: string }) {
  return [
    { href: INCIDENTS_PATH, label: "Incidents" },
    { href: incidentPath(id), label: name },
  ];
}
