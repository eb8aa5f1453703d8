import { percent } from "../base/numbers";
import { plural } from "../base/text";
import { toIso } from "../base/time";
import { pathThrough, PLOT_WIDTH, PlotSlot, round, runsOf, TimeFrame } from "./time-chart";
import { shortDay } from "./times";

const HEIGHT = 200;
/** Gaps between the five lines of the scale. */
const GAPS = 4;
/** Lowest values of a scale, as shares. */
const FLOORS = [0.998, 0.996, 0.99, 0.98, 0.96, 0.9, 0.8, 0.6, 0];
/** Maximum number of labels of the time axis. */
const TICKS = 5;
/** Maximum number of days of a chart whose days can be selected. */
const SLOTS_MAX = 100;
/** Maximum number of days below 100 % in the accessible name. */
const NAMED_MAX = 10;

/** Uptime of a day. */
export interface UptimePoint {
  /** Start of the day, in unix ms. */
  at: number;
  /** 0 to 1; null without data. */
  uptime: number | null;
}

interface UptimeChartProps {
  /** Accessible name. */
  name: string;
  /** Oldest first. */
  points: readonly UptimePoint[];
  /** True if the last day is today. */
  isUntilToday: boolean;
}

/** Uptime day by day as a line, with a table of the same. A day without data is a gap. */
export function UptimeChart({ name, points, isUntilToday }: UptimeChartProps) {
  const known = points.flatMap(({ uptime }) => (uptime === null ? [] : [uptime]));
  if (known.length === 0) return <p class="muted">No uptime is known for these days.</p>;
  const lowest = Math.min(...known);
  const floor = FLOORS.find((each) => each <= lowest) ?? 0;
  const labels = Array.from({ length: GAPS + 1 }, (_, index) =>
    labelOf(1 - ((1 - floor) / GAPS) * index, floor),
  );
  const step = PLOT_WIDTH / points.length;
  const runs = runsOf(points, ({ uptime }, index) =>
    uptime === null
      ? undefined
      : { x: round((index + 0.5) * step), y: round(((1 - uptime) / (1 - floor)) * HEIGHT) },
  );
  return (
    <div class="time-chart uptime-chart" data-days>
      <TimeFrame
        name={`${name}: ${describe(points)}`}
        height={HEIGHT}
        labels={labels}
        ticks={ticksOf(points, isUntilToday)}
      >
        <path class="time-band" d={runs.map(areaOf).join("")} />
        <path class="time-line" d={runs.map(lineOf).join("")} />
        {points.length > SLOTS_MAX
          ? null
          : points.map((point, index) => (
              <PlotSlot
                key={point.at}
                left={round(index * step)}
                width={round(step)}
                height={HEIGHT}
                isTabStop={index === points.length - 1}
                title={`${dayOf(point)}: ${shareOf(point)}`}
              />
            ))}
      </TimeFrame>
      <details class="day-table">
        <summary>{name} as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Uptime</th>
            </tr>
          </thead>
          <tbody>
            {points.toReversed().map((point) => (
              <tr key={point.at}>
                <th scope="row">{dayOf(point)}</th>
                <td>{percent(point.uptime, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

/** Returns the labels of evenly spread days, the last of them the last day. */
function ticksOf(points: readonly UptimePoint[], isUntilToday: boolean) {
  const last = points.length - 1;
  const count = Math.min(TICKS, points.length);
  return Array.from({ length: count }, (_, number) => {
    const index = count === 1 ? 0 : Math.round((number * last) / (count - 1));
    const point = points[index];
    const day = point ? dayOf(point).slice(0, -5) : "";
    return {
      share: (index + 0.5) / points.length,
      label: index === last && isUntilToday ? "Today" : day,
    };
  });
}

/** Returns the day of a point as text: "9 Feb 2026". */
function dayOf({ at }: UptimePoint): string {
  return shortDay(toIso(at));
}

function shareOf({ uptime }: UptimePoint): string {
  return uptime === null ? "No data" : percent(uptime, 2);
}

interface Place {
  x: number;
  y: number;
}

function lineOf(run: readonly Place[]): string {
  const [only] = run;
  // A day without neighbours is a dot, which a line of no length with round ends draws.
  if (run.length === 1 && only) return `M${only.x} ${only.y}h0`;
  return pathThrough(run);
}

function areaOf(run: readonly Place[]): string {
  const [first, last] = [run[0], run.at(-1)];
  if (!first || !last || run.length === 1) return "";
  return `${lineOf(run)}L${last.x} ${HEIGHT}L${first.x} ${HEIGHT}Z`;
}

/** Returns the days as text: "100 %, except 13 Nov 2026 99.96 % and 2 more days". */
function describe(points: readonly UptimePoint[]): string {
  const others = points.filter(({ uptime }) => uptime !== null && uptime < 1);
  if (others.length === 0) return "100 %";
  const lowest = others
    .toSorted((a, b) => (a.uptime ?? 1) - (b.uptime ?? 1))
    .slice(0, NAMED_MAX)
    .toSorted((a, b) => a.at - b.at);
  const rest = others.length - lowest.length;
  const texts = lowest.map((point) => `${dayOf(point)} ${shareOf(point)}`);
  return `100 %, except ${texts.join(", ")}${rest > 0 ? ` and ${plural(rest, "more day")}` : ""}`;
}

/** Value of a line of the scale; only the first one has the unit. */
function labelOf(share: number, floor: number): string {
  if (share === 1) return "100 %";
  return (share * 100).toFixed(floor >= 0.99 ? 2 : 1);
}
