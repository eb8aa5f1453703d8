import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { DayChart } from "../../ui/day-charts";
import { DetailCard, Numbers } from "../../ui/detail";
import { runsOf } from "../../ui/day-runs";
import { shortDay } from "../../ui/times";
import { UptimeChart } from "../../ui/uptime-chart";
import { timeInWords } from "../monitors/words";
import { componentPath } from "../../ui/frame/paths";
import type { PageUptime } from "./uptime-view";

/** Components drawn of one page, worst first. The table below has all of them. */
const ROWS_MAX = 30;

/** Figures of a page in a period. */
export function UptimeNumbers({ uptime }: { uptime: PageUptime }) {
  const { page, total, before, components } = uptime;
  const lowest = worstFirst(components)[0]?.line;
  const time = (ms: number | null) => (ms ? timeInWords(ms) : "None");
  return (
    <Numbers
      label={`Figures of ${page.name}`}
      liveId={`uptime-figures-${page.id}`}
      items={[
        {
          label: "Uptime",
          value: percent(total.uptime, 3),
          note: before === null ? "all components" : `${percent(before, 3)} before`,
        },
        { label: "Major outage", value: time(total.major_outage_ms), note: "sum of components" },
        { label: "Partial outage", value: time(total.partial_outage_ms), note: "counts 30 %" },
        {
          label: "Lowest component",
          value: percent(lowest?.uptime ?? null, 3),
          note: lowest ? <a href={componentPath(lowest.id)}>{lowest.name}</a> : undefined,
        },
        { label: "Degraded", value: time(total.degraded_ms), note: "counts as up" },
        { label: "Maintenance", value: time(total.maintenance_ms), note: "not counted" },
      ]}
    />
  );
}

/**
 * Uptime of a page day by day, and the days of its components. Draws no chart of a single day, and no
 * days of components for a period that is too long.
 */
export function UptimeCharts(props: { uptime: PageUptime; isUntilToday: boolean }) {
  const { uptime, isUntilToday } = props;
  const { page, points } = uptime;
  if (points.length === 0) return null;
  return (
    <>
      <DetailCard title="Uptime, day by day" liveId={`uptime-chart-${page.id}`}>
        <UptimeChart name={`Uptime of ${page.name}`} points={points} isUntilToday={isUntilToday} />
      </DetailCard>
      <Matrix {...props} />
    </>
  );
}

/** Days of the components of a page, worst first. */
function Matrix({ uptime, isUntilToday }: { uptime: PageUptime; isUntilToday: boolean }) {
  const { page, components, points, daysOf } = uptime;
  if (!daysOf) return null;
  const rows = worstFirst(components).slice(0, ROWS_MAX);
  const others = components.length - rows.length;
  return (
    <DetailCard
      title="Components, worst first"
      liveId={`uptime-days-${page.id}`}
      end={<span class="muted">One bar a day, in the colour of its worst status</span>}
    >
      <div data-days>
        <ul class="uptime-matrix">
          {rows.map(({ line: { id, name, uptime: share } }) => (
            <li key={id}>
              <a href={componentPath(id)} title={name}>
                {name}
              </a>
              <DayChart
                label={`${name}, day by day`}
                runs={runsOf(daysOf(id))}
                minDays={points.length}
              />
              <span>{percent(share, 2)}</span>
            </li>
          ))}
        </ul>
        <p class="uptime-matrix-axis" aria-hidden="true">
          <span>
            <span>{dayOf(points[0])}</span>
            <span data-day-note />
            <span>{isUntilToday ? "Today" : dayOf(points.at(-1))}</span>
          </span>
        </p>
      </div>
      {others > 0 ? (
        <p class="muted">The table below has {plural(others, "more component")}.</p>
      ) : null}
    </DetailCard>
  );
}

/** Returns the day of a point as text: "9 Feb". */
function dayOf(point: PageUptime["points"][number] | undefined): string {
  return point ? shortDay(toIso(point.at)).slice(0, -5) : "";
}

/** Returns the components with the lowest uptime first, and those without data last. */
function worstFirst(components: PageUptime["components"]): PageUptime["components"] {
  return components.toSorted((a, b) => (a.line.uptime ?? 2) - (b.line.uptime ?? 2));
}
