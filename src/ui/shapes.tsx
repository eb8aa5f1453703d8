import type { Indicator } from "../features/status";
import type { ComponentStatus } from "../domain/component-status";

/** The word for each status, as people read it. */
export const STATUS_WORDS: Record<ComponentStatus, string> = {
  operational: "Operational",
  under_maintenance: "Under maintenance",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
};

// On one grid of 16 units. A status is a shape, a word and a colour, never a colour alone.
const OUTLINES: Record<ComponentStatus, string> = {
  operational: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Z",
  under_maintenance: "M3 3h10v10H3Z",
  degraded_performance: "M8 1l7 7-7 7-7-7Z",
  partial_outage: "M8 2l7 12H1Z",
  major_outage: "M4 2l4 4 4-4 2 2-4 4 4 4-2 2-4-4-4 4-2-2 4-4-4-4Z",
};

/** The shape of a status, for the eye only: a word always stands beside it. */
export function StatusShape({ status }: { status: ComponentStatus }) {
  return (
    <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
      <path d={OUTLINES[status]} />
    </svg>
  );
}

/** The status whose shape stands for a severity of the headline. */
const INDICATOR_STATUSES: Record<Indicator, ComponentStatus> = {
  none: "operational",
  maintenance: "under_maintenance",
  minor: "partial_outage",
  major: "major_outage",
  critical: "major_outage",
};

/** The shape of a headline's severity, for the eye only: its sentence always stands beside it. */
export function IndicatorShape({ indicator }: { indicator: Indicator }) {
  return <StatusShape status={INDICATOR_STATUSES[indicator]} />;
}

/** A status in shape, word and colour. */
export function StatusLabel({ status }: { status: ComponentStatus }) {
  return (
    <span class={`state is-${status}`}>
      <StatusShape status={status} />
      {STATUS_WORDS[status]}
    </span>
  );
}
