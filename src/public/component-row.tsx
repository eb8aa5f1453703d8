import { renderToString } from "preact-render-to-string";
import { COMPONENT_STATUSES } from "../domain/component-status";
import type { DayOf } from "../features/components";
import type { Sparkline as Latency } from "../features/monitors";
import type { StatusDocument } from "../features/status";
import { sum } from "../kernel/numbers";
import { plural } from "../kernel/text";
import { MINUTE_MS, toIso } from "../kernel/time";
import {
  DayChart,
  type DayRun,
  DayTable,
  runsOf,
  Sparkline,
  type StatusDay,
  StatusLabel,
} from "../ui";
import type { PageTimes } from "./page-times";
import { latencyText, uptimeText } from "./words";

/** Properties of a component that a row shows. */
type RowComponent = Pick<
  StatusDocument["components"][number],
  "name" | "description" | "status" | "showcase" | "uptime_90d"
>;

export interface ComponentRowProps {
  component: RowComponent;
  /** Days of the chart, oldest first. */
  days: readonly DayOf[];
  latency: Latency | undefined;
  times: PageTimes;
}

/** Renders the row of a component, as a list item. */
export type RenderRow = (row: ComponentRowProps) => string;

/** Renders without a cache. */
export const renderRow: RenderRow = (row) => renderToString(<ComponentRow {...row} />);

function ComponentRow({ component, days, latency, times }: ComponentRowProps) {
  const { name, description, status, showcase } = component;
  return (
    <li class="component">
      <div class="component-head">
        <strong class="row-text">{name}</strong>
        <StatusLabel status={status} />
      </div>
      {description ? <p class="muted">{description}</p> : null}
      {showcase ? (
        <ComponentDays
          component={component}
          days={days.length}
          runs={runsOf(drawDays(days), times)}
        />
      ) : null}
      {latency ? <LatencyLine line={latency} /> : null}
    </li>
  );
}

interface ComponentDaysProps {
  component: RowComponent;
  /** Number of days in the chart. */
  days: number;
  runs: readonly DayRun[];
}

function ComponentDays({ component, days, runs }: ComponentDaysProps) {
  const { name, uptime_90d: uptime } = component;
  return (
    <div class="days" data-days>
      <DayChart label={`${name}, day by day`} runs={runs} />
      <details class="day-table">
        <summary>
          <span>{days} days ago</span>
          <span data-day-note>{uptime === null ? "No data yet" : uptimeText(uptime)}</span>
          <span>Today</span>
          <span class="unseen">: the days of {name} as a table</span>
        </summary>
        <DayTable runs={runs} />
      </details>
    </div>
  );
}

/** Returns the days as charts show them. */
function drawDays(days: readonly DayOf[]): StatusDay[] {
  return days.map(({ start, known, noData, time }) => {
    const quiet: StatusDay = {
      day: toIso(start).slice(0, 10),
      status: "operational",
      goodShare: 1,
      minutes: {},
    };
    if (known === 0) return { ...quiet, status: null, goodShare: 0 };
    if (time.operational === known && noData === 0) return quiet;
    return {
      day: quiet.day,
      status: COMPONENT_STATUSES.findLast((status) => time[status] > 0) ?? "operational",
      goodShare: time.operational / (known + noData),
      minutes: minutesOf(time),
      ...(noData > 0 ? { noDataMinutes: Math.ceil(noData / MINUTE_MS) } : {}),
    };
  });
}

/** Returns the minutes in each status, rounded up so that seconds do not read as zero. */
function minutesOf(time: DayOf["time"]): StatusDay["minutes"] {
  const minutes: StatusDay["minutes"] = {};
  for (const status of COMPONENT_STATUSES) {
    if (time[status] > 0) Object.assign(minutes, { [status]: Math.ceil(time[status] / MINUTE_MS) });
  }
  return minutes;
}

/** Recent response times of a component, as small bars and in words. */
function LatencyLine({ line }: { line: Latency }) {
  const measured = line.values.filter((value) => value !== null);
  if (measured.length === 0) return null;
  const [least, most] = [Math.min(...measured), Math.max(...measured)].map(latencyText);
  const average = latencyText(sum(measured) / measured.length);
  const each = line.of === "hours" ? "hour" : "check";
  return (
    <p class="latency muted">
      <span>
        Response time, {plural(line.values.length, each)}: {average}
      </span>
      <Sparkline
        // Less than a millisecond is drawn as one. Zero, which is a dot, means no answer.
        values={line.values.map((value) => (value === null ? 0 : Math.max(1, value)))}
        label={`${average} on average, from ${least} to ${most}, a bar each ${each}`}
      />
    </p>
  );
}
