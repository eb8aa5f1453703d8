import type { Tx } from "../../db";
import { SYSTEM_ACTOR } from "../../kernel/actor";
import {
  addUpdateRow,
  entering,
  plannedNotify,
  refreshMarks,
  saveChange,
  type Services,
  tellChange,
} from "./change";
import { tellMaintenance } from "./event";
import { getMaintenance, getMaintenanceRecord } from "./records";
import { type DueTransition, dueTransitions } from "./rules";
import { listDue, updateMaintenanceRow } from "./store";

/** How much one call does, so that no transaction is a long one: steps, and components that they mark. */
const STEPS_AT_ONCE = 50;
const COMPONENTS_AT_ONCE = 200;

interface Step extends DueTransition {
  id: string;
  /** Whether the maintenance begins and ends in the same call. */
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
    marked += takeStep(ctx, tx, step, now);
  }
  return mayBeMore;
}

/**
 * The first steps of all. Looking at as many maintenances as there are steps to take is enough: each
 * of them has one that is due no later than any of the others'.
 */
function dueSteps(tx: Tx, now: number): Step[] {
  const steps = listDue(tx, { now, limit: STEPS_AT_ONCE })
    .flatMap(({ row }) => dueTransitions(row, now).map((due) => ({ ...due, id: row.id })))
    .sort((a, b) => a.at - b.at || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    .slice(0, STEPS_AT_ONCE);
  const begins = new Set(steps.filter(({ kind }) => kind === "start").map(({ id }) => id));
  const ends = new Set(steps.filter(({ kind }) => kind === "complete").map(({ id }) => id));
  return steps.map((step) => ({
    ...step,
    isMissedWhole: begins.has(step.id) && ends.has(step.id),
  }));
}

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
    tellMaintenance(ctx, tx, "maintenance.reminder", getMaintenance(ctx, tx, id), notify);
    return 0;
  }
  const isStart = kind === "start";
  const status = isStart ? "in_progress" : "completed";
  const after = entering(row, status, at);
  saveChange(ctx, tx, after);
  addUpdateRow(ctx, tx, id, {
    status,
    body: isStart ? "The maintenance has begun." : "The maintenance has been completed.",
    displayAt: Math.max(at, updates[0]?.displayAt ?? at),
    notify,
  });
  tellChange(ctx, tx, id, {
    event: isStart ? "maintenance.started" : "maintenance.completed",
    notify,
    actor: SYSTEM_ACTOR,
    action: isStart ? "maintenance.start" : "maintenance.complete",
    summary: `The maintenance “${row.name}” ${isStart ? "began" : "ended"} at its time`,
  });
  // A window that was missed whole becomes history at once, without ever having been shown.
  if (isMissedWhole && isStart) return components.length;
  const unmarkedSince = isMissedWhole ? row.startedAt : null;
  refreshMarks(ctx, tx, after, { at, actor: SYSTEM_ACTOR, notify, unmarkedSince });
  return components.length;
}
