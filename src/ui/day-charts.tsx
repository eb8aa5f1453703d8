import { COMPONENT_STATUSES, type ComponentStatus, STATUS_TONES, type Tone } from "../base/status";
import { safeHref } from "./buttons";
import { longDay } from "./times";
import { type PageWords, pageWordsOf, useWords } from "./words";

// A day is a bar of three units and a gap of one: 90 days are 359 units.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 30;
/** Minimum number of days that a chart has room for. Fewer days are drawn at its right end. */
const MIN_DAYS = 30;
/** Minimum height of a cap: two fifths of a bar. */
const LOWEST_CAP = 12;
/** Gap between a cap and the rest of its bar. */
const GAP = 2;
/** Maximum length of the name of an incident, in code points. */
const NAME_MAX = 80;

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
  const isNew = days.slice(0, -1).every(({ status }) => status === null);
  return (
    <div class="day-bars">
      <DayChart label={`${name}, day by day`} runs={runs} />
      <p class="day-bars-foot">
        <span>{days.length < MIN_DAYS || isNew ? "" : `${days.length} days ago`}</span>
        <span data-day-note>{note}</span>
        <span>{isNew ? "Since today" : "Today"}</span>
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
  /** Number of days that the chart has room for at least. */
  minDays?: number;
}

/**
 * Bar for each day. A good day is a full bar. Other days have a cap in the tone of their worst status,
 * as high as the share of the day that was not good. Days before the first with data are ticks. Only days with a cap, and days
 * without data after the first, can be selected.
 *
 * The bars are written as text, since a large page has ten thousand of them. With elements, a row of 90
 * different days takes 2.3 times the processor time.
 */
