import { percent } from "../kernel/numbers";

const WIDTH = 960;
const HEIGHT = 200;
/** Gaps between the five lines of the scale. */
const GAPS = 4;
/** Lowest values of a scale, as shares. */
const FLOORS = [0.998, 0.996, 0.99, 0.98, 0.96, 0.9, 0.8, 0.6, 0];

/** Uptime of a day. */
export interface UptimePoint {
  /** Day, as text. */
  name: string;
  /** 0 to 1; null without data. */
  uptime: number | null;
}

interface UptimeChartProps {
  /** Accessible name. */
  name: string;
  /** Oldest first. */
  points: readonly UptimePoint[];
}

/** Uptime day by day as a line, with a table of the same. A day without data is a gap. */
export function UptimeChart({ name, points }: UptimeChartProps) {
  const known = points.flatMap(({ uptime }) => (uptime === null ? [] : [uptime]));
  if (known.length === 0) return null;
  const lowest = Math.min(...known);
  const floor = FLOORS.find((each) => each <= lowest) ?? 0;
  const labels = Array.from({ length: GAPS + 1 }, (_, index) =>
    labelOf(1 - ((1 - floor) / GAPS) * index, floor),
  );
  const step = WIDTH / points.length;
  const runs = inRuns(points).map((run) =>
    run.map(({ index, uptime }) => ({
      x: round((index + 0.5) * step),
      y: round(((1 - uptime) / (1 - floor)) * HEIGHT),
    })),
  );
  return (
    <div class="time-chart uptime-chart">
      <div class="time-frame">
        <div class="time-labels" aria-hidden="true">
          {labels.map((label) => (
            <span key={label}>{label}</span>
          ))}
        </div>
        <svg
          class="time-plot"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${name}: ${describe(points)}`}
        >
          <path
            class="time-grid"
            d={labels.map((_, index) => `M0 ${(HEIGHT / GAPS) * index}h${WIDTH}`).join("")}
          />
          <path class="time-band" d={runs.map(areaOf).join("")} />
          <path class="time-line" d={runs.map(lineOf).join("")} />
        </svg>
        <p class="uptime-ends" aria-hidden="true">
          <span>{points[0]?.name}</span>
          <span>{points.at(-1)?.name}</span>
        </p>
      </div>
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
              <tr key={point.name}>
                <th scope="row">{point.name}</th>
                <td>{percent(point.uptime, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

interface Place {
  x: number;
  y: number;
}

function lineOf(run: readonly Place[]): string {
  const [only] = run;
  // A day without neighbours is a dot, which a line of no length with round ends draws.
  if (run.length === 1 && only) return `M${only.x} ${only.y}h0`;
  return run.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
}

function areaOf(run: readonly Place[]): string {
  const [first, last] = [run[0], run.at(-1)];
  if (!first || !last || run.length === 1) return "";
  return `${lineOf(run)}L${last.x} ${HEIGHT}L${first.x} ${HEIGHT}Z`;
}

/** Divides the points at days without data. */
function inRuns(points: readonly UptimePoint[]): { index: number; uptime: number }[][] {
  const runs: { index: number; uptime: number }[][] = [];
  let run: { index: number; uptime: number }[] | undefined;
  for (const [index, { uptime }] of points.entries()) {
    if (uptime === null) run = undefined;
    else {
      if (!run) runs.push((run = []));
      run.push({ index, uptime });
    }
  }
  return runs;
}

/** "100 %, except 13 Nov 2026 99.96 %". */
function describe(points: readonly UptimePoint[]): string {
  const others = points.filter(({ uptime }) => uptime !== null && uptime < 1);
  if (others.length === 0) return "100 %";
  return `100 %, except ${others.map(({ name, uptime }) => `${name} ${percent(uptime, 2)}`).join(", ")}`;
}

/** Value of a line of the scale; only the first one has the unit. */
function labelOf(share: number, floor: number): string {
  if (share === 1) return "100 %";
  return (share * 100).toFixed(floor >= 0.99 ? 2 : 1);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
