import { SYSTEM_ACTOR } from "../../base/actor";
import type { Timer } from "../../base/clock";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type MessageKey, wordsOf } from "../../languages/words";
import { wordsForPage } from "../pages/pages";
import { getMaintenance, getMaintenanceRecord } from "./records";
import { type DueTransition, dueTransitions } from "./rules";
import {
  applyUpdate,
  plannedNotify,
  recordMaintenanceEvent,
  refreshCauses,
  withStatus,
} from "./save";
import {
  hasOccurrencesToMake,
  makeDueOccurrences,
  makeUpForClock,
  wasClockAhead,
} from "./schedules/schedules";
import {
  countWrittenUpdates,
  findNextDue,
  listDue,
  type MaintenanceRow,
  updateMaintenanceRow,
} from "./store";

/** Interval of the clock, short enough that due transitions are made within a second. */
const TICK_MS = 500;

/** Interval at which schedules are read, whose occurrences are made 30 days ahead. */
const SCHEDULES_MS = MINUTE_MS;

/** Limits of one transaction: transitions, and components that they change. */
const STEPS_PER_BATCH = 50;
const COMPONENTS_PER_BATCH = 200;

/** Messages of the updates that the clock adds, which are written in the language of the page. */
const TEXTS = {
  in_progress: "written.maintenance_begun",
  completed: "written.maintenance_completed",
} as const satisfies Record<string, MessageKey>;

interface Step extends DueTransition {
  id: string;
  /** True if both its start and its end are due, in one call or two. */
  isMissedEntirely: boolean;
}

/**
 * Starts the clock that makes due transitions of maintenance: overdue ones at once, others within a
 * second. Once a minute it makes the occurrences of schedules 30 days ahead. A tick reads only if something may be
 * due: after a change of a page, at the time of the next transition, or after the clock was set back. Failed writes
 * are retried at the next tick.
 */
export function startMaintenanceClock(ctx: Ctx): Timer {
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;
  /** Time of the next transition, in unix ms, unless something has changed. */
  let nextDueAt = Infinity;
  let hasChanged = true;
  let caughtUpAt = 0;
  /** Time on the monotonic clock at which schedules are read. */
  let nextLookAt = 0;
  /** Wall-clock time at which they were last read, in unix ms. Before the start the clock may have been ahead. */
  let lookedAt = Infinity;

  /** Makes all due transitions, in several transactions so that requests are answered in between. */
  async function catchUp(now: number): Promise<void> {
    if (!hasChanged && now < nextDueAt && now >= caughtUpAt) return;
    hasChanged = false;
    caughtUpAt = now;
    let hasMore = listDue(ctx.db, { now, limit: 1 }).length > 0;
    while (hasMore && !isCancelled) {
      hasMore = await ctx.db.write((tx) => advanceMaintenance(ctx, tx, now));
    }
    nextDueAt = findNextDue(ctx.db, { now })?.at ?? Infinity;
  }

  /** Makes the due occurrences of schedules. */
  async function makeOccurrences(now: number): Promise<void> {
    if (ctx.clock.monotonic() < nextLookAt) return;
    nextLookAt = ctx.clock.monotonic() + SCHEDULES_MS;
    if (now < lookedAt && wasClockAhead(ctx.db, now)) {
      await ctx.db.write((tx) => makeUpForClock(tx, now));
    }
    lookedAt = now;
    let hasMore = hasOccurrencesToMake(ctx.db, now);
    while (hasMore && !isCancelled) {
      hasMore = await ctx.db.write((tx) => makeDueOccurrences(ctx, tx, now));
    }
  }

  async function tick(): Promise<void> {
    if (isRunning || !ctx.isPrimary()) return;
    isRunning = true;
    try {
      const now = ctx.clock.now();
      await catchUp(now);
      await makeOccurrences(now);
      isFailing = false;
    } catch (error) {
      hasChanged = true;
      // Logged once per series of failures, which can last for hours.
      if (!isFailing) ctx.log.error({ err: error }, "maintenance waits for the database");
      isFailing = true;
    } finally {
      isRunning = false;
    }
  }

  const markChanged = () => {
    hasChanged = true;
  };
  const unsubscribe = ctx.signals.pageChanged.on(markChanged);
  void tick();
  const timer = ctx.clock.every(TICK_MS, () => void tick());
  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
      unsubscribe();
    },
  };
}

