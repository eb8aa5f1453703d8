import type { ComponentStatus } from "../domain/component-status";
import type { CheckOutcome, MonitorState } from "../domain/monitor-state";
import { StatusShape } from "./shapes";

/** The word for each state of a monitor, as people read it. */
export const MONITOR_WORDS: Record<MonitorState, string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Under maintenance",
  no_data: "No data",
  pending: "Not checked yet",
  paused: "Paused",
};

/** The states that a component can be in too: they look the same. */
const STATUSES: Partial<Record<MonitorState, ComponentStatus>> = {
  up: "operational",
  degraded: "degraded_performance",
  down: "major_outage",
  maintenance: "under_maintenance",
};

const RING = "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Zm0 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z";

/** Of the states of which nothing is known. */
const OUTLINES: Partial<Record<MonitorState, string>> = {
  no_data: RING,
  pending: "M1.5 6.5h3v3h-3Zm5 0h3v3h-3Zm5 0h3v3h-3Z",
  paused: "M3.5 3H7v10H3.5ZM9 3h3.5v10H9Z",
};

/** A monitor's state in shape, word and colour. */
export function MonitorLabel({ state }: { state: MonitorState }) {
  return <Label state={state} word={MONITOR_WORDS[state]} />;
}

const OUTCOMES: Record<CheckOutcome, { state: MonitorState; word: string }> = {
  ok: { state: "up", word: "OK" },
  failed: { state: "down", word: "Failed" },
  unknown: { state: "no_data", word: "Not known" },
};

/** Outcome of one check, as shape, word and colour. */
export function CheckLabel({ outcome }: { outcome: CheckOutcome }) {
  return <Label {...OUTCOMES[outcome]} />;
}

function Label({ state, word }: { state: MonitorState; word: string }) {
  const status = STATUSES[state];
  return (
    <span class={`state is-${status ?? "unknown"}`}>
      {status ? (
        <StatusShape status={status} />
      ) : (
        <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
          <path d={OUTLINES[state] ?? RING} />
        </svg>
      )}
      {word}
    </span>
  );
}
