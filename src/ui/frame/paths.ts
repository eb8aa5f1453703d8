/*
 * Paths of the dashboard's screens: first those of lists, then those of objects. `SIGN_IN_PATH`, which the gateway also uses, is
 * in `http/`.
 */
import type { MonitorType } from "../../base/status";

export const SEARCH_PATH = "/admin/search";

export const SHORTCUTS_PATH = "/admin/shortcuts";

export const HOME_PATH = "/admin";

export const SIGN_OUT_PATH = "/admin/sign-out";

/** Link that begins a sign-in with the provider. */
export const PROVIDER_PATH = "/admin/sign-in/provider";

export const INCIDENTS_PATH = "/admin/incidents";

export const REPORT_PATH = "/admin/incidents/new";

export const INCIDENT_TEMPLATES_PATH = "/admin/incidents/templates";

export const MAINTENANCE_PATH = "/admin/maintenance";

export const PLAN_PATH = "/admin/maintenance/new";

export const PLAN_CALENDAR_PATH = "/admin/maintenance/calendar";

export const MAINTENANCE_SCHEDULES_PATH = "/admin/maintenance/schedules";

export const NEW_SCHEDULE_PATH = "/admin/maintenance/schedules/new";

export const COMPONENTS_PATH = "/admin/components";

export const MONITORS_PATH = "/admin/monitors";

export const SUBSCRIBERS_PATH = "/admin/subscribers";

export const PAGES_PATH = "/admin/pages";

export const ANALYTICS_PATH = "/admin/analytics";

export const SETTINGS_PATH = "/admin/settings";

export const KEYS_PATH = "/admin/settings/keys";

export const WEBHOOKS_PATH = "/admin/settings/webhooks";
export const NEW_WEBHOOK_PATH = `${WEBHOOKS_PATH}/new`;

export const USERS_PATH = "/admin/settings/users";

/** Settings → Sign-in, and the result of a trial. */
export const SIGN_IN_SETTINGS_PATH = "/admin/settings/sign-in";
export const TRIED_PATH = `${SIGN_IN_SETTINGS_PATH}/tried`;

export const ACTIVITY_PATH = "/admin/settings/activity";

export const GENERAL_PATH = "/admin/settings/general";

export const LOCATIONS_PATH = "/admin/settings/locations";

export const FLEET_PATH = "/admin/settings/fleet";

export const IMPORTS_PATH = "/admin/settings/import";

export const NETWORKS_PATH = `${GENERAL_PATH}/networks`;

export const BACKUP_PATH = `${GENERAL_PATH}/backup`;

/** Card of the backups on the screen of *General*. */
export const BACKUPS_PATH = `${GENERAL_PATH}#general-backups`;

export const MAILINGS_PATH = "/admin/mailings";

export const MAIL_PATH = "/admin/mail";

export const ACCOUNT_PATH = "/admin/settings/account";

/**
 * Returns the function for the paths of the objects of a list: `incidentPath(id)` is the object's screen, and
 * `incidentPath(id, "edit")` the path of the route "/:id/edit".
 */
function objectPath(list: string) {
  return (id: string, ...below: string[]): string =>
    [list, ...[id, ...below].map(encodeURIComponent)].join("/");
}

export const incidentPath = objectPath(INCIDENTS_PATH);

export const incidentTemplatePath = objectPath(INCIDENT_TEMPLATES_PATH);

export const maintenancePath = objectPath(MAINTENANCE_PATH);

export const maintenanceSchedulePath = objectPath(MAINTENANCE_SCHEDULES_PATH);

export const componentPath = objectPath(COMPONENTS_PATH);

export const groupPath = objectPath(`${COMPONENTS_PATH}/groups`);

export const monitorPath = objectPath(MONITORS_PATH);

export const mailingPath = objectPath(MAILINGS_PATH);

export const subscriberPath = objectPath(SUBSCRIBERS_PATH);

export const pagePath = objectPath(PAGES_PATH);

export const keyPath = objectPath(KEYS_PATH);

export const webhookPath = objectPath(WEBHOOKS_PATH);

export const locationPath = objectPath(LOCATIONS_PATH);

export const userPath = objectPath(USERS_PATH);

/** Path of the report of an import. */
export const importReportPath = objectPath(`${IMPORTS_PATH}/reports`);

export const NEW_MONITOR_PATH = `${MONITORS_PATH}/new`;

/** Path of the alerts that matched no monitor. */
export const UNMATCHED_ALERTS_PATH = `${MONITORS_PATH}/alerts`;

/** Path of the form that acts on selected monitors. */
export const SELECTED_MONITORS_PATH = `${MONITORS_PATH}/selected`;

/** Returns the path of the form for a new monitor that is filled in from another. */
export function cloneMonitorPath({ id, type }: { id: string; type: MonitorType }): string {
  return withQuery(NEW_MONITOR_PATH, { type, from: id });
}

/** Returns the path of a page's component list. */
export function componentsOfPagePath(slug: string): string {
  return `${COMPONENTS_PATH}?page=${encodeURIComponent(slug)}`;
}

/** Returns a path with query parameters, without empty ones. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const entries = Object.entries(parameters).flatMap(([name, value]) =>
    value ? [[name, value]] : [],
  );
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries).toString()}`;
}

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
  return withQuery(REPORT_PATH, { page, component });
}

/** Returns the path of the form for a new component, in a group of the page if one is given. */
export function newComponentPath(slug: string, groupId?: string): string {
  return withQuery(`${COMPONENTS_PATH}/new`, { page: slug, group: groupId });
}
