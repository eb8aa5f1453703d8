import { renderToString } from "preact-render-to-string";
import { COMPONENT_STATUSES, STATUS_TONES } from "../base/status";
import type { DayOf } from "../features/components/history";
import type { SparklineData as Latency } from "../features/monitors/sparklines";
import type { DayEntries } from "../features/status/day-entries";
import type { EntryNames } from "../features/status/entry-names";
import type { StatusDocument } from "../features/status/model";
import { percent, sum } from "../base/numbers";
import { plural } from "../base/text";
import { DAY_MS, MINUTE_MS, toIso } from "../base/time";
import { DayChart, DayTable } from "../ui/day-charts";
import { type DayRun, runsOf, type StatusDay } from "../ui/day-runs";
import { Shape, STATUS_WORDS } from "../ui/labels";
import { Sparkline } from "../ui/sparkline";
import type { PagePaths } from "./page-paths";
import type { PageTimes } from "./page-times";
import { latencyText } from "./words";

/** Properties of a component that a row shows. */
type RowComponent = Pick<
  StatusDocument["components"][number],
  "name" | "description" | "status" | "showcase" | "uptime_90d"
>;

export interface ComponentRowProps {
  component: RowComponent;
  /** Days of the chart, oldest first. */
  days: readonly DayOf[];
  /** Incidents and maintenances of affected days, by start of the day, which belong to `days`. */
  entries: ReadonlyMap<number, DayEntries>;
  /** Names of the incidents and maintenances that are shown. */
  names: EntryNames;
  latency: Latency | undefined;
  paths: PagePaths;
  times: PageTimes;
}

/** HTML of a component. */
export interface RowHtml {
  /** Its row, as a list item. */
  row: string;
  /** Table of its days; empty if the page does not show them. */
  table: string;
}

/** Renders a component. */
export type RenderRow = (row: ComponentRowProps) => RowHtml;

/** Renders without a cache. */
export const renderRow: RenderRow = (props) => {
  const { component, days, times } = props;
  const runs = component.showcase
    ? runsOf(
        drawDays(days, (start) => entriesOf(start, props)),
        times,
      )
    : undefined;
  return {
    row: renderToString(<ComponentRow {...props} runs={runs} />),
    table: runs ? renderToString(<DayTable caption={component.name} runs={runs} />) : "",
  };
};

/** Row of a component. It must not have icons: cached rows are added after the page's sprite is made. */
function ComponentRow(props: ComponentRowProps & { runs: readonly DayRun[] | undefined }) {
  const { component, days, latency, runs } = props;
  const { name, description, status } = component;
  const isOk = status === "operational";
  const tone = STATUS_TONES[status];
  return (
    <li class="component">
      <div class="name">
        <strong>{name}</strong>
        {isOk ? null : <small class={`t-${tone}`}>{STATUS_WORDS[status]}</small>}
        {description ? <small class="desc">{description}</small> : null}
      </div>
      {runs ? <DayChart label={`${name}, day by day`} runs={runs} /> : null}
      <span class="up">{runs ? <Uptime uptime={shownUptime(component, days)} /> : null}</span>
      <Shape tone={tone} />
      {isOk ? <span class="unseen">{STATUS_WORDS[status]}</span> : null}
      {latency ? <LatencyLine line={latency} /> : null}
    </li>
  );
}

/** Uptime as a figure, or a dash if there is none yet. */
export function Uptime({ uptime }: { uptime: number | null }) {
  return uptime === null ? (
    <>
      –<span class="unseen"> no uptime yet</span>
    </>
  ) : (
    <>
      {percent(uptime, 2)}
      <span class="unseen"> uptime</span>
    </>
  );
}

/** Returns the uptime of a component that is known for a whole day or longer; null before. */
export function shownUptime(
  { uptime_90d: uptime }: Pick<RowComponent, "uptime_90d">,
  days: readonly DayOf[],
): number | null {
  return sum(days.map(({ known }) => known)) < DAY_MS ? null : uptime;
}

/** Returns the incidents and maintenances of a day as charts show them; undefined without any. */
function entriesOf(
  start: number,
  { entries, names, paths }: ComponentRowProps,
): StatusDay["entries"] {
  const day = entries.get(start);
  if (!day) return undefined;
  const named = day.ids.flatMap((id) => {
    const entry = names.find(id);
    return entry ? [{ name: entry.name, href: paths[entry.kind](id) }] : [];
  });
  return named.length === 0 ? undefined : { named, others: day.others };
}

/** Returns the days as charts show them. `entriesOn` returns the entries of the day that starts at a time. */
export function drawDays(
  days: readonly DayOf[],
  entriesOn: (start: number) => StatusDay["entries"] = () => undefined,
): StatusDay[] {
  return days.map(({ start, known, noData, time }) => {
    const quiet: StatusDay = {
      day: toIso(start).slice(0, 10),
      status: "operational",
      goodShare: 1,
      minutes: {},
    };
    if (known + noData === 0) return { ...quiet, status: null, goodShare: 0 };
    const entries = entriesOn(start);
    if (known === 0) return { ...quiet, status: null, goodShare: 0, entries };
    if (time.operational === known && noData === 0) return quiet;
    return {
      day: quiet.day,
      status: COMPONENT_STATUSES.findLast((status) => time[status] > 0) ?? "operational",
      goodShare: time.operational / (known + noData),
      minutes: minutesOf(time),
      entries,
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
