import type { Tone } from "../base/status";
import { sum } from "../base/numbers";
import { ChartFrame, ChartSlot, HEIGHT, STEP, ticksFor } from "./chart-frame";

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
