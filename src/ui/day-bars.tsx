import { DayChart, LEAST_DAYS } from "./day-chart";
import { runsOf, type StatusDay } from "./day-runs";
import { DayTable } from "./day-table";

interface DayBarsProps {
  /** Whose days they are. */
  name: string;
  /** Oldest first. */
  days: readonly StatusDay[];
  /** Below the middle, such as "99.98 % uptime". */
  note?: string;
}

/** A bar for each day, and the same in a table behind it. */
export function DayBars({ name, days, note }: DayBarsProps) {
  if (days.length === 0) return <p class="muted">No day of {name} is recorded yet.</p>;
  const runs = runsOf(days);
  return (
    <div class="day-bars">
      <DayChart label={`${name}, day by day`} runs={runs} />
      <p class="day-bars-foot">
        <span>{days.length < LEAST_DAYS ? "" : `${days.length} days ago`}</span>
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
