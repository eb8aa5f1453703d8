import type { ComponentChildren } from "preact";
import { round } from "./time-chart-paths";

/** Width of a plot in units of its drawing. */
export const PLOT_WIDTH = 960;

interface TimeFrameProps {
  /** Accessible name of the plot. */
  name: string;
  /** Height of the plot in units of its drawing. */
  height: number;
  /** Texts of the lines of the scale, from the highest. */
  labels: readonly string[];
  /** Labels of the time axis, each at a share of the width from 0 to 1. */
  ticks: readonly { share: number; label: string }[];
  /** Picture between the plot and its time axis, with its name. */
  strip?: { name: string; picture: ComponentChildren };
  /** Content of the plot, above the lines of the scale. */
  children: ComponentChildren;
}

/** Scale, plot and time axis of a chart over time. A script shows the text of the selected `PlotSlot`. */
export function TimeFrame({ name, height, labels, ticks, strip, children }: TimeFrameProps) {
  const distance = height / Math.max(1, labels.length - 1);
  return (
    <>
      <div class="time-frame">
        <div class="time-labels" aria-hidden="true">
          {labels.map((label) => (
            <span key={label}>{label}</span>
          ))}
        </div>
        <svg
          class="time-plot"
          viewBox={`0 0 ${PLOT_WIDTH} ${height}`}
          preserveAspectRatio="none"
          role="group"
          aria-label={name}
        >
          <path
            class="time-grid"
            d={labels.map((_label, index) => `M0 ${distance * index}h${PLOT_WIDTH}`).join("")}
          />
          {children}
        </svg>
        {strip ? (
          <>
            <span class="time-strip-name" aria-hidden="true">
              {strip.name}
            </span>
            {strip.picture}
          </>
        ) : null}
        <svg class="time-ticks" aria-hidden="true">
          {ticks.map(({ share, label }) => (
            <text key={label} x={`${round(share * 100)}%`} y="12">
              {label}
            </text>
          ))}
        </svg>
      </div>
      <p class="time-note" data-day-note />
    </>
  );
}

interface PlotSlotProps {
  left: number;
  width: number;
  height: number;
  /** True for the only slot that Tab reaches; a script adds the arrow keys. */
  isTabStop: boolean;
  /** Text of the time and its figures. */
  title: string;
}

/** Area of one time of a plot, with its text. */
export function PlotSlot({ left, width, height, isTabStop, title }: PlotSlotProps) {
  return (
    <g class="chart-slot" role="img" tabIndex={isTabStop ? 0 : -1} data-day>
      <title>{title}</title>
      <rect x={left} width={Math.max(0, width)} height={height} />
    </g>
  );
}
