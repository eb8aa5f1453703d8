import type { ComponentStatus } from "../kernel/component-status";
import { COMPONENT_STATUSES } from "../kernel/component-status";
import { STATUS_WORDS } from "./shapes";
import { duration, longDay } from "./times";

export interface StatusDay {
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** The worst of the day; null where nothing is known of it. */
  status: ComponentStatus | null;
  /** How much of the day was good, 0 to 1. */
  goodShare: number;
  /** Minutes in each status but operational. */
  minutes: Readonly<Partial<Record<ComponentStatus, number>>>;
}

interface DayBarsProps {
  /** Whose days they are. */
  name: string;
  /** Oldest first. */
  days: readonly StatusDay[];
  /** Below the middle, such as "99.98 % uptime". */
  note?: string;
}

// A bar of three units, a gap of one: 90 days are 359 units.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 32;
/** Fewer days than these stand at the right, as wide as they would be among so many. */
const LEAST_DAYS = 30;
/** What even a day without one good minute shows. */
const LOWEST = 6;

/**
 * A bar for each day: its height says how much of the day was good, its colour the worst status,
 * stripes maintenance, an outline that nothing is known. The same stands in a table behind it.
 */
export function DayBars({ name, days, note }: DayBarsProps) {
  if (days.length === 0) return <p class="muted">No day of {name} is recorded yet.</p>;
  const places = Math.max(LEAST_DAYS, days.length);
  return (
    <div class="day-bars">
      <svg
        viewBox={`0 0 ${places * STEP - 1} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={`${name}, day by day`}
      >
        {days.map((day, index) => (
          <DayBar
            key={day.day}
            day={day}
            x={(places - days.length + index) * STEP}
            isLast={index === days.length - 1}
          />
        ))}
      </svg>
      <p class="day-bars-foot">
        <span>{days.length < places ? "" : `${days.length} days ago`}</span>
        <span data-day-note>{note}</span>
        <span>Today</span>
      </p>
      <details class="day-table">
        <summary>The days of {name} as a table</summary>
        <DayTable days={days} />
      </details>
    </div>
  );
}

// One stop for the keyboard; the script's arrow keys go from day to day.
function DayBar({ day, x, isLast }: { day: StatusDay; x: number; isLast: boolean }) {
  const height = day.status === null ? HEIGHT : heightOf(day.goodShare);
  return (
    <g class={`day is-${day.status ?? "unknown"}`} role="img" tabIndex={isLast ? 0 : -1} data-day>
      <title>{describe(day)}</title>
      {height < HEIGHT ? <rect class="day-back" x={x} width={WIDTH} height={HEIGHT} /> : null}
      {day.status === "under_maintenance" ? (
        <path class="day-stripes" d={`M${x + WIDTH / 2} ${HEIGHT}V${HEIGHT - height}`} />
      ) : (
        <rect class="day-bar" x={x} y={HEIGHT - height} width={WIDTH} height={height} />
      )}
    </g>
  );
}

/** Whole units, and never full unless the whole day was good. */
function heightOf(goodShare: number): number {
  const share = Math.min(1, Math.max(0, goodShare));
  return LOWEST + Math.floor(share * (HEIGHT - LOWEST));
}

function DayTable({ days }: { days: readonly StatusDay[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Worst status</th>
          <th scope="col">How long</th>
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row">{longDay(day.day)}</th>
            <td>{wordOf(day)}</td>
            <td>{minutesOf(day) || "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function describe(day: StatusDay): string {
  const minutes = minutesOf(day);
  return `${longDay(day.day)}: ${wordOf(day)}${minutes ? ` (${minutes})` : ""}`;
}

function wordOf({ status }: StatusDay): string {
  return status === null ? "No data" : STATUS_WORDS[status];
}

function minutesOf({ minutes }: StatusDay): string {
  return COMPONENT_STATUSES.toReversed()
    .filter((status) => status !== "operational" && (minutes[status] ?? 0) > 0)
    .map((status) => `${duration(minutes[status] ?? 0)} ${STATUS_WORDS[status].toLowerCase()}`)
    .join(", ");
}
