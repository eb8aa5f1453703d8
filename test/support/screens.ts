import { ACTIVITY_SCREENS } from "./screens/activity";
import { ANALYTICS_SCREENS } from "./screens/analytics";
import { COMPONENT_SCREENS } from "./screens/components";
import { EMPTY_SCREENS } from "./screens/empty";
import { ENTRY_SCREENS } from "./screens/entry";
import { FLEET_SCREENS } from "./screens/fleet";
import { GENERAL_SCREENS } from "./screens/general";
import { IMPORT_SCREENS } from "./screens/imports";
import { INCIDENT_SCREENS } from "./screens/incidents";
import { KEY_SCREENS } from "./screens/keys";
import { LOCATION_SCREENS } from "./screens/locations";
import { MAIL_SCREENS } from "./screens/mail";
import { MAIL_LINK_SCREENS } from "./screens/mail-links";
import { MAILING_SCREENS } from "./screens/mailings";
import { MAINTENANCE_SCREENS } from "./screens/maintenance";
import { MONITOR_SCREENS } from "./screens/monitors";
import { PAGE_SCREENS } from "./screens/pages";
import type { Screen } from "./screens/screen";
import { SEARCH_SCREENS } from "./screens/search";
import { STORAGE_SCREENS } from "./screens/storage";
import { SUBSCRIBER_SCREENS } from "./screens/subscribers";
import { SUBSCRIBER_TRANSFER_SCREENS } from "./screens/subscriber-transfer";
import { USER_SCREENS } from "./screens/users";
import { FIRST_WEBHOOK_SCREENS, WEBHOOK_SCREENS } from "./screens/webhooks";

export type { Screen } from "./screens/screen";

/**
 * The screens of the dashboard and the pages of links in mails, in parts of similar size, which are tested
 * in parallel. Actions on one screen change no other one, except in the empty installation.
 */
export const SCREEN_PARTS = {
  incidents: [...EMPTY_SCREENS, ...FIRST_WEBHOOK_SCREENS, ...INCIDENT_SCREENS, ...STORAGE_SCREENS],
  components: [...MAINTENANCE_SCREENS, ...COMPONENT_SCREENS, ...ENTRY_SCREENS],
  monitors: [...MONITOR_SCREENS, ...ANALYTICS_SCREENS],
  settings: [
    ...PAGE_SCREENS,
    ...SUBSCRIBER_SCREENS,
    ...KEY_SCREENS,
    ...LOCATION_SCREENS,
    ...WEBHOOK_SCREENS,
    ...ACTIVITY_SCREENS,
    ...USER_SCREENS,
    ...GENERAL_SCREENS,
    ...FLEET_SCREENS,
    ...IMPORT_SCREENS,
    ...MAIL_SCREENS,
    ...MAILING_SCREENS,
    ...SUBSCRIBER_TRANSFER_SCREENS,
    ...SEARCH_SCREENS,
    // The last ones, since they store subscribers.
    ...MAIL_LINK_SCREENS,
  ],
} as const satisfies Record<string, readonly Screen[]>;

/** Every screen of the dashboard, and the pages of links in mails. */
export const SCREENS: readonly Screen[] = Object.values(SCREEN_PARTS).flat();
