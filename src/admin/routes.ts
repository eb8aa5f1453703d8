import type { AnyElysia } from "elysia";
import { seeOther } from "../http/answers";
import { session } from "../http/operation";
import { accountAdminRoutes } from "../features/users/screens/account";
import { activityAdminRoutes } from "../features/activity/screens/activity";
import { analyticsAdminRoutes } from "../features/analytics/screens/routes";
import { componentAdminRoutes } from "../features/components/screens/routes";
import { signInAdminRoutes } from "../features/auth/screens/sign-in-routes";
import { fleetAdminRoutes } from "../features/alarms/screens/fleet";
import { forgotAdminRoutes } from "../features/auth/screens/forgot";
import { oneTimeLinkAdminRoutes } from "../features/auth/screens/one-time-links";
import { generalAdminRoutes } from "../features/settings/screens/general";
import { importAdminRoutes } from "./imports/routes";
import { incidentAdminRoutes } from "../features/incidents/screens/routes";
import { incidentTemplateAdminRoutes } from "../features/incident-templates/screens/list";
import { scheduleAdminRoutes } from "../features/maintenance/screens/schedules";
import { keyAdminRoutes } from "../features/keys/screens/routes";
import { mailAdminRoutes } from "../features/mail/screens/mail";
import { mailingAdminRoutes } from "../features/mailings/screens/routes";
import { maintenanceAdminRoutes } from "../features/maintenance/screens/routes";
import { monitorAdminRoutes } from "../features/monitors/screens/routes";
import { overviewAdminRoutes } from "../features/overview/screens/routes";
import { pageAdminRoutes } from "../features/pages/screens/routes";
import type { AdminDependencies } from "../ui/frame/dependencies";
import { ACCOUNT_PATH } from "../ui/frame/paths";
import { screenOperation } from "../ui/screens/routes";
import { searchAdminRoutes } from "../features/search/screens/search";
import { subscriberAdminRoutes } from "../features/subscribers/screens/routes";
import { subscriberTransferRoutes } from "../features/subscribers/screens/transfer";
import { userAdminRoutes } from "../features/users/screens/routes";
import { webhookAdminRoutes } from "../features/webhooks/screens/routes";

/**
 * Adds the routes of all screens below `/admin`. Each route declares its required role. `/admin/` and
 * `/admin/settings` redirect, since people reach them by shortening another path.
 */
export function addAdminRoutes(elysia: AnyElysia, deps: AdminDependencies): void {
  elysia
    .use(signInAdminRoutes(deps))
    .use(oneTimeLinkAdminRoutes(deps))
    .use(forgotAdminRoutes(deps))
    .use(overviewAdminRoutes(deps))
    .use(searchAdminRoutes(deps))
    .use(incidentAdminRoutes(deps))
    .use(incidentTemplateAdminRoutes(deps))
    .use(scheduleAdminRoutes(deps))
    .use(maintenanceAdminRoutes(deps))
    .use(componentAdminRoutes(deps))
    .use(monitorAdminRoutes(deps))
    .use(analyticsAdminRoutes(deps))
    .use(pageAdminRoutes(deps))
    .use(subscriberAdminRoutes(deps))
    .use(subscriberTransferRoutes(deps))
    .use(keyAdminRoutes(deps))
    .use(webhookAdminRoutes(deps))
    .use(userAdminRoutes(deps))
    .use(activityAdminRoutes(deps))
    .use(importAdminRoutes(deps))
    .use(fleetAdminRoutes(deps))
    .use(generalAdminRoutes(deps))
    .use(mailAdminRoutes(deps))
    .use(mailingAdminRoutes(deps))
    .use(accountAdminRoutes(deps))
    .get(
      "/admin/settings",
      async () => seeOther(ACCOUNT_PATH),
      screenOperation("Redirect to the account", ANY_ROLE),
    );
}

/** Access for every signed-in user. */
const ANY_ROLE = session("viewer");
