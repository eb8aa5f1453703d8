import type { Reader } from "../../db";
import { type ComponentRow, listOpenCausesOfPage } from "../../features/components";
import {
  listMonitors,
  type MonitorRecord,
  type RecentTimes,
  recentTimesOf,
} from "../../features/monitors";
import type { PageRow } from "../../features/pages";
import { type ComponentHistory, readComponentHistories, UPTIME_DAYS } from "../../features/status";

const MONITORS_SHOWN = 25;

/** Monitors and days of a component, for its screen. */
export interface ComponentView {
  /** Monitors that set its status, newest first. */
  monitors: readonly MonitorRecord[];
  /** Last day of each monitor, by `num`. */
  recent: ReadonlyMap<number, RecentTimes>;
  history: ComponentHistory | undefined;
}

/** Reads the monitors of a component and its last 90 days. */
export function readComponentView(
  reader: Reader,
  component: ComponentRow,
  page: PageRow,
  now: number,
): ComponentView {
  const monitors = listMonitors(reader, { componentId: component.id, limit: MONITORS_SHOWN });
  const causes = listOpenCausesOfPage(reader, { pageId: page.id });
  return {
    monitors,
    recent: recentTimesOf(
      reader,
      monitors.map(({ row }) => row.num),
      now,
    ),
    history: readComponentHistories(reader, {
      page: { ...page, historyDays: UPTIME_DAYS },
      components: [component],
      open: Map.groupBy(causes, ({ componentId }) => componentId),
      now,
    }).get(component.id),
  };
}
