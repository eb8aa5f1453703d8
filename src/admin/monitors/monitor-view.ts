import type { Reader } from "../../db";
import { findComponent, listOpenCausesOfSource, type Span } from "../../features/components";
import {
  type CheckRow,
  getMonitorRecord,
  latencyOfEach,
  type LatencyFigures,
  listChecksBefore,
  listIncidentsOfMonitor,
  listSpans,
  type MonitorRecord,
  type Outage,
  outagesOf,
  type StateSpan,
  type StateTimes,
  timesByInterval,
  timesByState,
} from "../../features/monitors";
import { ANY_EVENT, listAllWebhooks, type WebhookRow } from "../../features/webhooks";
import type { ComponentStatus } from "../../domain/component-status";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../kernel/time";

const CHECKS_SHOWN = 15;
const OUTAGES_SHOWN = 20;
const INCIDENTS_SHOWN = 10;

/** Selectable ranges of a monitor's history, and the length of one chart point. */
const RANGES = {
  "1h": { label: "1 hour", lengthMs: HOUR_MS, stepMs: MINUTE_MS, tickMs: 10 * MINUTE_MS },
  "24h": { label: "24 hours", lengthMs: DAY_MS, stepMs: 30 * MINUTE_MS, tickMs: 3 * HOUR_MS },
  "7d": { label: "7 days", lengthMs: 7 * DAY_MS, stepMs: 2 * HOUR_MS, tickMs: DAY_MS },
  "30d": { label: "30 days", lengthMs: 30 * DAY_MS, stepMs: 12 * HOUR_MS, tickMs: 5 * DAY_MS },
  "90d": { label: "90 days", lengthMs: 90 * DAY_MS, stepMs: DAY_MS, tickMs: 15 * DAY_MS },
  "1y": { label: "1 year", lengthMs: 365 * DAY_MS, stepMs: 5 * DAY_MS, tickMs: 60 * DAY_MS },
} as const;

type RangeName = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[];

export interface Range {
  name: RangeName;
  label: string;
  /** Start and end in unix ms; the end is now. */
  span: Span;
  /** Periods of the chart points, aligned to UTC. The last one is incomplete. */
  steps: readonly Span[];
  /** Distance of the times below the chart, in ms. */
  tickMs: number;
}

export function rangeLabel(name: RangeName): string {
  return RANGES[name].label;
}

/** Returns the range named `text` up to `now`; the last 24 hours for an unknown name. */
export function readRange(text: string | undefined, now: number): Range {
  const name = RANGE_NAMES.find((each) => each === text) ?? "24h";
  const { label, lengthMs, stepMs, tickMs } = RANGES[name];
  const count = lengthMs / stepMs;
  const last = Math.floor((now - 1) / stepMs) * stepMs;
  const steps = Array.from({ length: count }, (_, index) => {
    const from = last - (count - 1 - index) * stepMs;
    return { from, to: Math.min(now, from + stepMs) };
  });
  return { name, label, span: { from: now - lengthMs, to: now }, steps, tickMs };
}

/** Component whose status a monitor sets. */
export interface MonitoredComponent {
  id: string;
  name: string;
  /** Current status of the component. */
  status: ComponentStatus;
  /** Status that the monitor gives the component now. */
  ownStatus: ComponentStatus | undefined;
}

/** One monitor with the related data that its screen shows. */
export interface MonitorView {
  record: MonitorRecord;
  range: Range;
  components: readonly MonitoredComponent[];
  /** Timeline within the range, oldest first. */
  spans: readonly StateSpan[];
  /** Time in each state within the range, and within each of its steps. */
  times: StateTimes;
  stepTimes: readonly StateTimes[];
  /** Listed outages within the range, newest first. `outageCount` counts all of them. */
  outages: readonly Outage[];
  outageCount: number;
  /** Figures for each step of the range. `total` covers the whole range. */
  latency: readonly LatencyFigures[];
  total: LatencyFigures;
  /** Last results, newest first. */
  checks: readonly CheckRow[];
  incidents: ReturnType<typeof listIncidentsOfMonitor>;
  /** Webhooks that get the messages of this monitor. */
  webhooks: readonly WebhookRow[];
}

/** Reads a monitor for its screen. Throws `not_found`. */
export function readMonitorView(
  reader: Reader,
  id: string,
  range: Range,
  now: number,
): MonitorView {
  const record = getMonitorRecord(reader, id);
  const { num } = record.row;
  const spans = listSpans(reader, { nums: JSON.stringify([num]), ...range.span }).map(
    ({ row }) => row,
  );
  const outages = outagesOf(spans, range.span, now).toReversed();
  const { each, total } = latencyOfEach(reader, [num], range.steps);
  return {
    record,
    range,
    components: readMonitoredComponents(reader, record),
    spans,
    times: timesByState(spans, range.span),
    stepTimes: timesByInterval(spans, range.steps),
    outages: outages.slice(0, OUTAGES_SHOWN),
    outageCount: outages.length,
    latency: each[0] ?? [],
    total,
    checks: listChecksBefore(reader, {
      monitorNum: num,
      before: Number.MAX_SAFE_INTEGER,
      limit: CHECKS_SHOWN,
    }),
    incidents: listIncidentsOfMonitor(reader, { monitorId: id, limit: INCIDENTS_SHOWN }),
    webhooks: listAllWebhooks(reader, {}).filter((webhook) => notifies(webhook, record)),
  };
}

/** Returns true if a webhook gets messages about a monitor, or about the incidents that it opens. */
function notifies({ events, pageId }: WebhookRow, { row, components }: MonitorRecord): boolean {
  if (pageId !== null && !components.some((component) => component.pageId === pageId)) return false;
  const names = row.openIncident === "never" ? ["monitor."] : ["monitor.", "incident."];
  return events.some(
    (event) => event === ANY_EVENT || names.some((name) => event.startsWith(name)),
  );
}

function readMonitoredComponents(
  reader: Reader,
  { row, components }: MonitorRecord,
): MonitoredComponent[] {
  const statuses = new Map(
    listOpenCausesOfSource(reader, { source: "monitor", sourceId: row.id }).map((cause) => [
      cause.componentId,
      cause.status,
    ]),
  );
  return components.flatMap(({ id, name }) => {
    const component = findComponent(reader, { id });
    return component ? [{ id, name, status: component.status, ownStatus: statuses.get(id) }] : [];
  });
}
