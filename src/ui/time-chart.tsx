/*
 * Charts of values over time, with a scale, an axis and a table of the same: `TimeChart` shows response times,
 * `UptimeChart` the uptime of days.
 */
import type { ComponentChildren } from "preact";
import { percent } from "../base/numbers";
import type { Tone } from "../base/status";
import { plural } from "../base/text";
import { toIso } from "../base/time";
import { Shape } from "./blocks";
import { shortDay } from "./times";

/** Figures of one step of a chart. */
export interface TimePoint {
  /** Unix ms. */
  from: number;
  to: number;
  /** Time of the step, as text. */
  name: string;
  /** In ms; null without a measurement. */
  median: number | null;
  p95: number | null;
  /** Worst result of the step; `none` without one. */
  tone: Tone;
  /** Failed checks as text, such as "3 of 60". */
  failed?: string | undefined;
}

/** Time in a state other than up, drawn as a tinted band. */
export interface TimeBand {
  from: number;
  to: number;
  tone: Tone;
}

interface TimeChartProps {
  /** Accessible name of the chart. */
  name: string;
  from: number;
  to: number;
  /** Oldest first. */
  points: readonly TimePoint[];
  bands: readonly TimeBand[];
  /** Names of the tones of the bands, for the legend. */
  bandNames: readonly { tone: Tone; name: string }[];
  /** Times that are marked with a line, in unix ms, and their name for the legend. */
  marks?: readonly number[];
  markName?: string;
  /** Value above which a result is slow, with its name. */
  threshold?: { value: number; name: string } | undefined;
  /** Labels below the chart. */
  ticks: readonly { at: number; label: string }[];
  /** Returns a value with its unit. */
  write: (value: number) => string;
}

/** Factor up to which a threshold above all values is still drawn. */
const THRESHOLD_REACH = 3;

/**
 * Median and 95th percentile over time, with a threshold and outages. A strip of results has the same
 * axis, and a table has the same figures.
 */
export function TimeChart(props: TimeChartProps) {
  const { name, from, to, points, bands, bandNames, threshold, ticks, write } = props;
  const { marks = [], markName } = props;
  const highest = Math.max(1, ...points.map(({ median, p95 }) => p95 ?? median ?? 0));
  const isDrawn = threshold !== undefined && threshold.value <= highest * THRESHOLD_REACH;
  const { top, labels } = timeScale(isDrawn ? Math.max(highest, threshold.value) : highest);
  const x = (at: number) => round(((Math.min(to, at) - from) / (to - from)) * PLOT_WIDTH);
  const y = (value: number) => round((1 - value / top) * CHART_HEIGHT);
  const placed: PlacedPoint[] = points.map(({ median, p95, tone, ...span }) => ({
    x: round((x(Math.max(from, span.from)) + x(span.to)) / 2),
    left: x(Math.max(from, span.from)),
    right: x(span.to),
    median: median === null ? null : y(median),
    p95: p95 === null ? null : y(p95),
    tone,
  }));
  const runs = measuredRuns(placed);
  const shownNames = bandNames.filter(({ tone }) => bands.some((band) => band.tone === tone));
  return (
    <div class="time-chart" data-days>
      <ul class="chart-legend">
        <LegendItem mark={<path class="time-line" d="M0 5h16" />}> Median</LegendItem>
        <LegendItem mark={<rect class="time-band" width="16" height="10" rx="2" />}>
          {" "}
          Up to the 95th percentile
        </LegendItem>
        {threshold === undefined ? null : (
          <LegendItem mark={<path class="time-threshold" d="M0 5h16" />}>
            {" "}
            {threshold.name}
            {isDrawn ? null : ", beyond the scale"}
          </LegendItem>
        )}
        {marks.length === 0 ? null : (
          <LegendItem mark={<path class="time-mark" d="M8 0v10" />}> {markName}</LegendItem>
        )}
        {shownNames.map((each) => (
          <li key={each.tone}>
            <Shape tone={each.tone} />
            {each.name}
          </li>
        ))}
      </ul>
      <TimeFrame
        name={name}
        height={CHART_HEIGHT}
        labels={labels}
        ticks={ticks.map(({ at, label }) => ({ share: (at - from) / (to - from), label }))}
        strip={{ name: "Checks", picture: <Strip points={placed} /> }}
      >
        {tintPaths(
          bands.map((band) => ({
            ...band,
            left: x(Math.max(from, band.from)),
            right: x(band.to),
          })),
        ).map(({ tone, tint, cap }) => (
          <g key={tone} class={`t-${tone}`}>
            <path class="time-tint" d={tint} />
            <path class="time-cap" d={cap} />
          </g>
        ))}
        {isDrawn ? (
          <path class="time-threshold" d={`M0 ${y(threshold.value)}h${PLOT_WIDTH}`} />
        ) : null}
        <path class="time-band" d={runs.map(bandPath).join("")} />
        <path class="time-line" d={runs.map(linePath).join("")} />
        {marks.length === 0 ? null : (
          <path class="time-mark" d={marks.map((at) => `M${x(at)} -4V${CHART_HEIGHT}`).join("")} />
        )}
        {points.map((point, index) => {
          const { left = 0, right = 0 } = placed[index] ?? {};
          return (
            <PlotSlot
              key={point.from}
              left={left}
              width={round(right - left)}
              height={CHART_HEIGHT}
              isTabStop={index === points.length - 1}
              title={textOf(point, write)}
            />
          );
        })}
      </TimeFrame>
      <details class="day-table">
        <summary>{name} as a table</summary>
        <PointTable points={points} write={write} />
      </details>
    </div>
  );
}

