import { composed } from "../../../base/validation";
import type { Ctx } from "../../../context";
import { type Actor, SYSTEM_ACTOR } from "../../../base/actor";
import { changedRow, type Reader, type Tx } from "../../../db/statements";
import { HOUR_MS, MINUTE_MS } from "../../../base/time";
import { touchPage } from "../../pages/pages";
import { cancelMaintenance } from "../maintenance";
import { addUpdateRow, recordMaintenanceEvent } from "../save";
import { presentMaintenance } from "../wire";
import { getMaintenance, getMaintenanceRecord } from "../records";
import { settledReminder, UPCOMING_MS } from "../rules";
import { insertMaintenance, insertMaintenanceComponents, type MaintenanceRow } from "../store";
import { listOccurrences, OCCURRENCES_MAX } from "./rules";
import {
  countTooFar,
  deleteMaintenances,
  findScheduleToMake,
  listComponentsOfSchedules,
  listOccurrenceTimes,
  listUntouched,
  rewindTooFar,
  type ScheduleRow,
  updateScheduleRow,
} from "./store";

/** Limits of one transaction: occurrences that it makes, and components that they name. */
const MADE_PER_BATCH = 50;
const COMPONENTS_PER_BATCH = 2_000;

/** Time ahead for which occurrences are made, with a tolerance for small corrections of the clock. */
const MADE_AHEAD_MS = UPCOMING_MS + HOUR_MS;

/** Time by which the clock, which reads schedules once a minute, can be late. */
const MADE_LATE_MS = 5 * MINUTE_MS;

/** Returns true if an occurrence is 30 days away or less, and was not made. `now` is in unix ms. */
export function hasOccurrencesToMake(reader: Reader, now: number): boolean {
  return findScheduleToMake(reader, { until: now + UPCOMING_MS }) !== undefined;
}

/** Returns true if the clock was ahead when occurrences were made, so that earlier ones may be missing. */
export function wasClockAhead(reader: Reader, now: number): boolean {
  return (countTooFar(reader, { until: now + MADE_AHEAD_MS })?.count ?? 0) > 0;
}

/** Has the occurrences made that are missing because the clock was ahead. `now` is in unix ms. */
export function makeUpForClock(tx: Tx, now: number): void {
  rewindTooFar(tx, { now, until: now + MADE_AHEAD_MS });
}

/**
 * Makes the next occurrences of the schedule whose next one is the first, at most 50. Returns true if more
 * can be due.
 */
export function makeDueOccurrences(ctx: Ctx, tx: Tx, now: number): boolean {
  const row = findScheduleToMake(tx, { until: now + UPCOMING_MS });
  if (row) makeOccurrences(ctx, tx, row, now);
  return row !== undefined;
}

/**
 * Removes the occurrences to come that people did not change, and makes those of the changed schedule. With
 * `isMoved`, only its times have changed, and occurrences whose time stays are kept. Occurrences after the
 * first 50 are made by the maintenance clock.
 */
export function remakeOccurrences(
  ctx: Ctx,
  tx: Tx,
  row: ScheduleRow,
  { isMoved, actor }: { isMoved: boolean; actor: Actor },
): void {
  const now = ctx.clock.now();
  const span = { count: 2 * OCCURRENCES_MAX, until: now + UPCOMING_MS + 1 };
  const times = row.enabled ? listOccurrences(row, now, span) : [];
  removeUntouched(ctx, tx, row, actor, { times, isMoved });
  const [nextAt = null] = row.enabled ? listOccurrences(row, now, { count: 1 }) : [];
  makeOccurrences(ctx, tx, { ...row, nextAt }, now);
}

/** Removes the occurrences to come that people did not change. */
export function removeOccurrences(ctx: Ctx, tx: Tx, row: ScheduleRow, actor: Actor): void {
  removeUntouched(ctx, tx, row, actor, { times: [], isMoved: false });
  touchPage(ctx, tx, row.pageId);
}

/**
 * Removes the occurrences to come that people did not change. Kept are those at `times` (unix ms) if only times
 * have changed, or if people got the reminder. Programs get a cancellation of each, people of those that they
 * were reminded of, which stay as cancelled maintenance.
 */
