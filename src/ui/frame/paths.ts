/*
 * Paths of the dashboard's screens. `SIGN_IN_PATH`, which the gateway also uses, is in `http/`.
 */
export const SEARCH_PATH = "/admin/search";
export const SHORTCUTS_PATH = "/admin/shortcuts";
export const HOME_PATH = "/admin";
export const SIGN_OUT_PATH = "/admin/sign-out";
export const INCIDENTS_PATH = "/admin/incidents";
export const INCIDENT_TEMPLATES_PATH = "/admin/incidents/templates";
export const MAINTENANCE_PATH = "/admin/maintenance";
export const MAINTENANCE_SCHEDULES_PATH = "/admin/maintenance/schedules";
export const COMPONENTS_PATH = "/admin/components";
export const MONITORS_PATH = "/admin/monitors";
export const SUBSCRIBERS_PATH = "/admin/subscribers";
export const PAGES_PATH = "/admin/pages";
export const ANALYTICS_PATH = "/admin/analytics";
export const KEYS_PATH = "/admin/settings/keys";
export const WEBHOOKS_PATH = "/admin/settings/webhooks";
export const USERS_PATH = "/admin/settings/users";
export const ACTIVITY_PATH = "/admin/settings/activity";
export const GENERAL_PATH = "/admin/settings/general";
export const FLEET_PATH = "/admin/settings/fleet";
export const IMPORTS_PATH = "/admin/settings/import";
export const NETWORKS_PATH = `${GENERAL_PATH}/networks`;
export const BACKUP_PATH = `${GENERAL_PATH}/backup`;
export const MAILINGS_PATH = "/admin/mailings";
export const MAIL_PATH = "/admin/mail";
export const ACCOUNT_PATH = "/admin/settings/account";

export function incidentPath(id: string): string {
  return `${INCIDENTS_PATH}/${encodeURIComponent(id)}`;
}

export function incidentTemplatePath(id: string): string {
  return `${INCIDENT_TEMPLATES_PATH}/${encodeURIComponent(id)}`;
}

export function maintenancePath(id: string): string {
  return `${MAINTENANCE_PATH}/${encodeURIComponent(id)}`;
}

export function maintenanceSchedulePath(id: string): string {
  return `${MAINTENANCE_SCHEDULES_PATH}/${encodeURIComponent(id)}`;
}

export function componentPath(id: string): string {
  return `${COMPONENTS_PATH}/${encodeURIComponent(id)}`;
}

export function groupPath(id: string): string {
  return `${COMPONENTS_PATH}/groups/${encodeURIComponent(id)}`;
}

export function mailingPath(id: string): string {
  return `${MAILINGS_PATH}/${encodeURIComponent(id)}`;
}

/** Returns the path of a page's component list. */
export function componentsOfPagePath(slug: string): string {
  return `${COMPONENTS_PATH}?page=${encodeURIComponent(slug)}`;
}

export function monitorPath(id: string): string {
  return `${MONITORS_PATH}/${encodeURIComponent(id)}`;
}

/** Returns the path of the report of an import. */
export function importReportPath(id: string): string {
  return `${IMPORTS_PATH}/reports/${encodeURIComponent(id)}`;
}

export function subscriberPath(id: string): string {
  return `${SUBSCRIBERS_PATH}/${encodeURIComponent(id)}`;
}

export function pagePath(id: string): string {
  return `${PAGES_PATH}/${encodeURIComponent(id)}`;
}

export function keyPath(id: string): string {
  return `${KEYS_PATH}/${encodeURIComponent(id)}`;
}

export function webhookPath(id: string): string {
  return `${WEBHOOKS_PATH}/${encodeURIComponent(id)}`;
}

export function userPath(id: string): string {
  return `${USERS_PATH}/${encodeURIComponent(id)}`;
}