/** Strip of results on the axis of the chart. */
function Strip({ points }: { points: readonly PlacedPoint[] }) {
  return (
    <svg
      class="time-strip"
      viewBox={`0 0 ${PLOT_WIDTH} 14`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {[...new Set(points.map(({ tone }) => tone))].map((tone) => (
        <path key={tone} class={`t-${tone}`} d={stripPath(points, tone)} />
      ))}
    </svg>
  );
}

/** Entry of the legend with the mark that the chart draws for it. */
function LegendItem({ mark, children }: { mark: ComponentChildren; children: ComponentChildren }) {
  return (
    <li>
      <svg class="legend-mark" viewBox="0 0 16 10" aria-hidden="true">
        {mark}
      </svg>
      {children}
    </li>
  );
}

/** Table of the points, newest first. */
function PointTable({ points, write }: Pick<TimeChartProps, "points" | "write">) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Median</th>
          <th scope="col">95th percentile</th>
          <th scope="col">Failed checks</th>
        </tr>
      </thead>
      <tbody>
        {points.toReversed().map(({ from, name, median, p95, failed }) => (
          <tr key={from}>
            <th scope="row">{name}</th>
            <td>{textOfValue(median, write)}</td>
            <td>{textOfValue(p95, write)}</td>
            <td>{failed ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns a point as text: "14:00 UTC: Median 90 ms, 95th percentile 120 ms, Failed checks 3 of 60". */
function textOf({ name, median, p95, failed }: TimePoint, write: TimeChartProps["write"]): string {
  const texts =
    median === null
      ? ["no answer"]
      : [`Median ${write(median)}`, `95th percentile ${textOfValue(p95, write)}`];
  return `${name}: ${[...texts, ...(failed ? [`Failed checks ${failed}`] : [])].join(", ")}`;
}

function textOfValue(value: number | null, write: TimeChartProps["write"]): string {
  return value === null ? "–" : write(value);
}

/** Height of the plot. */
const CHART_HEIGHT = 220;
/** Height of the cap of a band, above the chart. */
const CAP = 4;
/** Width of a line with only one point. */
const DASH = 6;
/** Minimum width of a band. */
const BAND_MIN = 3;

/** Rounds a length to a tenth. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Point of a chart in units of the drawing. */
interface PlacedPoint {
  x: number;
  left: number;
  right: number;
  median: number | null;
  p95: number | null;
  tone: Tone;
}

/** Point with a measurement. */
interface MeasuredPoint {
  x: number;
  median: number;
  p95: number;
}

interface Place {
  x: number;
  y: number;
}

/** Returns the values of consecutive points that have one as a run; points without a value divide the runs. */
function runsOf<Point, Value>(
  points: readonly Point[],
  valueOf: (point: Point, index: number) => Value | undefined,
): Value[][] {
  const runs: Value[][] = [];
  let run: Value[] | undefined;
  for (const [index, point] of points.entries()) {
    const value = valueOf(point, index);
    if (value === undefined) run = undefined;
    else {
      if (!run) runs.push((run = []));
      run.push(value);
    }
  }
  return runs;
}

/** Returns the line through places. */
function pathThrough(places: readonly Place[]): string {
  return places.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
}

/** Returns the runs of points with measurements. A run of one point becomes a short line. */
function measuredRuns(points: readonly PlacedPoint[]): MeasuredPoint[][] {
  const runs = runsOf(points, ({ x, median, p95 }): MeasuredPoint | undefined =>
    median === null ? undefined : { x, median, p95: p95 ?? median },
  );
  return runs.map((each) => {
    const [only] = each;
    if (!only || each.length > 1) return each;
    return [
      { ...only, x: only.x - DASH / 2 },
      { ...only, x: only.x + DASH / 2 },
    ];
  });
}

/** Returns the line through the medians of a run. */
function linePath(run: readonly MeasuredPoint[]): string {
  return pathThrough(run.map(({ x, median }) => ({ x, y: median })));
}

/** Returns the area between the medians of a run and their 95th percentiles. */
function bandPath(run: readonly MeasuredPoint[]): string {
  const back = run.toReversed().map(({ x, median }) => ({ x, y: median }));
  return `${pathThrough([...run.map(({ x, p95 }) => ({ x, y: p95 })), ...back])}Z`;
}

/** Returns the bars of one tone in the strip of results; worse ones are higher. */
function stripPath(points: readonly PlacedPoint[], tone: Tone): string {
  const height = { none: 2, ok: 8, maint: 8, degraded: 11, partial: 14, major: 14 }[tone];
  return points
    .filter((point) => point.tone === tone)
    .map(({ left, right }) => {
      const width = round(Math.max(1, (right - left) * 0.8));
      return `M${left} ${(14 - height) / 2}h${width}v${height}h-${width}z`;
    })
    .join("");
}

interface PlacedBand {
  left: number;
  right: number;
  tone: Tone;
}

/** Returns the areas and caps of bands by tone. Bands that touch each other are joined. */
function tintPaths(bands: readonly PlacedBand[]): { tone: Tone; tint: string; cap: string }[] {
  return Array.from(
    Map.groupBy(bands, ({ tone }) => tone),
    ([tone, own]) => {
      const areas: { left: number; right: number }[] = [];
      for (const { left, right } of own) {
        const last = areas.at(-1);
        const end = Math.max(right, left + BAND_MIN);
        if (last && left <= last.right) last.right = Math.max(last.right, end);
        else areas.push({ left, right: end });
      }
      const draw = (top: number, height: number) =>
        areas
          .map(({ left, right }) => {
            const width = round(right - left);
            return `M${left} ${top}h${width}v${height}h-${width}z`;
          })
          .join("");
      return { tone, tint: draw(0, CHART_HEIGHT), cap: draw(-CAP, CAP) };
    },
  );
}

/** Vertical scale of a chart of durations, with five lines. */
interface TimeScale {
  /** Highest value, in ms. */
  top: number;
  /** Texts of the lines, from the highest to zero; only the first has the unit. */
  labels: readonly string[];
}

/** Units, each with the highest value (ms) that it is used for. */
const UNITS = [
  { ms: 1, word: "ms", until: 8_000 },
  { ms: 1_000, word: "s", until: 600_000 },
  { ms: 60_000, word: "min", until: Number.POSITIVE_INFINITY },
] as const;
/** First digits of the distance between two lines. */
const DISTANCES = [1, 2, 3, 4, 5, 6, 8, 10];
const GAPS = 4;

/** Returns a scale of whole numbers for values up to `highest`, in ms. */
function timeScale(highest: number): TimeScale {
  const unit = UNITS.find(({ until }) => highest <= until) ?? UNITS[2];
  const least = Math.max(1, highest / unit.ms / GAPS);
  const power = 10 ** Math.floor(Math.log10(least));
  const distance = power * (DISTANCES.find((each) => each * power >= least) ?? 10);
  const labels = Array.from({ length: GAPS + 1 }, (_each, index) => {
    const text = (distance * (GAPS - index)).toLocaleString("en");
    return index === 0 ? `${text} ${unit.word}` : text;
  });
  return { top: distance * GAPS * unit.ms, labels };
}

/** Width of a plot in units of its drawing. */
const PLOT_WIDTH = 960;

interface TimeFrameProps {
  /** Accessible name of the plot. */
  name: string;
  /** Height of the plot in units of its drawing. */
  height: number;
  /** Texts of the lines of the scale, from the highest. */
  labels: readonly string[];
  /** Labels of the time axis, each at a share of the width from 0 to 1. */
  ticks: readonly { share: number; label: string }[];
  /** Picture between the plot and its time axis, with its name. */
  strip?: { name: string; picture: ComponentChildren };
  /** Content of the plot, above the lines of the scale. */
  children: ComponentChildren;
}

/** Scale, plot and time axis of a chart over time. A script shows the text of the selected `PlotSlot`. */
function TimeFrame({ name, height, labels, ticks, strip, children }: TimeFrameProps) {
  const distance = height / Math.max(1, labels.length - 1);
  return (
    <>
      <div class="time-frame">
        <div class="time-labels" aria-hidden="true">
          {labels.map((label) => (
            <span key={label}>{label}</span>
          ))}
        </div>
        <svg
          class="time-plot"
          viewBox={`0 0 ${PLOT_WIDTH} ${height}`}
          preserveAspectRatio="none"
          role="group"
          aria-label={name}
        >
          <path
            class="time-grid"
            d={labels.map((_label, index) => `M0 ${distance * index}h${PLOT_WIDTH}`).join("")}
          />
          {children}
        </svg>
        {strip ? (
          <>
            <span class="time-strip-name" aria-hidden="true">
              {strip.name}
            </span>
            {strip.picture}
          </>
        ) : null}
        <svg class="time-ticks" aria-hidden="true">
          {ticks.map(({ share, label }) => (
            <text key={label} x={`${round(share * 100)}%`} y="12">
              {label}
            </text>
          ))}
        </svg>
      </div>
      <p class="time-note" data-day-note />
    </>
  );
}

interface PlotSlotProps {
  left: number;
  width: number;
  height: number;
  /** True for the only slot that Tab reaches; a script adds the arrow keys. */
  isTabStop: boolean;
  /** Text of the time and its figures. */
  title: string;
}

/** Area of one time of a plot, with its text. */
function PlotSlot({ left, width, height, isTabStop, title }: PlotSlotProps) {
  return (
    <g class="chart-slot" role="img" tabIndex={isTabStop ? 0 : -1} data-day>
      <title>{title}</title>
      <rect x={left} width={Math.max(0, width)} height={height} />
    </g>
  );
}

const UPTIME_HEIGHT = 200;
/** Lowest values of a scale, as shares. */
const FLOORS = [0.998, 0.996, 0.99, 0.98, 0.96, 0.9, 0.8, 0.6, 0];
/** Maximum number of labels of the time axis. */
const TICKS_MAX = 5;
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
      : { x: round((index + 0.5) * step), y: round(((1 - uptime) / (1 - floor)) * UPTIME_HEIGHT) },
  );
  return (
    <div class="time-chart uptime-chart" data-days>
      <TimeFrame
        name={`${name}: ${describe(points)}`}
        height={UPTIME_HEIGHT}
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
                height={UPTIME_HEIGHT}
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
  const count = Math.min(TICKS_MAX, points.length);
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

function lineOf(run: readonly Place[]): string {
  const [only] = run;
  // A day without neighbours is a dot, which a line of no length with round ends draws.
  if (run.length === 1 && only) return `M${only.x} ${only.y}h0`;
  return pathThrough(run);
}

function areaOf(run: readonly Place[]): string {
  const [first, last] = [run[0], run.at(-1)];
  if (!first || !last || run.length === 1) return "";
  return `${lineOf(run)}L${last.x} ${UPTIME_HEIGHT}L${first.x} ${UPTIME_HEIGHT}Z`;
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
