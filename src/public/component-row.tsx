import { renderToString } from "preact-render-to-string";
import type { DayOf } from "../features/components";
import type { Sparkline } from "../features/monitors";
import type { StatusDocument } from "../features/status";
import { type DayRun, DayChart, DayTable, runsOf, StatusLabel } from "../ui";
import { LatencyLine } from "./latency-line";
import type { PageTimes } from "./page-times";
import { drawDays } from "./status-days";
import { uptimeText } from "./words";

/** Properties of a component that a row shows. */
export type RowComponent = Pick<
  StatusDocument["components"][number],
  "name" | "description" | "status" | "showcase" | "uptime_90d"
>;

export interface ComponentRowProps {
  component: RowComponent;
  /** The days that are drawn, oldest first. */
  days: readonly DayOf[];
  latency: Sparkline | undefined;
  times: PageTimes;
}

/** Makes HTML of one component, an item of a list. */
export type RenderRow = (row: ComponentRowProps) => string;

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
