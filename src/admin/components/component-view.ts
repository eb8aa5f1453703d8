import type { Reader } from "../../db/statements";
import { findSubject } from "../../features/analytics/subjects";
import { readPeriod } from "../../features/analytics/period";
import { uptimeAnswer } from "../../features/analytics/uptime";
import type { ComponentRow } from "../../features/components/store";
import { listOpenCausesOfPage } from "../../features/components/cause-store";
import { uptimeOfDays } from "../../features/components/rules";
import { listIncidentsOfComponent } from "../../features/incidents/records";
import { findMaintenances } from "../../features/maintenance/lists";
import { type LatencyFigures, latencyOfEach } from "../../features/monitors/latency";
import { listMonitors, type MonitorRecord } from "../../features/monitors/records";
import { type RecentTimes, recentTimesOf } from "../../features/monitors/overview";
import { WORST_FIRST } from "../../features/monitors/overview-store";
import type { PageRow } from "../../features/pages/store";
import {
  type ComponentHistory,
  readComponentHistories,
  UPTIME_DAYS,
} from "../../features/status/component-histories";
import { DAY_MS, HOUR_MS, toIso } from "../../base/time";

const MONITORS_SHOWN = 25;
const EVENTS_SHOWN = 8;
const MONTH_DAYS = 30;
const HOURS = 24;

/** Incident or maintenance that affected the component. */
export type ComponentEvent =
  | {
      kind: "incident";
      at: number;
      row: ReturnType<typeof listIncidentsOfComponent>[number]["row"];
    }
  | { kind: "maintenance"; at: number; row: ReturnType<typeof findMaintenances>[number]["row"] };

/** Monitors, days and events of a component, for its screen. */
export interface ComponentView {
  /** Monitors that set its status, worst first. */
  monitors: readonly MonitorRecord[];
  /** True if the component has more monitors than are listed. */
  hasMoreMonitors: boolean;
  /** Last 24 hours and 30 days of each monitor, by `num`. */
  recent: ReadonlyMap<number, RecentTimes>;
  history: ComponentHistory | undefined;
  /** Uptime of the last 24 hours; null without data. */
  dayUptime: number | null;
  /** Uptime of the last 30 days; null without data. */
  monthUptime: number | null;
  /** Incidents and maintenance, latest start first. */
  events: readonly ComponentEvent[];
  hasMoreEvents: boolean;
  latency: ComponentLatency;
}

/** Response times of the listed monitors in the last 24 hours, except those that jobs call. */
interface ComponentLatency {
  total: LatencyFigures;
  /** Median of the slowest monitor in each hour, oldest first; 0 without a response. */
  hours: readonly number[];
}

/** Reads the monitors, last 90 days and events of a component. */
export function readComponentView(
  reader: Reader,
  component: ComponentRow,
  page: PageRow,
  now: number,
): ComponentView {
  const records = listMonitors(reader, { componentId: component.id, limit: MONITORS_SHOWN + 1 });
  const monitors = records
    .slice(0, MONITORS_SHOWN)
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.row.name < b.row.name ? -1 : 1));
  const nums = monitors.map(({ row }) => row.num);
  const causes = listOpenCausesOfPage(reader, { pageId: page.id });
  const history = readComponentHistories(reader, {
    page: { ...page, historyDays: UPTIME_DAYS },
    components: [component],
    open: Map.groupBy(causes, ({ componentId }) => componentId),
    now,
  }).get(component.id);
  const events = readEvents(reader, component.id);
  return {
    monitors,
    hasMoreMonitors: records.length > MONITORS_SHOWN,
    recent: recentTimesOf(reader, nums, now),
    history,
    dayUptime: readDayUptime(reader, component, now),
    monthUptime: uptimeOfDays(history?.days.slice(-MONTH_DAYS) ?? []),
    events: events.slice(0, EVENTS_SHOWN),
    hasMoreEvents: events.length > EVENTS_SHOWN,
    latency: readLatency(
      reader,
      // Jobs that call a monitor send durations of their own.
      monitors.filter(({ row }) => row.type !== "push").map(({ row }) => row.num),
      now,
    ),
  };
}

function rankOf({ state }: MonitorRecord): number {
  return WORST_FIRST.indexOf(state.state);
}

function readDayUptime(reader: Reader, { id }: ComponentRow, now: number): number | null {
  const period = readPeriod({ from: toIso(now - DAY_MS) }, now);
  return uptimeAnswer(reader, findSubject(reader, { component: id }), period).total.uptime;
}

function readEvents(reader: Reader, componentId: string): ComponentEvent[] {
  const query = { componentId, limit: EVENTS_SHOWN + 1 };
  return [
    ...listIncidentsOfComponent(reader, query).map(({ row }) => ({
      kind: "incident" as const,
      at: row.startedAt,
      row,
    })),
    ...findMaintenances(reader, query).map(({ row }) => ({
      kind: "maintenance" as const,
      at: row.startedAt ?? row.scheduledFor,
      row,
    })),
  ].toSorted((a, b) => b.at - a.at);
}

function readLatency(reader: Reader, nums: readonly number[], now: number): ComponentLatency {
  const last = Math.floor((now - 1) / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, (_, index) => {
    const from = last - (HOURS - 1 - index) * HOUR_MS;
    return { from, to: Math.min(now, from + HOUR_MS) };
  });
  const { each, total } = latencyOfEach(reader, nums, hours);
  return {
    total,
    hours: hours.map((_, index) => Math.max(0, ...each.map((own) => own[index]?.p50Ms ?? 0))),
  };
}
