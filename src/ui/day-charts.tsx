import { STATUS_TONES, type Tone } from "../domain/tone";
import { type DayRun, runsOf, type StatusDay } from "./day-runs";

// A day is a bar of three units and a gap of one: 90 days are 359 units.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 32;
const NEXT_OUTLINE = `m${STEP} 0h${WIDTH}v${HEIGHT}h-${WIDTH}z`;
/** Minimum number of days that a chart has room for. Fewer days are drawn at its right end. */
const MIN_DAYS = 30;
/** Height of the bar of a day with a good share of 0. */
const LOWEST = 6;

interface DayBarsProps {
  /** Name of the component. */
  name: string;
  /** Oldest first. */
  days: readonly StatusDay[];
  /** Text below the middle, such as "99.98 % uptime". */
  note?: string;
}

/** Chart of days with captions and a table of the same. */
export function DayBars({ name, days, note }: DayBarsProps) {
  if (days.length === 0) return <p class="muted">No day of {name} is recorded yet.</p>;
  const runs = runsOf(days);
  return (
    <div class="day-bars">
      <DayChart label={`${name}, day by day`} runs={runs} />
      <p class="day-bars-foot">
        <span>{days.length < MIN_DAYS ? "" : `${days.length} days ago`}</span>
        <span data-day-note>{note}</span>
        <span>Today</span>
      </p>
      <details class="day-table">
        <summary>The days of {name} as a table</summary>
        <DayTable runs={runs} />
      </details>
    </div>
  );
}

interface DayChartProps {
  /** Accessible name of the chart. */
  label: string;
  /** Oldest first. */
  runs: readonly DayRun[];
}

/**
 * Bar for each day. Its height is the good share of the day, its colour the worst status. Maintenance is
 * striped, no data an outline. A run of days is one element.
 *
 * The bars are written as text, since a large page has ten thousand of them. With elements, a row of 90
 * different days takes 2.3 times the processor time.
 */
export function DayChart({ label, runs }: DayChartProps) {
  const last = runs.at(-1);
  const days = last ? last.index + last.length : 0;
  const places = Math.max(MIN_DAYS, days);
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

/** Returns the tone of a day: that of its worst status, or none without data. */
function toneOf({ status }: StatusDay): Tone {
  return status === null ? "none" : STATUS_TONES[status];
}

/** Returns a run as an SVG group. Only the last can be reached by Tab; a script adds the arrow keys. */
function drawRun({ day, length, name, word, minutes }: DayRun, x: number, isLast: boolean): string {
  const title = Bun.escapeHTML(`${name}: ${word}${minutes ? ` (${minutes})` : ""}`);
  const bars = length > 1 ? drawBars(day, length, x) : drawBar(day, x);
  return `<g class="day t-${toneOf(day)}" role="img" tabindex="${isLast ? 0 : -1}" data-day><title>${title}</title>${bars}</g>`;
}

/** Returns the full bars of a run: a dashed line that the style sheet stretches, or outlines. */
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

/** Returns a height in whole units, rounded down: full only if the whole day was good. */
function heightOf(goodShare: number): number {
  const share = Math.min(1, Math.max(0, goodShare));
  return LOWEST + Math.floor(share * (HEIGHT - LOWEST));
}

/** Table of the days with their minutes, newest first. A run of days is one row, written as text. */
export function DayTable({ runs }: { runs: readonly DayRun[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Worst status</th>
          <th scope="col">Duration</th>
        </tr>
      </thead>
      <tbody dangerouslySetInnerHTML={{ __html: runs.toReversed().map(writeRow).join("") }} />
    </table>
  );
}

function writeRow({ name, word, minutes }: DayRun): string {
  const [day, worst, howLong] = [name, word, minutes || "–"].map((text) => Bun.escapeHTML(text));
  return `<tr><th scope="row">${day}</th><td>${worst}</td><td>${howLong}</td></tr>`;
}
