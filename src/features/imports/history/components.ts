import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { SYSTEM_ACTOR } from "../../../base/actor";
import type { ComponentStatus, OnDown } from "../../../base/status";
import { SECOND_MS, startOfDay } from "../../../base/time";
import { addPastCauses, knowEarlier } from "../../components/past";
import { type ComponentOnPage, findComponent } from "../../components/store";
import type { Interval } from "../../components/history";
import { knownFrom } from "../../components/rules";
import {
  insertPastNoData,
  listMonitorsOfComponent,
  listSpans,
  type SpanRow,
} from "../../monitors/checks-store";
import { listComponentsOfMonitors } from "../../monitors/store";
import { longestSilence, type PastSpan } from "./timeline";

/** Component of a monitor, and the time (unix ms) from which it is known without the monitor's history. */
interface PastComponent {
  row: ComponentOnPage;
  knownFrom: number;
}

/** Lists the components of a monitor. */
export function componentsOf(reader: Reader, monitorId: string): PastComponent[] {
  const listed = listComponentsOfMonitors(reader, { monitorIds: JSON.stringify([monitorId]) });
  return listed.flatMap(({ id }) => {
    const row = findComponent(reader, { id });
    return row ? [{ row, knownFrom: knownFrom(row) }] : [];
  });
}

/** Gives components the statuses of a monitor's spans, as far as they were not known yet. */
export function addCausesOfSpans(
  tx: Tx,
  components: readonly PastComponent[],
  monitor: { id: string; onDown: OnDown },
  spans: readonly PastSpan[],
): void {
  for (const { row, knownFrom: end } of components) {
    const causes = spans.flatMap(({ state, startedAt, endedAt }) => {
      const status = statusOf(state, monitor.onDown);
      if (!status || startedAt >= end) return [];
      const cause = { status, startedAt, endedAt: Math.min(endedAt, end) };
      return [{ ...cause, componentId: row.id, sourceId: monitor.id }];
    });
    addPastCauses(tx, causes);
  }
}

function statusOf(state: PastSpan["state"], onDown: OnDown): ComponentStatus | undefined {
  if (state === "down") return onDown;
  return state === "maintenance" ? "under_maintenance" : undefined;
}

/**
 * Lets components be known from the first day of their monitors' history on. Times in which nothing was known of any
 * of their monitors are without data. A component with monitors in `waiting` (numbers) is left to the last of them.
 */
export function extendComponents(
  ctx: Ctx,
  tx: Tx,
  components: readonly PastComponent[],
  waiting: ReadonlySet<number>,
): void {
  for (const { row } of components) {
    const monitors = listMonitorsOfComponent(tx, { componentId: row.id });
    if (monitors.some(({ num }) => waiting.has(num))) continue;
    const end = knownFrom(row);
    const nums = JSON.stringify(monitors.map(({ num }) => num));
    const known = listSpans(tx, { nums, from: 0, to: end }).flatMap(({ row: span }) =>
      isKnown(span) ? [{ from: span.startedAt, to: Math.min(span.endedAt ?? end, end) }] : [],
    );
    known.sort((a, b) => a.from - b.from);
    const from = startOfDay(known[0]?.from ?? end);
    if (from >= end) continue;
    const intervals = monitors.map(({ intervalSeconds }) => (intervalSeconds ?? 0) * SECOND_MS);
    const silence = longestSilence(Math.max(...intervals));
    const gaps = complementOf(known, { from, to: end }).filter(
      ({ startedAt, endedAt }) => (endedAt ?? end) - startedAt > silence,
    );
    insertPastNoData(
      tx,
      gaps.map((gap) => ({ componentId: row.id, ...gap })),
    );
    const reason = { source: "import", actor: SYSTEM_ACTOR, reason: null, notify: false } as const;
    knowEarlier(ctx, tx, row, from, reason);
  }
}

function isKnown({ state }: SpanRow): boolean {
  return state !== "no_data" && state !== "pending" && state !== "paused";
}

/** Returns the times between spans, which are in the order of their starts, within a span. */
function complementOf(
  spans: readonly { from: number; to: number }[],
  within: { from: number; to: number },
): Interval[] {
  const gaps: Interval[] = [];
  let at = within.from;
  for (const { from, to } of [...spans, { from: within.to, to: within.to }]) {
    if (from > at) gaps.push({ startedAt: at, endedAt: from });
    at = Math.max(at, to);
  }
  return gaps;
}