/**
 * Makes the transitions due at `now` (unix ms) in the order of time, with the system as actor for the
 * author of the plan: reminders, starts and ends, each at its planned time. At most 50, fewer if they
 * change many components. Returns true if more can be due.
 */
export function advanceMaintenance(ctx: Ctx, tx: Tx, now: number): boolean {
  const steps = dueSteps(tx, now);
  const taken = new Set<string>();
  let changed = 0;
  let hasMore = steps.length === STEPS_PER_BATCH;
  for (const step of steps) {
    // A maintenance that was missed entirely starts and ends in one call, or it would be shown between.
    const isEndOfTakenStep = step.isMissedEntirely && taken.has(step.id);
    if (changed >= COMPONENTS_PER_BATCH && !isEndOfTakenStep) {
      hasMore = true;
      continue;
    }
    taken.add(step.id);
    changed += ctx.outbox.group(tx, () => takeStep(ctx, tx, step, now));
  }
  return hasMore;
}

/**
 * Returns the first due steps of all maintenances. Reading as many maintenances as steps is enough,
 * since they are ordered by their first due step.
 */
function dueSteps(tx: Tx, now: number): Step[] {
  return listDue(tx, { now, limit: STEPS_PER_BATCH })
    .flatMap(({ row }) => {
      const due = dueTransitions(row, now);
      const isMissedEntirely = due.some(isStart) && due.some(isEnd);
      return due.map((each): Step => ({ ...each, id: row.id, isMissedEntirely }));
    })
    .sort((a, b) => a.at - b.at || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    .slice(0, STEPS_PER_BATCH);
}

const isStart = ({ kind }: DueTransition) => kind === "start";
const isEnd = ({ kind }: DueTransition) => kind === "complete";

/** Order of steps at the same time. Starts come first, so that components of two stay in maintenance. */
const ORDER: readonly DueTransition["kind"][] = ["start", "complete", "reminder"];

/** Makes one transition, and returns the number of components that it can change. */
function takeStep(ctx: Ctx, tx: Tx, step: Step, now: number): number {
  const { id, kind, at, isMissedEntirely } = step;
  const { row, updates, components } = getMaintenanceRecord(tx, id);
  const actor = { ...SYSTEM_ACTOR, author: row.author };
  // Occurrences of schedules are made silently: the reminder is what people get.
  const isRemindedOccurrence = kind === "reminder" && row.occurrenceAt !== null;
  const notify = isRemindedOccurrence || plannedNotify(tx, id);
  if (kind === "reminder") {
    // The version stays, since nothing that is shown changes.
    updateMaintenanceRow(tx, { ...row, remindedAt: now });
    recordMaintenanceEvent(ctx, tx, "maintenance.reminder", getMaintenance(ctx, tx, id), {
      notify,
      actor,
    });
    return 0;
  }
  const isStarting = isStart(step);
  const status = isStarting ? "in_progress" : "completed";
  const after = withStatus(row, status, at);
  const { t, lang } = wordsForPage(tx, row.pageId);
  const update = {
    status,
    body: t(TEXTS[status]),
    lang,
    displayAt: Math.max(at, updates[0]?.displayAt ?? at),
    notify,
  } as const;
  applyUpdate(ctx, tx, after, update, {
    event: isStarting ? "maintenance.started" : "maintenance.completed",
    actor,
    action: isStarting ? "maintenance.start" : "maintenance.complete",
    summary: `The maintenance “${row.name}” ${isStarting ? "began" : "ended"} at its time`,
  });
  // A maintenance that was missed entirely gets its causes at its end, so that they are never shown.
  if (isMissedEntirely && isStarting) return components.length;
  const unmarkedSince = isStarting ? null : row.startedAt;
  refreshCauses(ctx, tx, after, { at, actor, notify, unmarkedSince });
  return components.length;
}

/** Counts the changes that the clock has made of a maintenance. Each has raised its version by one. */
export function countClockChanges(
  reader: Reader,
  { id: maintenanceId, scheduledFor, scheduledUntil }: MaintenanceRow,
): number {
  const { t } = wordsOf("en");
  const bodies = JSON.stringify(Object.values(TEXTS).map((key) => t(key)));
  const times = JSON.stringify([scheduledFor, scheduledUntil]);
  return countWrittenUpdates(reader, { maintenanceId, bodies, times })?.count ?? 0;
}
