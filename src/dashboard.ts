import type { Role } from "./base/actor";
import type { Ctx } from "./context";
import type { Egress } from "./egress/egress";
import { activityAdminRoutes } from "./features/activity/screens/activity";
import type { Fleet } from "./features/alarms/fleet";
import { fleetAdminRoutes } from "./features/alarms/screens/fleet";
import { analyticsAdminRoutes } from "./features/analytics/screens/analytics";
import { createPasswords, type Passwords } from "./features/auth/passwords";
import { createFlows } from "./features/auth/flows";
import { createProvider } from "./features/auth/provider";
import { forgotAdminRoutes } from "./features/auth/screens/forgot";
import { oneTimeLinkAdminRoutes } from "./features/auth/screens/one-time-links";
import { providerAdminRoutes } from "./features/auth/screens/provider-routes";
import { createSignInPages } from "./features/auth/screens/sign-in";
import { signInAdminRoutes } from "./features/auth/screens/sign-in-routes";
import type { Sessions } from "./features/auth/sessions";
import { createLoginThrottle } from "./features/auth/throttle";
import type { Backups } from "./features/backups/backups";
import type { LabelReport } from "./features/docker-labels/docker-labels";
import { groupAdminRoutes } from "./features/components/screens/groups";
import { componentAdminRoutes } from "./features/components/screens/list";
import { incidentTemplateAdminRoutes } from "./features/incident-templates/screens/list";
import { incidentAdminRoutes } from "./features/incidents/screens/list";
import { keyAdminRoutes } from "./features/keys/screens/list";
import type { KeyUsage } from "./features/keys/usage";
import { locationAdminRoutes } from "./features/locations/screens/list";
import { mailAdminRoutes } from "./features/mail/screens/mail";
import { mailingAdminRoutes } from "./features/mailings/screens/mailings";
import { maintenanceAdminRoutes } from "./features/maintenance/screens/list";
import { scheduleAdminRoutes } from "./features/maintenance/screens/schedules";
import type { Monitoring } from "./features/monitors/monitoring";
import { monitorAdminRoutes } from "./features/monitors/screens/routes";
import { overviewAdminRoutes } from "./features/overview/screens/overview";
import { pageAdminRoutes } from "./features/pages/screens/list";
import type { Visits } from "./features/pages/visits";
import { searchAdminRoutes } from "./features/search/screens/search";
import { generalAdminRoutes } from "./features/settings/screens/general";
import { settingsAdminRoutes } from "./features/settings/screens/settings";
import { signInSettingsAdminRoutes } from "./features/settings/screens/sign-in";
import { subscriberAdminRoutes } from "./features/subscribers/screens/routes";
import { subscriberTransferRoutes } from "./features/subscribers/screens/transfer";
import { accountAdminRoutes } from "./features/users/screens/account";
import { userAdminRoutes } from "./features/users/screens/users";
import { webhookAdminRoutes } from "./features/webhooks/screens/webhooks";
import type { ClientAddresses } from "./http/client-address";
import { routesOf } from "./http/elysia";
import { createIdentityHeaders } from "./http/identity-proxy";
import type { NewRoute, RouteTable } from "./http/route-table";
import type { ImportJobs } from "./imports/jobs";
import { importAdminRoutes } from "./imports/screens/imports";
import { createReveals, createWriteAs, createWriteOnceAs } from "./ui/frame/changes";
import type { AdminDependencies } from "./ui/frame/dependencies";
import { createFlashes } from "./ui/frame/flashes";
import { placesFor } from "./ui/frame/places";
import { createRenderer } from "./ui/frame/render";
import { shareRead } from "./ui/frame/shared-read";
import { readSideState, withAlarms } from "./ui/frame/side-state";

/** Dependencies that the dashboard shares with the rest of the application. */
interface DashboardDependencies {
  ctx: Ctx;
  addresses: ClientAddresses;
  sessions: Sessions;
  /** Verifies passwords; with real hashes if omitted. */
  passwords: Passwords | undefined;
  usage: KeyUsage;
  monitoring: Monitoring;
  backups: Backups;
  imports: ImportJobs;
  egress: Egress;
  labels?: (() => LabelReport | undefined) | undefined;
  fleet?: Fleet | undefined;
  /** Visits of private pages. */
  visits: Visits;
  /** Table of all routes. */
  routes: RouteTable;
}

/** Creates the dashboard: its routes, its answer to a refused form, and the reader of identity headers. */
export function createDashboard(dashboardDeps: DashboardDependencies) {
  const { ctx, addresses, passwords = createPasswords(), fleet, ...shared } = dashboardDeps;
  const flashes = createFlashes();
  const writeAs = createWriteAs(ctx);
  const writeOnceAs = createWriteOnceAs(ctx, writeAs);
  const signInPages = createSignInPages(ctx, shared.sessions, shared.routes);
  const provider = createProvider(ctx, shared.egress);
  const readSide = shareRead(ctx.db, (now) => readSideState(ctx.db, now));
  const places = (role: Role) => placesFor(ctx, fleet, role);
  const deps = {
    ...shared,
    ctx,
    fleet,
    passwords,
    flashes,
    signInPages,
    oidc: provider && { provider, flows: createFlows(ctx, provider) },
    writeAs,
    writeOnceAs,
    places,
    reveals: createReveals(ctx, writeOnceAs),
    throttle: createLoginThrottle(ctx),
    render: createRenderer({
      flashes,
      addresses,
      places,
      readSide: (now) => withAlarms(readSide(now), fleet?.alarms.list() ?? []),
    }),
  };
  return {
    routes: adminRoutes(deps),
    answerRefusedForm: signInPages.answerRefusedForm,
    identityHeaders: createIdentityHeaders(ctx, shared.sessions),
  };
}

/** The routes of all screens below `/admin`. Each route declares its required role. */
function adminRoutes(deps: AdminDependencies): NewRoute[] {
  return [
    signInAdminRoutes(deps),
    providerAdminRoutes(deps),
    oneTimeLinkAdminRoutes(deps),
    forgotAdminRoutes(deps),
    overviewAdminRoutes(deps),
    searchAdminRoutes(deps),
    incidentAdminRoutes(deps),
    incidentTemplateAdminRoutes(deps),
    scheduleAdminRoutes(deps),
    maintenanceAdminRoutes(deps),
    componentAdminRoutes(deps),
    groupAdminRoutes(deps),
    monitorAdminRoutes(deps),
    analyticsAdminRoutes(deps),
    pageAdminRoutes(deps),
    subscriberAdminRoutes(deps),
    subscriberTransferRoutes(deps),
    keyAdminRoutes(deps),
    webhookAdminRoutes(deps),
    userAdminRoutes(deps),
    activityAdminRoutes(deps),
    importAdminRoutes(deps),
    locationAdminRoutes(deps),
    fleetAdminRoutes(deps),
    settingsAdminRoutes(deps),
    generalAdminRoutes(deps),
    signInSettingsAdminRoutes(deps),
    mailAdminRoutes(deps),
    mailingAdminRoutes(deps),
    accountAdminRoutes(deps),
  ].flatMap(routesOf);
}
