import { incidentPath, INCIDENTS_PATH } from "../../../ui/frame/paths";
import type { MonitorRecord } from "../../monitors/records";
import { listPath } from "../../timeline/screens/list";

export const REPORT_PATH = `${INCIDENTS_PATH}/new`;

/** Value of the input `intent` in the form that resolves an incident with one click. */
export const RESOLVE_INTENT = "resolve";

/** Maximum number of components that the address of the form names. */
const PRESET_MAX = 20;

/** Initial page and components of the form for a new incident. */
export interface ReportPreset {
  /** Slug or id. */
  page?: string | undefined;
  /** Ids of affected components of the page. */
  components?: readonly string[];
}

/** Returns the path of the form for a new incident. */
export function reportPath({ page, components = [] }: ReportPreset = {}): string {
  const component = components.slice(0, PRESET_MAX).join(",") || undefined;
  return listPath(REPORT_PATH, { page, component });
}

/** Returns the page and the components of a monitor, without those of its other pages. */
export function presetOf({ components }: Pick<MonitorRecord, "components">): ReportPreset {
  const page = components[0]?.pageId;
  return {
    page,
    components: components.filter(({ pageId }) => pageId === page).map(({ id }) => id),
  };
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
    splitOff: `${home}/split-off`,
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
