import { ticksFor } from "./ticks";

/** A moment, or a span of time, of a chart. */
export interface ChartPoint {
  /** Time of the point, as text. */
  name: string;
  /** For each line; null where nothing is known. */
  values: readonly (number | null)[];
  /** Text of the mark below the point, such as "3 of 60"; no mark if omitted. */
  mark?: string | undefined;
}

interface LineChartProps {
  /** Accessible name of the chart. */
  name: string;
  /** Names of the lines, two at most. The first is drawn stronger. */
  lines: readonly string[];
  /** Name of the marks below the points. */
  marks: string;
  /** Oldest first. */
  points: readonly ChartPoint[];
  /** A value with its unit. */
  write: (value: number) => string;
  /** Labels below the two ends. */
  ends: readonly [string, string];
  note?: string | undefined;
}

const STEP = 10;
const HEIGHT = 100;
const DASH = 6;

/**
 * Lines over time, with marks at the foot for what should be looked at, and the same in a table behind
 * it. A line has a gap where nothing is known. One stop for the keyboard; the script's arrow keys go from
 * point to point and say it below.
 */
export function LineChart(props: LineChartProps) {
  const { name, lines, marks, points, write, ends, note } = props;
  const ticks = ticksFor(points.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const top = ticks.at(-1) ?? 1;
  return (
    <div class="day-bars line-chart">
      <p class="chart-legend">
        {lines.map((label, index) => (
          <span key={label}>
            <svg viewBox="0 0 24 8" aria-hidden="true">
              <path class={`line-${index}`} d="M1 4h22" />
            </svg>
            {label}
          </span>
        ))}
        <span>
          <svg viewBox="0 0 24 8" aria-hidden="true">
            <path class="chart-mark" d="M12 0v8" />
          </svg>
          {marks}
        </span>
      </p>
      <div class="chart-frame">
        <p class="chart-ticks" aria-hidden="true">
          {ticks.toReversed().map((tick) => (
            <span key={tick}>{write(tick)}</span>
          ))}
        </p>
        <svg
          viewBox={`0 0 ${points.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="group"
          aria-label={name}
        >
          <path class="chart-grid" d={gridOf(ticks, top, points.length)} />
          {/* The loudest last, above the others. */}
          {lines
            .map((label, index) => (
              <path key={label} class={`line-${index}`} d={lineOf(points, index, top)} />
            ))
            .toReversed()}
          <path class="chart-mark" d={marksOf(points)} />
          {points.map((point, index) => (
            <g
              key={point.name}
              class="chart-place"
              role="img"
              tabIndex={index === points.length - 1 ? 0 : -1}
              data-day
            >
              <title>{inWords(point, props)}</title>
              <rect x={index * STEP} width={STEP} height={HEIGHT} />
            </g>
          ))}
        </svg>
      </div>
      <p class="day-bars-foot">
        <span>{ends[0]}</span>
        <span data-day-note>{note}</span>
        <span>{ends[1]}</span>
      </p>
      <details class="day-table">
        <summary>{name} as a table</summary>
        <Lines {...props} />
      </details>
    </div>
  );
}

/** Newest first, as all tables of times. */
function Lines({ lines, marks, points, write }: LineChartProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">When</th>
          {lines.map((label) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
          <th scope="col">{marks}</th>
        </tr>
      </thead>
      <tbody>
        {points.toReversed().map((point) => (
          <tr key={point.name}>
            <th scope="row">{point.name}</th>
            {lines.map((label, index) => (
              <td key={label}>{written(point.values[index], write)}</td>
            ))}
            <td>{point.mark ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inWords({ name, values, mark }: ChartPoint, props: LineChartProps): string {
  const isKnown = values.some((value) => value !== null);
  const told = props.lines.map((label, index) => `${label} ${written(values[index], props.write)}`);
  const parts = [...(isKnown ? told : ["no answer"]), ...(mark ? [`${props.marks} ${mark}`] : [])];
  return `${name}: ${parts.join(", ")}`;
}

function written(value: number | null | undefined, write: LineChartProps["write"]): string {
  return value === null || value === undefined ? "–" : write(value);
}

function heightOf(value: number, top: number): number {
  return Math.round((1 - value / top) * HEIGHT * 10) / 10;
}

/** From the middle of a point to the middle of the next; one that stands alone is a dash. */
function lineOf(points: readonly ChartPoint[], line: number, top: number): string {
  const isKnown = (index: number) => (points[index]?.values[line] ?? null) !== null;
  return points
    .map(({ values }, index) => {
      const value = values[line] ?? null;
      if (value === null) return "";
      const [x, y] = [(index + 0.5) * STEP, heightOf(value, top)];
      if (isKnown(index - 1)) return `L${x} ${y}`;
      return isKnown(index + 1) ? `M${x} ${y}` : `M${x - DASH / 2} ${y}h${DASH}`;
    })
    .join("");
}

function gridOf(ticks: readonly number[], top: number, count: number): string {
  return ticks.map((tick) => `M0 ${heightOf(tick, top)}h${count * STEP}`).join("");
}

function marksOf(points: readonly ChartPoint[]): string {
  return points
    .map(({ mark }, index) => (mark ? `M${(index + 0.5) * STEP} ${HEIGHT}v-8` : ""))
    .join("");
}
