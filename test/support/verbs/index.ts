import { API_VERBS } from "./api";
import { IMPORT_VERBS } from "./imports";
import { IMPORTED_HEARTBEAT_VERBS } from "./imported-heartbeats";
import { INCIDENT_VERBS } from "./incidents-and-maintenance";
import { LOCATION_VERBS } from "./locations";
import { MAIL_REPORT_VERBS } from "./mail-reports";
import { MAILING_VERBS } from "./mailings";
import { SCHEDULE_VERBS } from "./maintenance-schedules";
import { MONITOR_VERBS } from "./monitors";
import { PAGE_VERBS } from "./pages-and-components";
import { SETTINGS_VERBS } from "./settings";
import { SUBSCRIBER_VERBS } from "./subscribers";
import { TEMPLATE_VERBS } from "./incident-templates";
import type { Verbs } from "./verb";

/** Every route that may change something, except the set-up. */
export const VERBS: Verbs = {
  ...API_VERBS,
  ...INCIDENT_VERBS,
  ...TEMPLATE_VERBS,
  ...SCHEDULE_VERBS,
  ...PAGE_VERBS,
  ...MONITOR_VERBS,
  ...LOCATION_VERBS,
  ...IMPORTED_HEARTBEAT_VERBS,
  ...IMPORT_VERBS,
  ...SUBSCRIBER_VERBS,
  ...MAILING_VERBS,
  ...MAIL_REPORT_VERBS,
  ...SETTINGS_VERBS,
};
