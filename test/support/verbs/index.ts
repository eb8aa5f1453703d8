import { SETTINGS_VERBS } from "./settings";
import { API_VERBS } from "./api";
import { PAGE_VERBS } from "./pages-and-components";
import { TEMPLATE_VERBS } from "./incident-templates";
import { INCIDENT_VERBS } from "./incidents-and-maintenance";
import { VISITOR_VERBS } from "./visitors";
import { MAILING_VERBS } from "./mailings";
import type { Verbs } from "./verb";
import { MAIL_VERBS } from "./mail";
import { MONITOR_VERBS } from "./monitors";

/** Every route that may change something, except the set-up. */
export const VERBS: Verbs = {
  ...API_VERBS,
  ...INCIDENT_VERBS,
  ...TEMPLATE_VERBS,
  ...PAGE_VERBS,
  ...MONITOR_VERBS,
  ...MAILING_VERBS,
  ...SETTINGS_VERBS,
  ...VISITOR_VERBS,
  ...MAIL_VERBS,
};
