import type { MaintenanceStatus } from "../../base/status";
import { DAY_MS, MINUTE_MS } from "../../base/time";

/** Time ahead for which a page shows scheduled maintenance. */
export const UPCOMING_MS = 30 * DAY_MS;

const FOLLOWERS: Record<MaintenanceStatus, readonly MaintenanceStatus[]> = {
  scheduled: ["in_progress", "cancelled"],
  in_progress: ["verifying", "completed", "cancelled"],
  verifying: ["in_progress", "completed", "cancelled"],
  completed: [],
  cancelled: [],
};

/** Returns true if a status may follow another. */
export function isAllowedTransition(from: MaintenanceStatus, to: MaintenanceStatus): boolean {
  return FOLLOWERS[from].includes(to);
}

/** Returns true for final statuses. */
export function isEnded(status: MaintenanceStatus): boolean {
  return FOLLOWERS[status].length === 0;
}

/** Returns true for statuses in which the components are under maintenance. */
export function isUnderWay(status: MaintenanceStatus): boolean {
  return status === "in_progress" || status === "verifying";
}

/** Properties that the rules depend on. Times in unix ms. */
interface Schedule {
  status: MaintenanceStatus;
  scheduledFor: number;
  scheduledUntil: number;
  startedAt: number | null;
  autoStart: boolean;
  autoComplete: boolean;
  remindMinutesBefore: number | null;
  /** Time at which its reminder was sent or became obsolete; null while it is due. */
  remindedAt: number | null;
}

/** A transition of a maintenance that is due since `at` (unix ms). */
export interface DueTransition {
  kind: "start" | "complete" | "reminder";
  at: number;
}

/**
 * Returns the transitions due at `now` (unix ms) in the order of time: start and end at their
 * planned times, or the reminder before the start. A maintenance that was started at its planned
 * end or later must be ended by people.
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

/**
 * Returns the `remindedAt` after the start or the reminder was changed at `now`. A reminder whose
 * time has passed is not sent.
 */
export function settledReminder(
  row: Pick<Schedule, "scheduledFor" | "remindMinutesBefore">,
  now: number,
): number | null {
  const at = reminderTime(row);
  return at !== undefined && at <= now ? now : null;
}

/**
 * Returns true for an occurrence of a schedule whose reminder was sent. It was made silently, so only then people
 * know of it. A reminder that was not sent was settled when the occurrence was made.
 */
export function isAnnounced(row: {
  occurrenceAt: number | null;
  remindedAt: number | null;
  createdAt: number;
}): boolean {
  return row.occurrenceAt !== null && row.remindedAt !== null && row.remindedAt > row.createdAt;
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
 * Returns the causes of a maintenance after a change at `at`. While it is in progress: the current
 * components, added ones from `at` on, removed ones until `at`. Otherwise none after `at`.
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
  const open = new Set(kept.filter(({ to }) => to === null).map((cause) => cause.componentId));
  const joining = componentIds.filter((id) => !open.has(id));
  return [...kept, ...joining.map((componentId) => ({ componentId, from: at, to: null }))];
}

/** Minutes before the start at which a reminder is sent by default. */
export const REMIND_MINUTES_BEFORE = 60;
