import type { Tone } from "../base/status";

const HEIGHT = 20;
/** Bars are three units wide, with a gap of one. */
const STEP = 4;
const WIDTH = 3;

/** Heights of bars by tone, so that tones do not differ by colour alone. */
const HEIGHTS: Readonly<Record<Tone, number>> = {
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
      viewBox={`0 0 ${Math.max(1, tones.length) * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {[...new Set(tones)].map((tone) => (
        <path key={tone} class={`t-${tone}`} d={barsOf(tones, tone)} />
      ))}
    </svg>
  );
}

function barsOf(tones: readonly Tone[], tone: Tone): string {
  const height = HEIGHTS[tone];
  const top = tone === "none" ? HEIGHT - 6 : (HEIGHT - height) / 2;
  return tones
    .map((each, index) =>
      each === tone ? `M${index * STEP} ${top}h${WIDTH}v${height}h-${WIDTH}z` : "",
    )
    .join("");
}
