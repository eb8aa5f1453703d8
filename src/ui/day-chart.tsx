import type { DayRun, StatusDay } from "./day-runs";

interface DayChartProps {
  /** What the picture is of, for those who do not see it. */
  label: string;
  /** Oldest first. */
  runs: readonly DayRun[];
}

// A bar of three units, a gap of one: 90 days are 359 units.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 32;
const NEXT_BAR = `m${STEP} 0h${WIDTH}v${HEIGHT}h-${WIDTH}z`;
/** Fewer days than these stand at the right, as wide as they would be among so many. */
export const LEAST_DAYS = 30;
/** What even a day without one good minute shows. */
const LOWEST = 6;

/**
 * A bar for each day: its height says how much of the day was good, its colour the worst status,
 * stripes maintenance, an outline that nothing is known. Days that were all alike are one element.
 */
export function DayChart({ label, runs }: DayChartProps) {
  const last = runs.at(-1);
  const days = last ? last.index + last.length : 0;
  const places = Math.max(LEAST_DAYS, days);
  return (
    <svg
      viewBox={`0 0 ${places * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="group"
      aria-label={label}
    >
      {runs.map((run) => (
        <Run
          key={run.index}
          run={run}
          x={(places - days + run.index) * STEP}
          isLast={run === last}
        />
      ))}
    </svg>
  );
}

// One stop for the keyboard; the script's arrow keys go from run to run.
function Run({ run, x, isLast }: { run: DayRun; x: number; isLast: boolean }) {
  const { day, length, name, word, minutes } = run;
  return (
    <g class={`day is-${day.status ?? "unknown"}`} role="img" tabIndex={isLast ? 0 : -1} data-day>
      <title>{`${name}: ${word}${minutes ? ` (${minutes})` : ""}`}</title>
      {length > 1 ? <Bars length={length} x={x} /> : <Bar day={day} x={x} />}
    </g>
  );
}

/** Full bars side by side, in one path. */
function Bars({ length, x }: { length: number; x: number }) {
  return <path class="day-bar" d={`M${x - STEP} 0${NEXT_BAR.repeat(length)}`} />;
}

function Bar({ day, x }: { day: StatusDay; x: number }) {
  const height = day.status === null ? HEIGHT : heightOf(day.goodShare);
  return (
    <>
      {height < HEIGHT ? <rect class="day-back" x={x} width={WIDTH} height={HEIGHT} /> : null}
      {day.status === "under_maintenance" ? (
        <path class="day-stripes" d={`M${x + WIDTH / 2} ${HEIGHT}V${HEIGHT - height}`} />
      ) : (
        <rect class="day-bar" x={x} y={HEIGHT - height} width={WIDTH} height={height} />
      )}
    </>
  );
}

/** Whole units, and never full unless the whole day was good. */
function heightOf(goodShare: number): number {
  const share = Math.min(1, Math.max(0, goodShare));
  return LOWEST + Math.floor(share * (HEIGHT - LOWEST));
}
