import type { Tone } from "../base/status";

/** Least width of a bar, in percent, so that a short step is visible. */
const WIDTH_MIN = 0.5;

interface StepBarProps {
  tone: Tone;
  /** Start and duration of the step within the whole, in percent. */
  start: number;
  share: number;
}

/** Bar of a step in the course of all steps. The screen must also show its duration. */
export function StepBar({ tone, start, share }: StepBarProps) {
  const width = Math.max(WIDTH_MIN, share);
  return (
    <svg
      class={`step-bar t-${tone}`}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="step-course" width="100" height="6" />
      <rect x={Math.min(start, 100 - width)} width={width} height="6" />
    </svg>
  );
}
