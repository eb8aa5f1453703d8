import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { deleteComponentsOfPage } from "../components";
import { deleteOpenIncidentsOfPage } from "../incidents";
import { cancelMaintenanceOfPage } from "../maintenance";
import { detachMonitorsOfPage, type MonitorRow } from "../monitors";
import { getPage, removePage } from "../pages";
import { deleteWebhook, type WebhookRow } from "../webhooks";
import { belongingsOf } from "./belongings";

/** The monitors that were paused, and the webhooks that were deleted, with a page. */
export interface PageDeletionEffects {
  paused: readonly MonitorRow[];
  webhooks: readonly WebhookRow[];
}

/** Matches monitors and webhooks that the same transaction changes or deletes itself. */
export interface Exemptions {
  monitor(row: MonitorRow): boolean;
  webhook(row: WebhookRow): boolean;
}

const NO_EXEMPTIONS: Exemptions = { monitor: () => false, webhook: () => false };

/**
 * Deletes a page: 404 from now on, its slugs free, its history kept. What belongs to it ends in the same
 * transaction:
 *
 * - its webhooks are deleted; endpoints of every page are sent the events below;
 * - its components and their causes end, without an event;
 * - its pending maintenance is cancelled (`maintenance.cancelled`);
 * - its open incidents are deleted (`incident.deleted`);
 * - monitors lose its components, and are paused where they watch no other.
 *
 * An exempt monitor is not paused, and an exempt webhook is not deleted. Throws `not_found`.
 */
export function deletePage(
  ctx: AppContext,
  tx: Tx,
  id: string,
  actor: Actor,
  exempt: Exemptions = NO_EXEMPTIONS,
): PageDeletionEffects {
  getPage(tx, id);
  const { monitors, webhooks } = belongingsOf(tx, id);
  const deleted = webhooks.filter((webhook) => !exempt.webhook(webhook));
  for (const webhook of deleted) deleteWebhook(ctx, tx, webhook.id, actor);
  deleteComponentsOfPage(ctx, tx, id);
  cancelMaintenanceOfPage(ctx, tx, id, actor);
  deleteOpenIncidentsOfPage(ctx, tx, id, actor);
  const paused = detachMonitorsOfPage(ctx, tx, { monitors, pageId: id, actor }, exempt.monitor);
  removePage(ctx, tx, id, actor);
  return { paused, webhooks: deleted };
}
