import { ChartFrame, ChartSlot, HEIGHT, heightOf, STEP, ticksFor } from "./chart-frame";

/** Values of a chart at a time, or in a span of time. */
export interface ChartPoint {
  /** Time of the point, as text. */
  name: string;
  /** Value for each line, or null. */
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
  /** Returns a value with its unit. */
  write: (value: number) => string;
  /** Labels below the two ends. */
  ends: readonly [string, string];
  note?: string | undefined;
}

/** Length of a line with only one point. */
const DASH = 6;

/** Lines over time with marks below some points, and a table of the same. Null values are gaps. */
export function LineChart(props: LineChartProps) {
  const { name, lines, marks, points, write, ends, note } = props;
  const ticks = ticksFor(points.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const top = ticks.at(-1) ?? 1;
  const legend = (
    <>
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
    </>
  );
  return (
    <div class="day-bars line-chart">
      <ChartFrame count={points.length} {...{ name, legend, ticks, write, ends, note }}>
        {/* The first line is drawn last, above the other. */}
        {lines
          .map((label, index) => (
            <path key={label} class={`line-${index}`} d={pathOfLine(points, index, top)} />
          ))
          .toReversed()}
        <path class="chart-mark" d={pathOfMarks(points)} />
        {points.map((point, index) => (
          <ChartSlot
            key={point.name}
            index={index}
            count={points.length}
            title={textOf(point, props)}
          />
        ))}
      </ChartFrame>
      <details class="day-table">
        <summary>{name} as a table</summary>
        <PointTable {...props} />
      </details>
    </div>
  );
}

/** Table of the points, newest first. */
function PointTable({ lines, marks, points, write }: LineChartProps) {
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
              <td key={label}>{textOfValue(point.values[index], write)}</td>
            ))}
            <td>{point.mark ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** "14:00 UTC: Median 90 ms, 95th percentile 120 ms, Failed checks 3 of 60". */
function textOf({ name, values, mark }: ChartPoint, props: LineChartProps): string {
  const isKnown = values.some((value) => value !== null);
  const texts = isKnown
    ? props.lines.map((label, index) => `${label} ${textOfValue(values[index], props.write)}`)
    : ["no answer"];
  return `${name}: ${[...texts, ...(mark ? [`${props.marks} ${mark}`] : [])].join(", ")}`;
}

function textOfValue(value: number | null | undefined, write: LineChartProps["write"]): string {
  return value === null || value === undefined ? "–" : write(value);
}

/** Returns the path through the middles of the points. A point without neighbours is a dash. */
function pathOfLine(points: readonly ChartPoint[], line: number, top: number): string {
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

function pathOfMarks(points: readonly ChartPoint[]): string {
  return points
    .map(({ mark }, index) => (mark ? `M${(index + 0.5) * STEP} ${HEIGHT}v-8` : ""))
    .join("");
}
