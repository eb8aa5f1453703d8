import type { Tone } from "../domain/tone";

const HEIGHT = 220;
/** Height of the cap of a band, above the chart. */
const CAP = 4;
/** Width of a line with only one point, and least width of a band. */
const DASH = 6;
const BAND_LEAST = 3;

/** A point in units of the drawing. */
export interface Placed {
  x: number;
  left: number;
  right: number;
  median: number | null;
  p95: number | null;
  tone: Tone;
}

interface Known {
  x: number;
  median: number;
  p95: number;
}

/** Divides points at those without a measurement. */
export function inRuns(points: readonly Placed[]): Known[][] {
  const runs: Known[][] = [];
  let run: Known[] | undefined;
  for (const { x, median, p95 } of points) {
    if (median === null) {
      run = undefined;
      continue;
    }
    if (!run) runs.push((run = []));
    run.push({ x, median, p95: p95 ?? median });
  }
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
export function linePath(run: readonly Known[]): string {
  return run.map(({ x, median }, index) => `${index === 0 ? "M" : "L"}${x} ${median}`).join("");
}

/** Returns the area between the medians of a run and their 95th percentiles. */
export function bandPath(run: readonly Known[]): string {
  const back = run.toReversed().map(({ x, median }) => `L${x} ${median}`);
  const there = run.map(({ x, p95 }, index) => `${index === 0 ? "M" : "L"}${x} ${p95}`);
  return `${there.join("")}${back.join("")}Z`;
}

/** Returns the bars of one tone in the strip of results; worse ones are higher. */
export function stripPath(points: readonly Placed[], tone: Tone): string {
  const height = { none: 2, ok: 8, maint: 8, degraded: 11, partial: 14, major: 14 }[tone];
  return points
    .filter((point) => point.tone === tone)
    .map(({ left, right }) => {
      const width = Math.round(Math.max(1, (right - left) * 0.8) * 10) / 10;
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
        const end = Math.max(right, left + BAND_LEAST);
        if (last && left <= last.right) last.right = Math.max(last.right, end);
        else areas.push({ left, right: end });
      }
      const draw = (top: number, height: number) =>
        areas
          .map(({ left, right }) => {
            const width = Math.round((right - left) * 10) / 10;
            return `M${left} ${top}h${width}v${height}h-${width}z`;
          })
          .join("");
      return { tone, tint: draw(0, HEIGHT), cap: draw(-CAP, CAP) };
    },
  );
}
