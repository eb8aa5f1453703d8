import type { TSchema } from "@sinclair/typebox";
import type { Ctx } from "./context";
import type { EventType } from "./events/outbox";
import { AlarmEventData } from "./features/alarms/alarms";
import { LocationEventData } from "./features/locations/wire";
import { analyticsRoutes } from "./features/analytics/api";
import type { Passwords } from "./features/auth/passwords";
import { importedHeartbeatRoutes } from "./features/compat/api";
import { componentRoutes } from "./features/components/api";
import { ComponentEventData } from "./features/components/statuses";
import { incidentTemplateRoutes } from "./features/incident-templates/api";
import { incidentRoutes } from "./features/incidents/api";
import type { createIncidentCache } from "./features/incidents/records";
import { IncidentEventData } from "./features/incidents/wire";
import { keyRoutes } from "./features/keys/api";
import type { KeyUsage } from "./features/keys/usage";
import type { Limiter } from "./features/limits/limiter";
import type { CheckRequests } from "./features/locations/check-requests";
import { mailReportRoutes } from "./features/mail/api";
import { mailOfChange } from "./features/mailings/mailings";
import { maintenanceRoutes } from "./features/maintenance/api";
import { MaintenanceEventData } from "./features/maintenance/wire";
import { mcpRoutes } from "./features/mcp/api";
import { metricsRoutes } from "./features/metrics/api";
import {
  databaseFamilies,
  identityFamilies,
  limiterFamilies,
  monitorFamilies,
  processFamilies,
  webhookFamilies,
} from "./features/metrics/families";
import type { Metrics } from "./features/metrics/metrics";
import { agentRoutes } from "./features/monitors/agent-routes";
import { monitorRoutes } from "./features/monitors/api";
import type { Monitoring } from "./features/monitors/monitoring";
import {
  CertificateEventData,
  MonitorEventData,
  MonitorReminderData,
} from "./features/monitors/wire";
import type { Visits } from "./features/pages/visits";
import type { Snapshots } from "./features/status/snapshots";
import type { MailOf } from "./features/timeline/updates";
import { webhookRoutes } from "./features/webhooks/api";
import { TestEventData } from "./features/webhooks/wire";
import type { IgnoredIdentities } from "./http/caller";
import { routesOf } from "./http/elysia";
import { openApiSteps } from "./http/openapi";
import type { NewRoute, RouteTable } from "./http/route-table";
import { accessRoutes } from "./public/access";
import { gatusRoutes } from "./public/compat/gatus";
import { kumaMetricsRoutes, kumaRoutes } from "./public/compat/kuma";
import { v2Routes } from "./public/compat/statuspage";
import { docsRoutes } from "./public/docs";
import { feedRoutes } from "./public/feeds";
import {
  assetRoutes,
  badgeRoutes,
  createAllAssets,
  pictureRoutes,
  manifestRoutes,
  rootFileRoutes,
} from "./public/files";
import { alertRoutes, mailRoutes } from "./public/mail";
import { subscribeRoutes } from "./public/subscribe";
import { summaryRoutes } from "./public/summary";
import type { Visitors } from "./public/visitors";
import { VERSION } from "./version";

/** Dependencies that these routes share with the rest of the application. */
interface Dependencies {
  ctx: Ctx;
  usage: KeyUsage;
  limiter: Limiter;
  metrics: Metrics;
  /** Table of all routes. */
  routes: RouteTable;
  /** Verifies the passwords of pages; with real hashes if omitted. */
  visitorPasswords: Passwords | undefined;
  ignoredIdentities: () => IgnoredIdentities;
  monitoring: Monitoring;
  checkRequests: CheckRequests | undefined;
  snapshots: Snapshots;
  visits: Visits;
  visitors: Visitors;
  readIncidents: ReturnType<typeof createIncidentCache>;
  openApi: () => Generator<number, unknown>;
}

/**
 * All routes but those of status pages, health checks and the dashboard: the rest of the API, its reference,
 * feeds, badges and files.
 */
export function otherRoutes(deps: Dependencies): NewRoute[] {
  const { ctx, limiter, usage, snapshots, visitors, readIncidents } = deps;
  const assets = createAllAssets();
  const mailOf: MailOf = (tx, subject) => mailOfChange(ctx, tx, subject);
  deps.metrics.add(
    ...processFamilies(),
    ...databaseFamilies(ctx.db),
    ...limiterFamilies(limiter),
    ...identityFamilies(deps.ignoredIdentities),
    ...monitorFamilies(ctx.db, deps.monitoring),
    ...webhookFamilies(ctx.db, ctx.clock),
    ...deps.routes.counts.families(),
  );
  return [
    componentRoutes(ctx),
    incidentRoutes(ctx, mailOf),
    incidentTemplateRoutes(ctx),
    maintenanceRoutes(ctx, mailOf),
    webhookRoutes(ctx),
    monitorRoutes(ctx, deps.monitoring),
    agentRoutes(ctx, deps.monitoring, deps.checkRequests),
    importedHeartbeatRoutes(ctx, deps.monitoring),
    analyticsRoutes(ctx),
    metricsRoutes(deps.metrics),
    keyRoutes(ctx, limiter, usage),
    ...(ctx.config.mcp === "on" ? [mcpRoutes(ctx, deps.routes)] : []),
    docsRoutes(ctx, deps.openApi, assets),
    assetRoutes(assets),
    rootFileRoutes(),
    accessRoutes(ctx, deps),
    feedRoutes(ctx, snapshots, visitors, readIncidents),
    badgeRoutes(ctx, snapshots, visitors),
    summaryRoutes(ctx, snapshots, visitors),
    v2Routes(ctx, snapshots, visitors, readIncidents),
    gatusRoutes(ctx, snapshots),
    kumaMetricsRoutes(ctx),
    kumaRoutes(ctx, snapshots, readIncidents),
    subscribeRoutes(ctx, snapshots, visitors),
    mailRoutes(ctx),
    mailReportRoutes(ctx),
    alertRoutes(ctx),
    pictureRoutes(ctx, snapshots, visitors),
    manifestRoutes(ctx, snapshots, visitors),
  ].flatMap(routesOf);
}

/** Makes the OpenAPI document of the declared routes, which a start does not need. */
export function describeApi(routes: RouteTable, baseUrl: string): Generator<number, unknown> {
  return openApiSteps(routes, { baseUrl, version: VERSION }, EVENT_DATA);
}

/** Schemas of the data of events, for the OpenAPI document. */
export const EVENT_DATA: Readonly<Record<EventType, TSchema>> = {
  "component.status_changed": ComponentEventData,
  "incident.created": IncidentEventData,
  "incident.updated": IncidentEventData,
  "incident.resolved": IncidentEventData,
  "incident.reopened": IncidentEventData,
  "incident.postmortem_published": IncidentEventData,
  "incident.deleted": IncidentEventData,
  "maintenance.scheduled": MaintenanceEventData,
  "maintenance.updated": MaintenanceEventData,
  "maintenance.started": MaintenanceEventData,
  "maintenance.completed": MaintenanceEventData,
  "maintenance.cancelled": MaintenanceEventData,
  "maintenance.reminder": MaintenanceEventData,
  "monitor.down": MonitorEventData,
  "monitor.up": MonitorEventData,
  "monitor.degraded": MonitorEventData,
  "monitor.reminder": MonitorReminderData,
  "monitor.certificate_expiring": CertificateEventData,
  "location.offline": LocationEventData,
  "fleet.alarm": AlarmEventData,
  "webhook.test": TestEventData,
};
