import type { Reader } from "../../db";
import { listOpenImpacts } from "../incidents";
import { countPendingOfPage } from "../maintenance";
import { watchesOnlyPage, listMonitors, type MonitorRecord } from "../monitors";
import { listAllWebhooks, type WebhookRow } from "../webhooks";

/** Everything that the deletion of a page ends or changes, besides the page and its components. */
export interface Belongings {
  /** Number of its published incidents that are not resolved. */
  openIncidents: number;
  /** Number of its maintenances that have not ended. */
  pendingMaintenance: number;
  /** Monitors of its components. */
  monitors: readonly MonitorRecord[];
  /** Those of them that run and watch no other page. */
  idleMonitors: readonly MonitorRecord[];
  /** Webhooks that receive the events of this page alone. */
  webhooks: readonly WebhookRow[];
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
  };
}