function removeUntouched(
  ctx: Ctx,
  tx: Tx,
  { id: scheduleId }: ScheduleRow,
  actor: Actor,
  { times, isMoved }: { times: readonly number[]; isMoved: boolean },
): void {
  const staying = new Set(times);
  const removed = listUntouched(tx, { scheduleId, now: ctx.clock.now() }).filter(
    ({ at, isReminded }) => !staying.has(at) || !(isMoved || isReminded),
  );
  for (const { id, isReminded } of removed) {
    if (isReminded) cancelMaintenance(ctx, tx, id, actor, composed({ notify: true }));
    else recordRemoval(ctx, tx, id, actor);
  }
  const gone = removed.filter(({ isReminded }) => !isReminded).map(({ id }) => id);
  deleteMaintenances(tx, { ids: JSON.stringify(gone) });
}

/** Records the silent cancellation of an occurrence that is about to be deleted. */
function recordRemoval(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const record = getMaintenanceRecord(tx, id);
  const cancelled = { ...changedRow(ctx, record.row), status: "cancelled" as const };
  const maintenance = presentMaintenance({ ...record, row: cancelled }, ctx.baseUrl);
  recordMaintenanceEvent(ctx, tx, "maintenance.cancelled", maintenance, { notify: false, actor });
}

/**
 * Makes the occurrences from the next one on until 30 days after `now` (unix ms), at most 50, fewer if they
 * name many components. Those before `now` are left out.
 */
function makeOccurrences(ctx: Ctx, tx: Tx, row: ScheduleRow, now: number): void {
  const components = listComponentsOfSchedules(tx, { ids: JSON.stringify([row.id]) });
  const room = Math.floor(COMPONENTS_PER_BATCH / Math.max(1, components.length));
  const most = Math.min(MADE_PER_BATCH, room);
  const until = now + UPCOMING_MS + 1;
  const from = row.nextAt === null ? until : Math.max(row.nextAt - 1, now);
  const due = listOccurrences(row, from, { count: most, until });
  // One alone, since days can be excluded for centuries between two occurrences.
  const [following = null] = listOccurrences(row, due.at(-1) ?? from, { count: 1 });
  const nextAt = row.nextAt === null ? null : following;
  updateScheduleRow(tx, { ...row, nextAt });
  const taken = new Set(
    listOccurrenceTimes(tx, { scheduleId: row.id, from: due[0] ?? now }).map(({ at }) => at),
  );
  for (const at of due) if (!taken.has(at)) makeOccurrence(ctx, tx, row, components, at);
  touchPage(ctx, tx, row.pageId);
}

/** Plans the occurrence at a time without telling people, who get its reminder. */
function makeOccurrence(
  ctx: Ctx,
  tx: Tx,
  schedule: ScheduleRow,
  components: readonly { id: string; name: string }[],
  at: number,
): void {
  const now = ctx.clock.now();
  const { remindMinutesBefore } = schedule;
  const row: MaintenanceRow = {
    id: ctx.newId("mnt"),
    pageId: schedule.pageId,
    name: schedule.name,
    status: "scheduled",
    scheduledFor: at,
    scheduledUntil: at + schedule.durationMinutes * MINUTE_MS,
    startedAt: null,
    completedAt: null,
    autoStart: true,
    autoComplete: true,
    remindMinutesBefore,
    // A reminder 30 days before is due when the occurrence is made.
    remindedAt: settledReminder({ scheduledFor: at, remindMinutesBefore }, now - MADE_LATE_MS),
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    scheduleId: schedule.id,
    occurrenceAt: at,
    author: schedule.author,
  };
  insertMaintenance(tx, row);
  insertMaintenanceComponents(
    tx,
    components.map(({ id, name }) => ({ maintenanceId: row.id, componentId: id, name })),
  );
  const update = {
    status: "scheduled",
    body: schedule.body,
    displayAt: now,
    notify: false,
  } as const;
  addUpdateRow(ctx, tx, row.id, update);
  const maintenance = getMaintenance(ctx, tx, row.id);
  recordMaintenanceEvent(ctx, tx, "maintenance.scheduled", maintenance, {
    notify: false,
    isNews: true,
    actor: { ...SYSTEM_ACTOR, author: schedule.author },
  });
}
