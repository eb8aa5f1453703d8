import type { TemplateRecord } from "../../features/incident-templates/records";
import { REPORT_PATH } from "../incidents/incident-paths";
import { TEMPLATE_BUTTON } from "../incidents/templates";
import { INCIDENT_TEMPLATES_PATH, incidentTemplatePath } from "../paths";
import { listPath } from "../timeline/list-frame";

export const NEW_TEMPLATE_PATH = `${INCIDENT_TEMPLATES_PATH}/new`;
export const HIDE_BUILT_IN_PATH = `${INCIDENT_TEMPLATES_PATH}/built-in/hide`;
export const SHOW_BUILT_IN_PATH = `${INCIDENT_TEMPLATES_PATH}/built-in/show`;

/** Returns the paths of a template's screens and forms. */
export function pathsOfTemplate({ row, pageSlug }: Pick<TemplateRecord, "row" | "pageSlug">) {
  const home = incidentTemplatePath(row.id);
  return {
    home,
    delete: `${home}/delete`,
    /** Form for a new template that starts with the values of this one. */
    clone: listPath(NEW_TEMPLATE_PATH, { from: row.id }),
    /** Form for a new incident that is filled in from the template. */
    use: listPath(REPORT_PATH, { page: pageSlug ?? undefined, [TEMPLATE_BUTTON]: row.id }),
  };
}
