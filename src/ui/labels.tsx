import type { ComponentChildren } from "preact";
import {
  type CheckOutcome,
  type ComponentStatus,
  MONITOR_TONES,
  type MonitorState,
  STATUS_TONES,
  type Tone,
} from "../base/status";

/** Names of component statuses. */
export const STATUS_WORDS: Record<ComponentStatus, string> = {
  operational: "Operational",
  under_maintenance: "Under maintenance",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
};

/** Shape, colour and name of a component status. */
export function StatusLabel({ status }: { status: ComponentStatus }) {
  return <State tone={STATUS_TONES[status]}>{STATUS_WORDS[status]}</State>;
}

/** Names of monitor states. */
export const MONITOR_WORDS: Record<MonitorState, string> = {
  up: "Up",
  degraded: "Slow",
  down: "Down",
  unreachable: "Unreachable",
  maintenance: "Maintenance",
  no_data: "No data",
  pending: "Not checked yet",
  paused: "Paused",
};

/** Shape, colour and name of a monitor state. */
export function MonitorLabel({ state }: { state: MonitorState }) {
  return (
    <State tone={MONITOR_TONES[state]} isPaused={state === "paused"}>
      {MONITOR_WORDS[state]}
    </State>
  );
}

const OUTCOMES: Record<CheckOutcome, { tone: Tone; word: string }> = {
  ok: { tone: "ok", word: "OK" },
  failed: { tone: "major", word: "Failed" },
  unknown: { tone: "none", word: "Unknown" },
};

/** Shape, colour and name of the outcome of a check. */
export function CheckLabel({ outcome }: { outcome: CheckOutcome }) {
  const { tone, word } = OUTCOMES[outcome];
  return <State tone={tone}>{word}</State>;
}

interface StateProps {
  tone: Tone;
  /** True for something that a person has switched off. */
  isPaused?: boolean;
  children: ComponentChildren;
}

/** State in words, after the shape and in the colour of its tone. */
export function State({ tone, isPaused, children }: StateProps) {
  return (
    <span class={`state t-${tone}`}>
      <Shape tone={tone} {...(isPaused ? { isPaused } : {})} />
      {children}
    </span>
  );
}

/** Outlines on a grid of 16 units. */
const OUTLINES: Record<Tone | "paused", string> = {
  ok: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Z",
  maint:
    "M4 2.75h8A1.25 1.25 0 0 1 13.25 4v8A1.25 1.25 0 0 1 12 13.25H4A1.25 1.25 0 0 1 2.75 12V4A1.25 1.25 0 0 1 4 2.75Z",
  degraded: "M8 1.75 14.25 8 8 14.25 1.75 8Z",
  partial: "M8 2.25 14.25 13.25H1.75Z",
  major:
    "M4.5 2.25 8 5.75l3.5-3.5 2.25 2.25L10.25 8l3.5 3.5-2.25 2.25L8 10.25l-3.5 3.5L2.25 11.5 5.75 8l-3.5-3.5Z",
  none: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11Z",
  paused: "M4.5 3.5v9M11.5 3.5v9",
};

/** Shape of a tone. Hidden from screen readers, since a text always follows. */
export function Shape({ tone, isPaused }: { tone: Tone; isPaused?: boolean }) {
  return (
    <svg
      class={`shape t-${tone}${tone === "none" ? " hollow" : ""}`}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={OUTLINES[isPaused ? "paused" : tone]} />
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
  const classes = ["chip", tone ? `t-${tone}` : "", isCode ? "mono" : ""];
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
