import type { Reader } from "../../db";
import { listOpenIds } from "../incidents";
import { listPendingMaintenance } from "../maintenance";
import { getMonitorRecord, listMonitorsOfPage, type MonitorRecord } from "../monitors";
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
  const monitorIds = new Set(listMonitorsOfPage(reader, { pageId }).map(({ id }) => id));
  const monitors = Array.from(monitorIds, (id) => getMonitorRecord(reader, id));
  return {
    incidents: listOpenIds(reader, { pageId }).length,
    maintenance: listPendingMaintenance(reader, { pageId, limit: Number.MAX_SAFE_INTEGER }).length,
    monitors,
    idleMonitors: monitors.filter(({ row, components }) => {
      return !row.paused && components.every((component) => component.pageId === pageId);
    }),
    webhooks: listAllWebhooks(reader, {}).filter((webhook) => webhook.pageId === pageId),
  };
}
