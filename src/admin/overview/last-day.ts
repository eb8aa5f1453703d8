import type { Reader } from "../../db/statements";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  STATUS_TONES,
  type Tone,
} from "../../base/status";
import { foldSpans, type Span } from "../../features/components/history";
import { listCausesBetween, listTroubledComponents } from "../../features/components/trouble-store";
import { sum } from "../../base/numbers";
import { DAY_MS, MINUTE_MS } from "../../base/time";
import type { CurrentState, ShownComponent } from "./current-state";

/** Maximum number of lanes; the other components are counted. */
const LANES_MAX = 8;
/** Minutes in a step. A step is drawn in the tone of its worst status. */
const STEP_MINUTES = 5;
const STEP_MS = STEP_MINUTES * MINUTE_MS;

/** Last 24 hours of a component that was not always operational. */
export interface Lane {
  component: ShownComponent;
  /** Times in which it was not operational, in minutes since the start. */
  spans: readonly { from: number; length: number; tone: Tone }[];
  /** Time in which it was not operational, in ms. */
  troubledMs: number;
}

export interface LastDay {
  /** Start in unix ms. */
  from: number;
  /** Worst first, then longest: 8 at most. */
  lanes: readonly Lane[];
  /** Number of components that were not operational and have no lane. */
  hiddenCount: number;
  /** Number of components that were always operational. */
  wellCount: number;
}

/** Reads the last 24 hours of all components from their causes. */
export function readLastDay(reader: Reader, state: CurrentState, now: number): LastDay {
  const since = now - DAY_MS;
  const components = new Map(state.components.map((one) => [one.id, one]));
  const troubled = listTroubledComponents(reader, { since, now, limit: LANES_MAX });
  const ids = JSON.stringify(troubled.map(({ id }) => id));
  const causes = Map.groupBy(
    troubled.length === 0 ? [] : listCausesBetween(reader, { ids, since, now }),
    ({ componentId }) => componentId,
  );
  const lanes = troubled.flatMap(({ id }) => {
    const component = components.get(id);
    return component ? [laneOf(component, causes.get(id) ?? [], { from: since, to: now })] : [];
  });
  const total = troubled[0]?.total ?? 0;
  return {
    from: since,
    lanes,
    hiddenCount: total - troubled.length,
    wellCount: Math.max(0, components.size - total),
  };
}

/** Period in which a component has a status. */
interface Cause {
  status: ComponentStatus;
  startedAt: number;
  endedAt: number | null;
}

function laneOf(component: ShownComponent, causes: readonly Cause[], span: Span): Lane {
  const [folded] = foldSpans(causes, span, [span]);
  const bad = COMPONENT_STATUSES.filter((status) => status !== "operational");
  return {
    component,
    spans: spansOf(causes, span),
    troubledMs: sum(bad.map((status) => folded?.time[status] ?? 0)),
  };
}

/** Returns the spans of the worst status in each step, joined where it stays the same. */
function spansOf(causes: readonly Cause[], { from, to }: Span): Lane["spans"] {
  const steps = Array.from({ length: Math.ceil((to - from) / STEP_MS) }, (_, index) => ({
    from: from + index * STEP_MS,
    to: Math.min(to, from + (index + 1) * STEP_MS),
  }));
  const spans: { from: number; length: number; tone: Tone }[] = [];
  for (const [index, { time }] of foldSpans(causes, { from, to }, steps).entries()) {
    const status = COMPONENT_STATUSES.findLast((each) => time[each] > 0) ?? "operational";
    if (status === "operational") continue;
    const tone = STATUS_TONES[status];
    const start = index * STEP_MINUTES;
    const last = spans.at(-1);
    if (last?.tone === tone && last.from + last.length === start) last.length += STEP_MINUTES;
    else spans.push({ from: start, length: STEP_MINUTES, tone });
  }
  return spans;
}
