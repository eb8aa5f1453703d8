import type { Reader } from "../../db";
import { listOpenIds } from "../incidents";
import { listPendingOfPage } from "../maintenance";
import { isIdleWithout, listMonitors, type MonitorRecord } from "../monitors";
import { listAllWebhooks, type WebhookRow } from "../webhooks";

/** Everything that the deletion of a page ends or changes, besides the page and its components. */
export interface Belongings {
  /** Number of its published incidents that are not resolved. */
  incidents: number;
  /** Number of its maintenances that have not ended. */
  maintenance: number;
  /** Monitors of its components, and those of them that watch no component of another page. */
  monitors: readonly MonitorRecord[];
  idleMonitors: readonly MonitorRecord[];
  /** Webhooks that receive the events of this page alone. */
  webhooks: readonly WebhookRow[];
}

/** Returns what belongs to a page. */
export function belongingsOf(reader: Reader, pageId: string): Belongings {
  const monitors = listMonitors(reader, { pageId, limit: Number.MAX_SAFE_INTEGER }).reverse();
  return {
    incidents: listOpenIds(reader, { pageId }).length,
    maintenance: listPendingOfPage(reader, { pageId }).length,
    monitors,
    idleMonitors: monitors.filter((monitor) => isIdleWithout(pageId, monitor)),
    webhooks: listAllWebhooks(reader, {}).filter((webhook) => webhook.pageId === pageId),
  };
}
