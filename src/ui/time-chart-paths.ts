import type { Tone } from "../base/status";

/** Height of the plot. */
export const CHART_HEIGHT = 220;
/** Height of the cap of a band, above the chart. */
const CAP = 4;
/** Width of a line with only one point. */
const DASH = 6;
/** Minimum width of a band. */
const BAND_MIN = 3;

/** Rounds a length to a tenth. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Point of a chart in units of the drawing. */
export interface PlacedPoint {
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
export function runsOf<Point, Value>(
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
export function pathThrough(places: readonly Place[]): string {
  return places.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
}

/** Returns the runs of points with measurements. A run of one point becomes a short line. */
export function measuredRuns(points: readonly PlacedPoint[]): MeasuredPoint[][] {
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
export function linePath(run: readonly MeasuredPoint[]): string {
  return pathThrough(run.map(({ x, median }) => ({ x, y: median })));
}

/** Returns the area between the medians of a run and their 95th percentiles. */
export function bandPath(run: readonly MeasuredPoint[]): string {
  const back = run.toReversed().map(({ x, median }) => ({ x, y: median }));
  return `${pathThrough([...run.map(({ x, p95 }) => ({ x, y: p95 })), ...back])}Z`;
}

/** Returns the bars of one tone in the strip of results; worse ones are higher. */
export function stripPath(points: readonly PlacedPoint[], tone: Tone): string {
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
export function tintPaths(
  bands: readonly PlacedBand[],
): { tone: Tone; tint: string; cap: string }[] {
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
