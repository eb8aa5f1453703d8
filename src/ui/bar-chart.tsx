import type { ComponentStatus } from "../domain/component-status";
import { ticksFor } from "./ticks";

interface BarChartProps {
  /** Accessible name of the chart. */
  name: string;
  /** Segments of a bar from the bottom up, each in the colour of a status. */
  parts: readonly { label: string; status: ComponentStatus }[];
  /** Oldest first: when it is, in words, and how many of each part. */
  bars: readonly { name: string; counts: readonly number[] }[];
}

const STEP = 10;
const WIDTH = 6;
const HEIGHT = 100;

/**
 * Counts over time, each bar in parts. The numbers stand in a table of the screen, in the same words. One
 * stop for the keyboard; the script's arrow keys go from bar to bar and say it below.
 */
export function BarChart({ name, parts, bars }: BarChartProps) {
  const ticks = ticksFor(bars.map(({ counts }) => sum(counts)));
  const top = ticks.at(-1) ?? 1;
  const scale = (count: number) => Math.round((count / top) * HEIGHT * 10) / 10;
  return (
    <div class="day-bars line-chart">
      <p class="chart-legend">
        {parts.map(({ label, status }) => (
          <span key={label}>
            <svg class={`day is-${status}`} viewBox="0 0 24 8" aria-hidden="true">
              <rect x="8" width="8" height="8" />
            </svg>
            {label}
          </span>
        ))}
      </p>
      <div class="chart-frame">
        <p class="chart-ticks" aria-hidden="true">
          {ticks.toReversed().map((tick) => (
            <span key={tick}>{tick.toLocaleString("en")}</span>
          ))}
        </p>
        <svg
          viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="group"
          aria-label={name}
        >
          <path
            class="chart-grid"
            d={ticks.map((tick) => `M0 ${HEIGHT - scale(tick)}h${bars.length * STEP}`).join("")}
          />
          {bars.map((bar, index) => (
            <g
              key={bar.name}
              class="chart-place"
              role="img"
              tabIndex={index === bars.length - 1 ? 0 : -1}
              data-day
            >
              <title>{inWords(bar, parts)}</title>
              <rect x={index * STEP} width={STEP} height={HEIGHT} />
              {parts.map(({ label, status }, part) => (
                <rect
                  key={label}
                  class={`chart-bar is-${status}`}
                  x={index * STEP + (STEP - WIDTH) / 2}
                  y={HEIGHT - scale(sum(bar.counts.slice(0, part + 1)))}
                  width={WIDTH}
                  height={scale(bar.counts[part] ?? 0)}
                />
              ))}
            </g>
          ))}
        </svg>
      </div>
      <p class="day-bars-foot">
        <span>{bars[0]?.name}</span>
        <span data-day-note />
        <span>{bars.at(-1)?.name}</span>
      </p>
    </div>
  );
}

function inWords(
  { name, counts }: BarChartProps["bars"][number],
  parts: BarChartProps["parts"],
): string {
  const told = parts.flatMap(({ label }, index) => {
    const count = counts[index] ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString("en")} ${label.toLowerCase()}`];
  });
  return `${name}: ${told.length === 0 ? "none" : told.join(", ")}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
