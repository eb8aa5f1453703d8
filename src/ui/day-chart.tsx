import type { DayRun, StatusDay } from "./day-runs";

interface DayChartProps {
  /** Accessible name of the chart. */
  label: string;
  /** Oldest first. */
  runs: readonly DayRun[];
}

// A bar of three units, a gap of one: 90 days are 359 units.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 32;
const NEXT_OUTLINE = `m${STEP} 0h${WIDTH}v${HEIGHT}h-${WIDTH}z`;
/** Fewer days than these stand at the right, as wide as they would be among so many. */
export const LEAST_DAYS = 30;
/** Height of the bar of a day without a good minute. */
const LOWEST = 6;

/**
 * A bar for each day: its height says how much of the day was good, its colour the worst status,
 * stripes maintenance, an outline that nothing is known. Days that were all alike are one element.
 *
 * The bars are written as text: a page of many components has ten thousand of them, and elements made
 * one by one would be most of what it costs.
 */
export function DayChart({ label, runs }: DayChartProps) {
  const last = runs.at(-1);
  const days = last ? last.index + last.length : 0;
  const places = Math.max(LEAST_DAYS, days);
  const drawn = runs.map((run) => drawRun(run, (places - days + run.index) * STEP, run === last));
  return (
    <svg
      viewBox={`0 0 ${places * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="group"
      aria-label={label}
      dangerouslySetInnerHTML={{ __html: drawn.join("") }}
    />
  );
}

// One stop for the keyboard; the script's arrow keys go from run to run.
function drawRun({ day, length, name, word, minutes }: DayRun, x: number, isLast: boolean): string {
  const title = Bun.escapeHTML(`${name}: ${word}${minutes ? ` (${minutes})` : ""}`);
  const bars = length > 1 ? drawBars(day, length, x) : drawBar(day, x);
  return `<g class="day is-${day.status ?? "unknown"}" role="img" tabindex="${isLast ? 0 : -1}" data-day><title>${title}</title>${bars}</g>`;
}

/** Full bars side by side: one dashed line, which the style sheet stretches, or an outline each. */
function drawBars({ status }: StatusDay, length: number, x: number): string {
  return status === null
    ? `<path class="day-bar" d="M${x - STEP} 0${NEXT_OUTLINE.repeat(length)}"/>`
    : `<path class="day-line" d="M${x} .5h${length * STEP - (STEP - WIDTH)}"/>`;
}

function drawBar(day: StatusDay, x: number): string {
  const height = day.status === null ? HEIGHT : heightOf(day.goodShare);
  const back =
    height < HEIGHT ? `<rect class="day-back" x="${x}" width="${WIDTH}" height="${HEIGHT}"/>` : "";
  const bar =
    day.status === "under_maintenance"
      ? `<path class="day-stripes" d="M${x + WIDTH / 2} ${HEIGHT}V${HEIGHT - height}"/>`
      : `<rect class="day-bar" x="${x}" y="${HEIGHT - height}" width="${WIDTH}" height="${height}"/>`;
  return back + bar;
}

/** Whole units, and never full unless the whole day was good. */
function heightOf(goodShare: number): number {
  const share = Math.min(1, Math.max(0, goodShare));
  return LOWEST + Math.floor(share * (HEIGHT - LOWEST));
}
