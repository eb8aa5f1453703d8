import { INCIDENTS_PATH, incidentPath } from "../paths";
import { listPath } from "../timeline/list-frame";

export const REPORT_PATH = `${INCIDENTS_PATH}/new`;

/** Returns the path of the form for a new incident on a page (slug), with its affected components (ids). */
export function reportPath(preset: {
  page?: string | undefined;
  components?: readonly string[];
}): string {
  const { page, components = [] } = preset;
  const component = components.join(",") || undefined;
  return listPath(REPORT_PATH, { page, component });
}

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