export function DayChart({ label, runs, minDays = MIN_DAYS }: DayChartProps) {
  const words = useWords();
  const last = runs.at(-1);
  const days = last ? last.index + last.length : 0;
  const places = Math.max(minDays, days);
  const special = runs.filter((run) => !isGood(run) && !isBefore(run));
  const lastSpecial = special.at(-1);
  let [before, good, rests, drawn] = ["", "", "", ""];
  for (const run of runs) {
    const x = (places - days + run.index) * STEP;
    if (isBefore(run)) before += `M${x + 1} ${HEIGHT - 1.5}h${run.length * STEP}`;
    else if (isGood(run)) good += `M${x} ${HEIGHT / 2}h${run.length * STEP}`;
    else {
      const cap = run.day.status === null ? 0 : capOf(run.day);
      if (cap > 0 && cap < HEIGHT) rests += bar(x, cap + GAP, HEIGHT - cap - GAP);
      drawn += drawDay(run, x, cap, run === lastSpecial, words);
    }
  }
  const path = (name: string, d: string) => (d === "" ? "" : `<path class="${name}" d="${d}"/>`);
  return (
    <svg
      class="day-chart"
      viewBox={`0 0 ${places * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role={special.length > 0 ? "group" : "img"}
      aria-label={label}
      dangerouslySetInnerHTML={{
        __html:
          path("day-before", before) + path("day-good", good) + path("day-rest", rests) + drawn,
      }}
    />
  );
}

function isGood({ day }: DayRun): boolean {
  return day.status === "operational" && day.goodShare >= 1;
}

/** Returns true for the days before the first one with data or with an incident. */
function isBefore({ day, index }: DayRun): boolean {
  return day.status === null && index === 0 && !day.entries;
}

/** Returns the tone of a day that was not good: that of its worst status, or none for missing data. */
function toneOf({ status }: StatusDay): Tone {
  return status === null || status === "operational" ? "none" : STATUS_TONES[status];
}

/** Returns a day, or a run of days without data, as an SVG group. Only one can be reached by Tab. */
function drawDay(
  run: DayRun,
  x: number,
  cap: number,
  isTabStop: boolean,
  words: PageWords,
): string {
  const { day, length, name, word, minutes } = run;
  const what = `${name}: ${word}${minutes ? ` (${minutes})` : ""}`;
  const title = Bun.escapeHTML(what + firstEntryOf(day, words));
  const shape =
    day.status === null
      ? Array.from({ length }, (_, index) => bar(x + index * STEP, HEIGHT - WIDTH, WIDTH)).join("")
      : bar(x, 0, cap);
  return `<g class="day t-${toneOf(day)}" role="img" tabindex="${isTabStop ? 0 : -1}" data-day><title>${title}</title><path d="${shape}"/></g>`;
}

/** Returns the name of the worst incident or maintenance of a day and the number of the others: " · Errors, 2 more". */
function firstEntryOf({ entries }: StatusDay, { t }: PageWords): string {
  const [first, ...rest] = entries?.named ?? [];
  if (!first) return "";
  const others = rest.length + (entries?.others ?? 0);
  const more = others > 0 ? t("list.separator") + t("list.others", { count: others }) : "";
  return ` · ${cut(first.name)}${more}`;
}

/** Returns a name with at most 80 characters. */
function cut(name: string): string {
  const points = [...name];
  return points.length > NAME_MAX ? `${points.slice(0, NAME_MAX - 1).join("")}…` : name;
}

function bar(x: number, y: number, height: number): string {
  return `M${x} ${y}h${WIDTH}v${height}h-${WIDTH}z`;
}

/** Returns the height of a cap in whole units. It fills the bar if too little would be left of it. */
function capOf({ goodShare }: StatusDay): number {
  const share = 1 - Math.min(1, Math.max(0, goodShare));
  const height = Math.max(LOWEST_CAP, Math.round(share * HEIGHT));
  return height > HEIGHT - 2 * GAP ? HEIGHT : height;
}

interface DayTableProps {
  runs: readonly DayRun[];
  /** Name of the component, if the table is one of several. */
  caption?: string;
}

/**
 * Table of the days with their minutes, newest first, and with links to the incidents and maintenances
 * of days that have any. A run of days is one row, written as text.
 */
export function DayTable({ runs, caption }: DayTableProps) {
  const words = useWords();
  const { say } = words;
  const rows = runs.toReversed().map((run) => writeRow(run, words));
  return (
    <table>
      {caption === undefined ? null : <caption>{caption}</caption>}
      <thead>
        <tr>
          <th scope="col">{say("days.day")}</th>
          <th scope="col">{say("days.worst")}</th>
          <th scope="col">{say("days.duration")}</th>
        </tr>
      </thead>
      <tbody dangerouslySetInnerHTML={{ __html: rows.join("") }} />
    </table>
  );
}

/** Returns a row of the table. Scripts find it by the name of its day, which begins the title of its bar. */
function writeRow(
  { name, word, minutes, day: { entries } }: DayRun,
  { t }: Pick<PageWords, "t">,
): string {
  const [day, worst, howLong] = [name, word, minutes || "–"].map((text) => Bun.escapeHTML(text));
  const links = (entries?.named ?? []).map(writeLink);
  if (entries && entries.others > 0) {
    links.push(Bun.escapeHTML(t("list.others", { count: entries.others })));
  }
  const list = links.length > 0 ? `<br>${links.join(t("list.separator"))}` : "";
  return `<tr><th scope="row">${day}</th><td>${worst}${list}</td><td>${howLong}</td></tr>`;
}

function writeLink({ name, href }: DayEntry): string {
  return `<a href="${Bun.escapeHTML(safeHref(href) ?? "")}">${Bun.escapeHTML(cut(name))}</a>`;
}

/** UTC day of a component, as charts show it. */
export interface StatusDay {
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** Worst status of the day, or null without data. */
  status: ComponentStatus | null;
  /** Good share of the day, 0 to 1. */
  goodShare: number;
  /** Minutes in each status except operational. */
  minutes: Readonly<Partial<Record<ComponentStatus, number>>>;
  /** Minutes without data, on a day with some data. */
  noDataMinutes?: number;
  /** Incidents and maintenances of the day, worst first. */
  entries?: { named: readonly DayEntry[]; others: number } | undefined;
}

/** Incident or maintenance of a day. */
interface DayEntry {
  name: string;
  /** Path of its page. */
  href: string;
}

/** One day, or consecutive days that are shown as one: fully operational, or without data. */
export interface DayRun {
  /** Position of the first day. */
  index: number;
  /** Number of days. */
  length: number;
  /** First day of the run; the others are equal except for the date. */
  day: StatusDay;
  /** "21 November 2026", or "1 November 2026 to 21 November 2026". */
  name: string;
  /** "Major outage" or "No data". */
  word: string;
  /**
   * "12 min", or "12 min major outage, 2 h no data" if there is more than the worst status: worst status
   * first, empty without minutes.
   */
  minutes: string;
}

/** Texts of a day and of a span of days (`YYYY-MM-DD`). */
interface DayWords {
  day(day: string): string;
  span(from: string, to: string): string;
}

const PLAIN_DAYS: DayWords = {
  day: longDay,
  span: (from, to) => `${longDay(from)} to ${longDay(to)}`,
};

/**
 * Groups consecutive days that were fully operational, and consecutive days without data. A quiet
 * history is then one element to draw, to skip by keyboard and to read aloud.
 */
export function runsOf(
  days: readonly StatusDay[],
  written: DayWords = PLAIN_DAYS,
  words = pageWordsOf("en"),
): DayRun[] {
  const runs: DayRun[] = [];
  let first = 0;
  for (const [index, day] of days.entries()) {
    const next = days[index + 1];
    if (next && isUneventful(day) && isUneventful(next) && day.status === next.status) continue;
    const firstDay = days[first] ?? day;
    runs.push({
      index: first,
      length: index + 1 - first,
      day: firstDay,
      name: firstDay === day ? written.day(day.day) : written.span(firstDay.day, day.day),
      word: words.t(day.status === null ? "status.no_data" : `status.${day.status}`),
      minutes: minutesOf(day, words),
    });
    first = index + 1;
  }
  return runs;
}

function isUneventful({ status, goodShare, entries }: StatusDay): boolean {
  if (entries) return false;
  return status === null || (status === "operational" && goodShare >= 1);
}

function minutesOf(
  { status: worst, minutes, noDataMinutes = 0 }: StatusDay,
  { t, duration }: PageWords,
): string {
  const statuses = COMPONENT_STATUSES.filter(
    (status) => status !== "operational" && minutes[status],
  );
  if (worst && noDataMinutes === 0 && statuses.length === 1 && statuses[0] === worst) {
    return duration(minutes[worst] ?? 0);
  }
  const texts: string[] = [];
  for (const status of COMPONENT_STATUSES) {
    if (status === "operational") continue;
    const count = minutes[status] ?? 0;
    if (count > 0) texts.unshift(t(`days.time.${status}`, { duration: duration(count) }));
  }
  if (noDataMinutes > 0) texts.push(t("days.time.no_data", { duration: duration(noDataMinutes) }));
  return texts.join(t("list.separator"));
}
