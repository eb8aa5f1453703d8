import type { ComponentChildren } from "preact";
import type { ComponentStatus } from "../domain/component-status";
import type { CheckOutcome, MonitorState } from "../domain/monitor-state";
import type { Indicator } from "../features/status";
import type { Tone } from "./pictures";

/** Names of component statuses. */
export const STATUS_WORDS: Record<ComponentStatus, string> = {
  operational: "Operational",
  under_maintenance: "Under maintenance",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
};

/** Outlines on a grid of 16 units. A status is a shape, a word and a colour, never a colour alone. */
const STATUS_OUTLINES: Record<ComponentStatus, string> = {
  operational: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Z",
  under_maintenance: "M3 3h10v10H3Z",
  degraded_performance: "M8 1l7 7-7 7-7-7Z",
  partial_outage: "M8 2l7 12H1Z",
  major_outage: "M4 2l4 4 4-4 2 2-4 4 4 4-2 2-4-4-4 4-2-2 4-4-4-4Z",
};

/** Shape, colour and name of a component status. */
export function StatusLabel({ status }: { status: ComponentStatus }) {
  return (
    <span class={`state is-${status}`}>
      <Shape outline={STATUS_OUTLINES[status]} />
      {STATUS_WORDS[status]}
    </span>
  );
}

/** Statuses with the shapes of the headline's indicators. */
const INDICATOR_STATUSES: Record<Indicator, ComponentStatus> = {
  none: "operational",
  maintenance: "under_maintenance",
  minor: "partial_outage",
  major: "major_outage",
  critical: "major_outage",
};

/** Shape of an indicator. Hidden from screen readers, since a text always follows. */
export function IndicatorShape({ indicator }: { indicator: Indicator }) {
  return <Shape outline={STATUS_OUTLINES[INDICATOR_STATUSES[indicator]]} />;
}

/** Names of monitor states. */
export const MONITOR_WORDS: Record<MonitorState, string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Under maintenance",
  no_data: "No data",
  pending: "Not checked yet",
  paused: "Paused",
};

/** Component statuses with the same look as monitor states. */
const STATE_STATUSES: Partial<Record<MonitorState, ComponentStatus>> = {
  up: "operational",
  degraded: "degraded_performance",
  down: "major_outage",
  maintenance: "under_maintenance",
};

const RING = "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Zm0 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z";

/** Outlines of the monitor states without a result. */
const STATE_OUTLINES: Partial<Record<MonitorState, string>> = {
  no_data: RING,
  pending: "M1.5 6.5h3v3h-3Zm5 0h3v3h-3Zm5 0h3v3h-3Z",
  paused: "M3.5 3H7v10H3.5ZM9 3h3.5v10H9Z",
};

/** Shape, colour and name of a monitor state. */
export function MonitorLabel({ state }: { state: MonitorState }) {
  return <StateLabel state={state} word={MONITOR_WORDS[state]} />;
}

const OUTCOMES: Record<CheckOutcome, { state: MonitorState; word: string }> = {
  ok: { state: "up", word: "OK" },
  failed: { state: "down", word: "Failed" },
  unknown: { state: "no_data", word: "Unknown" },
};

/** Shape, colour and name of the outcome of a check. */
export function CheckLabel({ outcome }: { outcome: CheckOutcome }) {
  return <StateLabel {...OUTCOMES[outcome]} />;
}

function StateLabel({ state, word }: { state: MonitorState; word: string }) {
  const status = STATE_STATUSES[state];
  return (
    <span class={`state is-${status ?? "unknown"}`}>
      <Shape outline={status ? STATUS_OUTLINES[status] : (STATE_OUTLINES[state] ?? RING)} />
      {word}
    </span>
  );
}

function Shape({ outline }: { outline: string }) {
  return (
    <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
      <path d={outline} />
    </svg>
  );
}

interface ChipProps {
  tone?: Tone;
  /** True if the text is an identifier, set in the code font. */
  isCode?: boolean;
  children: ComponentChildren;
}

/** Short property in a rounded box, such as a scope or a role. */
export function Chip({ tone, isCode, children }: ChipProps) {
  const classes = ["chip", tone ? `tone-${tone}` : "", isCode ? "mono" : ""];
  return <span class={classes.filter(Boolean).join(" ")}>{children}</span>;
}

interface WithChipProps {
  chip: ComponentChildren;
  children: ComponentChildren;
}

/** Name with a chip after it, or below if the line is too short. */
export function WithChip({ chip, children }: WithChipProps) {
  return (
    <span class="with-chip">
      <span>{children}</span>
      {chip}
    </span>
  );
}

/** Row of `Chip`s. */
export function Chips({ children }: { children: ComponentChildren }) {
  return <span class="chips">{children}</span>;
}
