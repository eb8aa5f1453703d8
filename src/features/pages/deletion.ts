import type { Actor } from "../../base/actor";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { deleteComponentsOfPage } from "../components/components";
import { listTemplatesOfPage, type TemplateRow } from "../incident-templates/store";
import { deleteTemplate } from "../incident-templates/templates";
import { deleteOpenIncidentsOfPage } from "../incidents/incidents";
import { listOpenImpacts } from "../incidents/store";
import { cancelMaintenanceOfPage } from "../maintenance/maintenance";
import { deleteSchedule } from "../maintenance/schedules/schedules";
import { listSchedules, type ScheduleRow } from "../maintenance/schedules/store";
import { countPendingOfPage } from "../maintenance/store";
import { detachMonitorsOfPage, watchesOnlyPage } from "../monitors/monitors";
import { listMonitors, type MonitorRecord } from "../monitors/records";
import type { MonitorRow } from "../monitors/store";
import { listAllWebhooks, type WebhookRow } from "../webhooks/store";
import { deleteWebhook } from "../webhooks/webhooks";
import { getPage, removePage } from "./pages";

/** Monitors that were paused with a page, and what was deleted with it. */
interface PageDeletionEffects {
  paused: readonly MonitorRow[];
  webhooks: readonly WebhookRow[];
  templates: readonly TemplateRow[];
  schedules: readonly ScheduleRow[];
}

/** Matches objects that the same transaction changes or deletes itself. */
export interface Exemptions {
  monitor(row: MonitorRow): boolean;
  webhook(row: WebhookRow): boolean;
  template(row: TemplateRow): boolean;
  schedule(row: ScheduleRow): boolean;
}

const NO_EXEMPTIONS: Exemptions = {
  monitor: () => false,
  webhook: () => false,
  template: () => false,
  schedule: () => false,
};

/**
 * Deletes a page: it is not found from now on, its slugs are free, its history is kept. In the same
 * transaction:
 *
 * - its webhooks are deleted; webhooks for all pages receive the events below;
 * - its incident templates are deleted;
 * - its maintenance schedules are deleted, with the occurrences that people did not change;
 * - its components and their causes end, without an event;
 * - its pending maintenance is cancelled (`maintenance.cancelled`);
 * - its open incidents are deleted (`incident.deleted`);
 * - its components are removed from monitors, which are paused if they have no other.
 *
 * An exempt monitor is not paused, and other exempt objects are not deleted. Throws `not_found`.
 */
export function deletePage(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
  exempt: Exemptions = NO_EXEMPTIONS,
): PageDeletionEffects {
  getPage(tx, id);
  const { monitors, webhooks, templates, schedules } = belongingsOf(tx, id);
  const deleted = webhooks.filter((webhook) => !exempt.webhook(webhook));
  for (const webhook of deleted) deleteWebhook(ctx, tx, webhook.id, actor);
  const gone = templates.filter((template) => !exempt.template(template));
  for (const template of gone) deleteTemplate(ctx, tx, template.id, actor);
  const ended = schedules.filter((schedule) => !exempt.schedule(schedule));
  for (const schedule of ended) deleteSchedule(ctx, tx, schedule.id, actor);
  deleteComponentsOfPage(ctx, tx, id);
  cancelMaintenanceOfPage(ctx, tx, id, actor);
  deleteOpenIncidentsOfPage(ctx, tx, id, actor);
  const paused = detachMonitorsOfPage(ctx, tx, { monitors, pageId: id, actor }, exempt.monitor);
  removePage(ctx, tx, id, actor);
  return { paused, webhooks: deleted, templates: gone, schedules: ended };
}

/** Everything that the deletion of a page ends or changes, in addition to the page and its components. */
export interface Belongings {
  /** Number of its published incidents that are not resolved. */
  openIncidents: number;
  /** Number of its maintenances that have not ended. */
  pendingMaintenance: number;
  /** Monitors of its components. */
  monitors: readonly MonitorRecord[];
  /** Running monitors with components of no other page. */
  idleMonitors: readonly MonitorRecord[];
  /** Webhooks that receive only the events of this page. */
  webhooks: readonly WebhookRow[];
  /** Incident templates of this page only. */
  templates: readonly TemplateRow[];
  /** Maintenance schedules of this page. */
  schedules: readonly ScheduleRow[];
}

/** Returns what belongs to a page. */
export function belongingsOf(reader: Reader, pageId: string): Belongings {
  const monitors = listMonitors(reader, { pageId, limit: Number.MAX_SAFE_INTEGER }).reverse();
  return {
    openIncidents: listOpenImpacts(reader, { pageId }).length,
    pendingMaintenance: countPendingOfPage(reader, { pageId })?.count ?? 0,
    monitors,
    idleMonitors: monitors.filter((monitor) => watchesOnlyPage(pageId, monitor)),
    webhooks: listAllWebhooks(reader, {}).filter((webhook) => webhook.pageId === pageId),
    templates: listTemplatesOfPage(reader, { pageId }),
    schedules: listSchedules(reader, { pageId }).map(({ row }) => row),
  };
}
