import type { Reader } from "../../db";
import { COMPONENT_STATUSES, type ComponentStatus } from "../../domain/component-status";
import { STATUS_TONES, type Tone, TONES } from "../../domain/tone";
import { foldSpans, listCausesSince } from "../../features/components";
import { sum } from "../../kernel/numbers";
import { DAY_MS, MINUTE_MS } from "../../kernel/time";
import type { CurrentState, ShownComponent } from "./current-state";

/** Lanes shown; the other components are counted. */
const LANES_MAX = 8;
/** Causes that are read at most. */
const CAUSES_MAX = 5_000;
/** Length of a step: the worst status in it is drawn. */
const STEP_MS = 5 * MINUTE_MS;

/** Last 24 hours of a component that was not operational throughout. */
export interface Lane {
  component: ShownComponent;
  /** Spans that were not operational, in minutes since the start. */
  spans: readonly { from: number; length: number; tone: Tone }[];
  /** Time in which it was not operational, in ms. */
  troubledMs: number;
  worst: Tone;
}

export interface LastDay {
  /** Start in unix ms. */
  from: number;
  /** Worst first, then longest: 8 at most. */
  lanes: readonly Lane[];
  /** Number of components that were not operational and have no lane. */
  hiddenCount: number;
  /** Number of components that were operational throughout. */
  wellCount: number;
}

/** Reads the last 24 hours of all components from their causes. */
export function readLastDay(reader: Reader, { pages }: CurrentState, now: number): LastDay {
  const from = now - DAY_MS;
  const components = pages.flatMap(({ document }) => document.components);
  const causes = Map.groupBy(
    listCausesSince(reader, { since: from, limit: CAUSES_MAX }).filter(
      ({ status }) => status !== "operational",
    ),
    ({ componentId }) => componentId,
  );
  const troubled = components
    .filter(({ id }) => causes.has(id))
    .map((component) => {
      const own = causes.get(component.id) ?? [];
      const [folded] = foldSpans(own, { from, to: now }, [{ from, to: now }]);
      const statuses = COMPONENT_STATUSES.filter(
        (status) => status !== "operational" && (folded?.time[status] ?? 0) > 0,
      );
      const worst = STATUS_TONES[statuses.at(-1) ?? "operational"];
      const troubledMs = sum(statuses.map((status) => folded?.time[status] ?? 0));
      return { component, own, worst, troubledMs };
    })
    .filter(({ troubledMs }) => troubledMs > 0)
    .sort((a, b) => TONES.indexOf(b.worst) - TONES.indexOf(a.worst) || b.troubledMs - a.troubledMs);
  const lanes = troubled
    .slice(0, LANES_MAX)
    .map(({ own, ...lane }) => ({ ...lane, spans: spansOf(own, from, now) }));
  return {
    from,
    lanes,
    hiddenCount: troubled.length - lanes.length,
    wellCount: components.length - troubled.length,
  };
}

/** Returns the spans of the worst status in each step, joined where it stays the same. */
function spansOf(
  causes: readonly { status: ComponentStatus; startedAt: number; endedAt: number | null }[],
  from: number,
  to: number,
): Lane["spans"] {
  const steps = Array.from({ length: Math.ceil((to - from) / STEP_MS) }, (_, index) => ({
    from: from + index * STEP_MS,
    to: Math.min(to, from + (index + 1) * STEP_MS),
  }));
  const spans: { from: number; length: number; tone: Tone }[] = [];
  for (const [index, { time }] of foldSpans(causes, { from, to }, steps).entries()) {
    const status = COMPONENT_STATUSES.findLast((each) => time[each] > 0) ?? "operational";
    if (status === "operational") continue;
    const tone = STATUS_TONES[status];
    const start = (index * STEP_MS) / MINUTE_MS;
    const last = spans.at(-1);
    if (last?.tone === tone && last.from + last.length === start) last.length += 5;
    else spans.push({ from: start, length: 5, tone });
  }
  return spans;
}
