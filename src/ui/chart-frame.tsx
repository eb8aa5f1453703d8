import type { ComponentChildren } from "preact";

/** Width of a bar with its gap, and height of a chart, in units of its view box. */
export const STEP = 10;
export const HEIGHT = 100;

/** Leading digits of the highest value of a scale. */
const TOPS = [1, 2, 3, 4, 6, 8, 10];

/** Returns the three values of a scale: 0, its middle and a round number not below any of the values. */
export function ticksFor(values: readonly number[]): number[] {
  const highest = values.reduce((high, value) => Math.max(high, value), 0);
  const least = Math.max(2, highest);
  const unit = 10 ** Math.floor(Math.log10(least));
  const top = unit * (TOPS.find((each) => each * unit >= least && (each * unit) % 2 === 0) ?? 10);
  return [0, top / 2, top];
}

interface ChartFrameProps {
  /** Accessible name of the chart. */
  name: string;
  /** Items of the legend. */
  legend: ComponentChildren;
  /** Values of the scale, from 0 up. */
  ticks: readonly number[];
  /** Returns the text of a value. */
  write: (value: number) => string;
  /** Number of bars. */
  count: number;
  /** Labels below the two ends. */
  ends: readonly [string | undefined, string | undefined];
  /** Content of the drawing, above the lines of the scale. */
  children: ComponentChildren;
}

/** Legend, scale and captions of a chart. A script shows the text of the selected bar. */
export function ChartFrame(props: ChartFrameProps) {
  const { name, legend, ticks, write, count, ends, children } = props;
  const top = ticks.at(-1) ?? 1;
  const width = count * STEP;
  return (
    <>
      <p class="chart-legend">{legend}</p>
      <div class="chart-frame">
        <p class="chart-ticks" aria-hidden="true">
          {ticks.toReversed().map((tick) => (
            <span key={tick}>{write(tick)}</span>
          ))}
        </p>
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="group"
          aria-label={name}
        >
          <path
            class="chart-grid"
            d={ticks.map((tick) => `M0 ${heightOf(tick, top)}h${width}`).join("")}
          />
          {children}
        </svg>
      </div>
      <p class="day-bars-foot">
        <span>{ends[0]}</span>
        <span data-day-note />
        <span>{ends[1]}</span>
      </p>
    </>
  );
}

interface ChartSlotProps {
  index: number;
  /** Number of bars. */
  count: number;
  /** Text of the bar. */
  title: string;
  children?: ComponentChildren;
}

/** Area of one bar. Only the last can be reached by Tab; a script adds the arrow keys. */
export function ChartSlot({ index, count, title, children }: ChartSlotProps) {
  return (
    <g class="chart-slot" role="img" tabIndex={index === count - 1 ? 0 : -1} data-day>
      <title>{title}</title>
      <rect x={index * STEP} width={STEP} height={HEIGHT} />
      {children}
    </g>
  );
}

/** Returns the distance of a value from the top of a chart whose highest value is `top`. */
function heightOf(value: number, top: number): number {
  return Math.round((1 - value / top) * HEIGHT * 10) / 10;
}
