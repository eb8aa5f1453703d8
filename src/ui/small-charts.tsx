/* Small charts of rows: one picture without a scale, which its label describes. */
import type { Tone } from "../base/status";

/** Bars are three units wide, with a gap of one. */
const STEP = 4;
const WIDTH = 3;

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
      viewBox={`${-WIDTH / 2} 0 ${Math.max(1, values.length) * STEP - 1} ${SPARKLINE_HEIGHT}`}
      width={Math.max(1, values.length) * STEP - 1}
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
      return `M${index * STEP} ${SPARKLINE_HEIGHT}v-${height}`;
    })
    .join("");
}

function dotsOf(values: readonly number[]): string {
  return values
    .map((value, index) => (value === 0 ? `M${index * STEP} ${SPARKLINE_HEIGHT}v-1` : ""))
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
      viewBox={`0 0 ${Math.max(1, tones.length) * STEP - 1} ${BEATS_HEIGHT}`}
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
      each === tone ? `M${index * STEP} ${top}h${WIDTH}v${height}h-${WIDTH}z` : "",
    )
    .join("");
}
