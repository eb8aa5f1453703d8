import type { ComponentChildren } from "preact";
import { sum } from "../base/numbers";
import type { Tone } from "../base/status";

/** Width of a bar with its gap, and height of a chart, in units of its view box. */
const STEP = 10;
const HEIGHT = 100;

/** Leading digits of the highest value of a scale. */
const TOPS = [1, 2, 3, 4, 6, 8, 10];

/** Returns the three values of a scale: 0, its middle and a round number not below any of the values. */
function ticksFor(values: readonly number[]): number[] {
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
function ChartFrame(props: ChartFrameProps) {
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
function ChartSlot({ index, count, title, children }: ChartSlotProps) {
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

interface BarChartProps {
  /** Accessible name of the chart. */
  name: string;
  /** Segments of a bar from the bottom up, each in the colour of a tone. */
  parts: readonly { label: string; tone: Tone }[];
  /** Bars, oldest first: time as text, and a count for each segment. */
  bars: readonly { name: string; counts: readonly number[] }[];
}

/** Width of a bar; the rest of its step is a gap. */
const WIDTH = 6;

/** Counts over time as stacked bars. The screen must also show them in a table. */
export function BarChart({ name, parts, bars }: BarChartProps) {
  const ticks = ticksFor(bars.map(({ counts }) => sum(counts)));
  const top = ticks.at(-1) ?? 1;
  const scale = (count: number) => Math.round((count / top) * HEIGHT * 10) / 10;
  return (
    <div class="day-bars bar-chart">
      <ChartFrame
        name={name}
        legend={parts.map(({ label, tone }) => (
          <span key={label}>
            <svg class={`day t-${tone}`} viewBox="0 0 24 8" aria-hidden="true">
              <rect x="8" width="8" height="8" />
            </svg>
            {label}
          </span>
        ))}
        ticks={ticks}
        write={(count) => count.toLocaleString("en")}
        count={bars.length}
        ends={[bars[0]?.name, bars.at(-1)?.name]}
      >
        {bars.map((bar, index) => (
          <ChartSlot key={bar.name} index={index} count={bars.length} title={textOf(bar, parts)}>
            {parts.map(({ label, tone }, part) => (
              <rect
                key={label}
                class={`chart-bar t-${tone}`}
                x={index * STEP + (STEP - WIDTH) / 2}
                y={HEIGHT - scale(sum(bar.counts.slice(0, part + 1)))}
                width={WIDTH}
                height={scale(bar.counts[part] ?? 0)}
              />
            ))}
          </ChartSlot>
        ))}
      </ChartFrame>
    </div>
  );
}

/** Returns a bar as text: "May 2026: 1 critical, 2 minor", or "none" instead of the counts. */
function textOf(
  { name, counts }: BarChartProps["bars"][number],
  parts: BarChartProps["parts"],
): string {
  const texts = parts.flatMap(({ label }, index) => {
    const count = counts[index] ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString("en")} ${label.toLowerCase()}`];
  });
  return `${name}: ${texts.length === 0 ? "none" : texts.join(", ")}`;
}

/* Small charts of rows: one picture without a scale, which its label describes. */

/** Bars are three units wide, with a gap of one. */
const SMALL_STEP = 4;
const SMALL_WIDTH = 3;

const SPARKLINE_HEIGHT = 16;

interface SparklineProps {
  /** Oldest first. */
  values: readonly number[];
  /** Accessible description of the chart. */
  label: string;
}

/** Small bars, the highest as high as the picture. Zero is a dot. */
export function Sparkline({ values, label }: SparklineProps) {
  const highest = Math.max(0, ...values);
  return (
    <svg
      class="sparkline"
      viewBox={`${-SMALL_WIDTH / 2} 0 ${Math.max(1, values.length) * SMALL_STEP - 1} ${SPARKLINE_HEIGHT}`}
      width={Math.max(1, values.length) * SMALL_STEP - 1}
      height={SPARKLINE_HEIGHT}
      role="img"
      aria-label={label}
    >
      <path d={linesOf(values, highest)} />
      <path class="zero" d={dotsOf(values)} />
    </svg>
  );
}

/** Returns one path for all bars, as thick lines. Rectangles would add 2 % to the bytes of a status page. */
function linesOf(values: readonly number[], highest: number): string {
  return values
    .map((value, index) => {
      if (value === 0) return "";
      const height = Math.max(2, Math.round((value / highest) * SPARKLINE_HEIGHT));
      return `M${index * SMALL_STEP} ${SPARKLINE_HEIGHT}v-${height}`;
    })
    .join("");
}

function dotsOf(values: readonly number[]): string {
  return values
    .map((value, index) => (value === 0 ? `M${index * SMALL_STEP} ${SPARKLINE_HEIGHT}v-1` : ""))
    .join("");
}

const BEATS_HEIGHT = 20;

/** Heights of bars by tone, so that tones do not differ by colour alone. */
const BEAT_HEIGHTS: Readonly<Record<Tone, number>> = {
  none: 3,
  ok: 10,
  maint: 10,
  degraded: 15,
  partial: 20,
  major: 20,
};

interface HalfHourBarsProps {
  /** Tone of each period, oldest first. */
  tones: readonly Tone[];
  /** Accessible description of the bars. */
  label: string;
}

/** Bars for the periods of a day, higher for worse tones. Bars of one tone are one path. */
export function HalfHourBars({ tones, label }: HalfHourBarsProps) {
  return (
    <svg
      class="beats"
      viewBox={`0 0 ${Math.max(1, tones.length) * SMALL_STEP - 1} ${BEATS_HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {[...new Set(tones)].map((tone) => (
        <path key={tone} class={`t-${tone}`} d={beatsOf(tones, tone)} />
      ))}
    </svg>
  );
}

function beatsOf(tones: readonly Tone[], tone: Tone): string {
  const height = BEAT_HEIGHTS[tone];
  const top = tone === "none" ? BEATS_HEIGHT - 6 : (BEATS_HEIGHT - height) / 2;
  return tones
    .map((each, index) =>
      each === tone
        ? `M${index * SMALL_STEP} ${top}h${SMALL_WIDTH}v${height}h-${SMALL_WIDTH}z`
        : "",
    )
    .join("");
}
