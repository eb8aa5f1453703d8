import type { Tx } from "../../db";
import { SYSTEM_ACTOR } from "../../domain/actor";
import {
  addUpdateRow,
  withStatus,
  plannedNotify,
  refreshCauses,
  saveChange,
  type Services,
  recordChange,
} from "./change";
import { recordMaintenanceEvent } from "./event";
import { getMaintenance, getMaintenanceRecord } from "./records";
import { type DueTransition, dueTransitions } from "./rules";
import { listDue } from "./due-store";
import { updateMaintenanceRow } from "./store";

/**
 * Limits of one call, which keep transactions short: transitions, and components that they change.
 */
const STEPS_AT_ONCE = 50;
const COMPONENTS_AT_ONCE = 200;

interface Step extends DueTransition {
  id: string;
  /** True if both its start and its end are due, in one call or two. */
  isMissedWhole: boolean;
}

/**
 * Does all that the clock owes at `now` (unix ms), in the order of time, with the system as its actor:
 * reminders, beginnings and ends, each at its own time, also of a window that was missed whole. Takes at
 * most 50 steps, fewer where they mark many components, and answers whether there may be more.
 */
export function advanceMaintenance(ctx: Services, tx: Tx, now: number): boolean {
  const steps = dueSteps(tx, now);
  const taken = new Set<string>();
  let marked = 0;
  let mayBeMore = steps.length === STEPS_AT_ONCE;
  for (const step of steps) {
    // What was missed whole begins and ends in the same call, or it would be shown in between.
    const isOwed = step.isMissedWhole && taken.has(step.id);
    if (marked >= COMPONENTS_AT_ONCE && !isOwed) {
      mayBeMore = true;
      continue;
    }
    taken.add(step.id);
    marked += ctx.outbox.group(tx, () => takeStep(ctx, tx, step, now));
  }
  return mayBeMore;
}

/**
 * The first steps of all. Looking at as many maintenances as there are steps to take is enough: each
 * of them has one that is due no later than any of the others'.
 */
function dueSteps(tx: Tx, now: number): Step[] {
  return listDue(tx, { now, limit: STEPS_AT_ONCE })
    .flatMap(({ row }) => {
      const due = dueTransitions(row, now);
      const isMissedWhole = due.some(isStart) && due.some(isEnd);
      return due.map((each): Step => ({ ...each, id: row.id, isMissedWhole }));
    })
    .sort((a, b) => a.at - b.at || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    .slice(0, STEPS_AT_ONCE);
}

const isStart = ({ kind }: DueTransition) => kind === "start";
const isEnd = ({ kind }: DueTransition) => kind === "complete";

/** At the same moment beginnings come first: what one maintenance hands to the next stays marked. */
const ORDER: readonly DueTransition["kind"][] = ["start", "complete", "reminder"];

/** Takes one step, and answers how many components it marks. */
function takeStep(ctx: Services, tx: Tx, step: Step, now: number): number {
  const { id, kind, at, isMissedWhole } = step;
  const { row, updates, components } = getMaintenanceRecord(tx, id);
  const notify = plannedNotify(tx, id);
  if (kind === "reminder") {
    // Nothing that is shown changes, so the version stays.
    updateMaintenanceRow(tx, { ...row, remindedAt: now });
    recordMaintenanceEvent(ctx, tx, "maintenance.reminder", getMaintenance(ctx, tx, id), notify);
    return 0;
  }
  const isBeginning = isStart(step);
  const status = isBeginning ? "in_progress" : "completed";
  const after = withStatus(row, status, at);
  saveChange(ctx, tx, after);
  addUpdateRow(ctx, tx, id, {
    status,
    body: isBeginning ? "The maintenance has begun." : "The maintenance has been completed.",
    displayAt: Math.max(at, updates[0]?.displayAt ?? at),
    notify,
  });
  recordChange(ctx, tx, id, {
    event: isBeginning ? "maintenance.started" : "maintenance.completed",
    notify,
    actor: SYSTEM_ACTOR,
    action: isBeginning ? "maintenance.start" : "maintenance.complete",
    summary: `The maintenance “${row.name}” ${isBeginning ? "began" : "ended"} at its time`,
  });
  // A window that was missed whole becomes history at once, without ever having been shown.
  if (isMissedWhole && isBeginning) return components.length;
  const unmarkedSince = isBeginning ? null : row.startedAt;
  refreshCauses(ctx, tx, after, { at, actor: SYSTEM_ACTOR, notify, unmarkedSince });
  return components.length;
}
