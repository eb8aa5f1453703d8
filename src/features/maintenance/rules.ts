import type { MaintenanceStatus } from "../../kernel/incident-status";
import { DAY_MS, MINUTE_MS } from "../../kernel/time";

/** How far ahead a page shows what is planned. */
export const UPCOMING_MS = 30 * DAY_MS;

const FOLLOWERS: Record<MaintenanceStatus, readonly MaintenanceStatus[]> = {
  scheduled: ["in_progress", "cancelled"],
  in_progress: ["verifying", "completed", "cancelled"],
  verifying: ["in_progress", "completed", "cancelled"],
  completed: [],
  cancelled: [],
};

/** How a status is said in a sentence. */
export const STATUS_IN_WORDS: Record<MaintenanceStatus, string> = {
  scheduled: "scheduled",
  in_progress: "in progress",
  verifying: "being verified",
  completed: "completed",
  cancelled: "cancelled",
};

/** Whether a maintenance of one status may go over to another. */
export function isAllowedTransition(from: MaintenanceStatus, to: MaintenanceStatus): boolean {
  return FOLLOWERS[from].includes(to);
}

/** Whether a maintenance of this status is over for good. */
export function isEnded(status: MaintenanceStatus): boolean {
  return FOLLOWERS[status].length === 0;
}

/** Whether a maintenance of this status keeps its components under maintenance. */
export function isUnderWay(status: MaintenanceStatus): boolean {
  return status === "in_progress" || status === "verifying";
}

/** What the rules look at. Times in unix ms. */
export interface Schedule {
  status: MaintenanceStatus;
  scheduledFor: number;
  scheduledUntil: number;
  startedAt: number | null;
  autoStart: boolean;
  autoComplete: boolean;
  remindMinutesBefore: number | null;
  /** When its reminder was told or turned out not to be owed; null while it is to come. */
  remindedAt: number | null;
}

/** Something that the clock owes a maintenance since `at` (unix ms). */
export interface DueTransition {
  kind: "start" | "complete" | "reminder";
  at: number;
}

/**
 * What the clock owes a maintenance at `now` (unix ms), in the order of time: its beginning and its
 * end at their own times, however long ago, or the reminder while it has not begun. One that was begun
 * at its planned end or later is left to people.
 */
export function dueTransitions(row: Schedule, now: number): DueTransition[] {
  const due: DueTransition[] = [];
  const begins = row.status === "scheduled" && row.autoStart && row.scheduledFor <= now;
  if (begins) due.push({ kind: "start", at: row.scheduledFor });
  const isOpen = begins || (isUnderWay(row.status) && (row.startedAt ?? 0) < row.scheduledUntil);
  if (isOpen && row.autoComplete && row.scheduledUntil <= now) {
    due.push({ kind: "complete", at: row.scheduledUntil });
  }
  const reminderAt = reminderTime(row);
  const isToCome = row.status === "scheduled" && now < row.scheduledFor;
  if (isToCome && row.remindedAt === null && reminderAt !== undefined && reminderAt <= now) {
    due.push({ kind: "reminder", at: reminderAt });
  }
  return due;
}

/** What `remindedAt` is when the beginning or the reminder is set at `now`: a moment that has passed is not made up for. */
export function settledReminder(
  row: Pick<Schedule, "scheduledFor" | "remindMinutesBefore">,
  now: number,
): number | null {
  const at = reminderTime(row);
  return at !== undefined && at <= now ? now : null;
}

function reminderTime(
  row: Pick<Schedule, "scheduledFor" | "remindMinutesBefore">,
): number | undefined {
  if (row.remindMinutesBefore === null) return undefined;
  return row.scheduledFor - row.remindMinutesBefore * MINUTE_MS;
}

/** A component under maintenance. Times in unix ms; `to` is null while it still is. */
export interface ComponentCause {
  componentId: string;
  from: number;
  to: number | null;
}

/**
 * What a maintenance marks after a change that took effect at `at`. While it is under way: these
 * components, those that join from `at` on, those that leave until `at`. Otherwise nothing after `at`.
 */
export function causesAfter(
  causes: readonly ComponentCause[],
  change: { isUnderWay: boolean; componentIds: readonly string[]; at: number },
): ComponentCause[] {
  const { componentIds, at } = change;
  if (!change.isUnderWay) {
    return causes
      .map((cause) => ({ ...cause, to: Math.min(cause.to ?? at, at) }))
      .filter((cause) => cause.to > cause.from);
  }
  const kept = causes
    .map((cause) => {
      const stays = cause.to !== null || componentIds.includes(cause.componentId);
      return stays ? cause : { ...cause, to: Math.max(at, cause.from) };
    })
    .filter((cause) => cause.to === null || cause.to > cause.from);
  const marked = new Set(kept.filter(({ to }) => to === null).map((cause) => cause.componentId));
  const joining = componentIds.filter((id) => !marked.has(id));
  return [...kept, ...joining.map((componentId) => ({ componentId, from: at, to: null }))];
}
