import type { ComponentChildren } from "preact";
import type { Tone } from "../base/status";
import { Shape } from "./labels";
import {
  bandPath,
  CHART_HEIGHT,
  linePath,
  measuredRuns,
  type PlacedPoint,
  round,
  stripPath,
  tintPaths,
} from "./time-chart-paths";
import { PLOT_WIDTH, PlotSlot, TimeFrame } from "./time-frame";
import { timeScale } from "./time-scale";

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
