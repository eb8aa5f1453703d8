/* Verbs of maintenance schedules: create, change, delete. Then the occurrences: the maintenance that a schedule plans. */
import { composed } from "../../../base/validation";
import { type Static, Type } from "@sinclair/typebox";
import { type Actor, authorOf, SYSTEM_ACTOR } from "../../../base/actor";
import { conflict } from "../../../base/errors";
import { freeRef, type ManagedMetadata } from "../../../base/ids";
import { toRef } from "../../../base/text";
import { HOUR_MS, MINUTE_MS } from "../../../base/time";
import { FieldErrors, schemaErrors, type Valid } from "../../../base/validation";
import type { Ctx } from "../../../context";
import { changedRow, type Reader, type Tx } from "../../../db/statements";
import { audit } from "../../../events/audit";
import { findNamedPage, getPage, touchPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { cancelMaintenance, chooseComponents } from "../maintenance";
import { getMaintenance, getMaintenanceRecord } from "../records";
import { REMIND_MINUTES_BEFORE, settledReminder, UPCOMING_MS } from "../rules";
import { addUpdateRow, NEW_MAINTENANCE, recordMaintenanceEvent } from "../save";
import { insertMaintenance, insertMaintenanceComponents, type MaintenanceRow } from "../store";
import { presentMaintenance } from "../wire";
import { findScheduleErrors, listOccurrences, OCCURRENCES_MAX } from "./rules";
import {
  countSchedules,
  countTooFar,
  deleteMaintenances,
  deleteScheduleComponents,
  deleteScheduleRow,
  detachOccurrences,
  findSchedule,
  findScheduleByRef,
  findScheduleToMake,
  getSchedule,
  insertSchedule,
  insertScheduleComponents,
  listComponentsOfSchedules,
  listOccurrenceTimes,
  listUntouched,
  rewindTooFar,
  type ScheduleRecord,
  type ScheduleRow,
  updateScheduleRow,
} from "./store";
import { type CreateScheduleBody, ScheduleFields } from "./wire";

/** Maximum number of schedules of one page. */
export const SCHEDULES_PER_PAGE_MAX = 25;

/** Maximum number of schedules of an installation. */
const SCHEDULES_MAX = 500;

/** Columns of a schedule that callers set, and the ids of its components. */
type DesiredSchedule = Omit<
  ScheduleRow,
  "id" | "nextAt" | "managedBy" | "author" | "version" | "createdAt" | "updatedAt"
> & { components: readonly string[] };

/**
 * Creates a schedule with its first occurrences. A ref made from the name is numbered if it is taken. Throws
 * `validation_failed` that names every invalid field, or `conflict` for a given ref that is taken and for a
 * page or an installation that has no room for another one.
 */
export function createSchedule(
  ctx: Ctx,
  tx: Tx,
  input: Valid<CreateScheduleBody>,
  actor: Actor,
  metadata: ManagedMetadata = {},
): ScheduleRecord {
  const errors = new FieldErrors();
  const page = findNamedPage(tx, errors, input.page);
  const holderOf = (ref: string) => findScheduleByRef(tx, { ref });
  const ref = metadata.ref ?? freeRef(toRef(input.name) || "schedule", holderOf);
  const { components, ...columns } = readSchedule(ctx, tx, errors, { input, page, ref });
  errors.throwIfAny();
  requireFreeRef(tx, ref);
  requireRoom(tx, columns.pageId, true);
  const now = ctx.clock.now();
  const row: ScheduleRow = {
    id: ctx.newId("msc"),
    ...columns,
    nextAt: null,
    managedBy: metadata.managedBy ?? null,
    author: authorOf(actor),
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  insertSchedule(tx, row);
  writeComponents(tx, row.id, components);
  remakeOccurrences(ctx, tx, row, { isMoved: false, actor });
  const summary = `Created ${nameInWords(row)}`;
  audit(ctx, tx, actor, "maintenance_schedule.create", row.id, summary);
  return getSchedule(tx, row.id);
}

/**
 * Changes a schedule, and remakes the occurrences to come that people did not change. Fields that the input
 * leaves out stay, but another page, which only files name, starts without components. A change to the current
 * values changes nothing. Throws as `createSchedule`, and `not_found`.
 */
export function updateSchedule(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<Partial<CreateScheduleBody>>,
  actor: Actor,
  metadata: Pick<ManagedMetadata, "ref"> = {},
): ScheduleRecord {
  const record = getSchedule(tx, id);
  const { row: before } = record;
  const complete = { ...inputOf(record), ...input };
  const errors = new FieldErrors();
  const page = findNamedPage(tx, errors, complete.page);
  if (page?.id !== before.pageId) complete.components = input.components ?? [];
  const ref = metadata.ref ?? before.ref;
  const desired = readSchedule(ctx, tx, errors, { input: complete, page, ref });
  errors.throwIfAny();
  const changed = changedFields(record, desired);
  if (changed.length === 0) return record;
  if (ref !== before.ref) requireFreeRef(tx, ref);
  if (desired.pageId !== before.pageId) {
    requireRoom(tx, desired.pageId, false);
    removeOccurrences(ctx, tx, before, actor);
    // Kept ones would stand in the way of occurrences at the same times on the other page.
    detachOccurrences(tx, { scheduleId: id, pageId: desired.pageId });
  }
  const { components, ...columns } = desired;
  const after = { ...changedRow(ctx, before), ...columns };
  updateScheduleRow(tx, after);
  deleteScheduleComponents(tx, { scheduleId: id });
  writeComponents(tx, id, components);
  remakeOccurrences(ctx, tx, after, { isMoved: changed.every(isOfTimes), actor });
  const summary = `Changed ${nameInWords(before)}: ${changed.map((field) => WORDS[field]).join(", ")}`;
  audit(ctx, tx, actor, "maintenance_schedule.update", id, summary);
  return getSchedule(tx, id);
}

/**
 * Deletes a schedule for good, with the occurrences to come that people did not change; its ref is free.
 * Other occurrences stay as maintenance. Throws `not_found`.
 */
export function deleteSchedule(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const { row } = getSchedule(tx, id);
  removeOccurrences(ctx, tx, row, actor);
  deleteScheduleRow(tx, { id });
  audit(ctx, tx, actor, "maintenance_schedule.delete", id, `Deleted ${nameInWords(row)}`);
}

/** Returns the fields of a stored schedule as a body names them. */
function inputOf({ row, components }: ScheduleRecord): CreateScheduleBody {
  return {
    page: row.pageId,
    name: row.name,
    body: row.body,
    components: components.map(({ id }) => id),
    cron: row.cron,
    every_days: row.everyDays,
    duration_minutes: row.durationMinutes,
    time_zone: row.timeZone,
    starts_on: row.startsOn,
    ends_on: row.endsOn,
    remind_minutes_before: row.remindMinutesBefore,
    enabled: row.enabled,
  };
}

/** Returns the columns and components that a body describes. Adds its errors. */
function readSchedule(
  ctx: Ctx,
  reader: Reader,
  errors: FieldErrors,
  { input, page, ref }: { input: CreateScheduleBody; page: PageRow | undefined; ref: string },
): DesiredSchedule {
  const chosen = page ? chooseComponents(reader, page.id, input.components ?? [], [], errors) : [];
  const { remind_minutes_before: remindMinutesBefore = REMIND_MINUTES_BEFORE } = input;
  const schedule = {
    ref,
    pageId: page?.id ?? "",
    name: input.name,
    body: input.body,
    cron: input.cron,
    everyDays: input.every_days ?? null,
    durationMinutes: input.duration_minutes,
    timeZone: input.time_zone ?? page?.timeZone ?? "UTC",
    startsOn: input.starts_on ?? null,
    endsOn: input.ends_on ?? null,
    remindMinutesBefore,
    enabled: input.enabled ?? true,
    components: chosen.map(({ id }) => id).sort(),
  };
  for (const { field, detail } of findScheduleErrors(schedule, ctx.clock.now())) {
    errors.add([field], detail);
  }
  return schedule;
}

/**
 * Adds the errors of unknown references and impossible times in the valid fields of the body of a new schedule, or of a
 * change of the schedule with an id.
 */
export function addScheduleErrors(
  ctx: Ctx,
  errors: FieldErrors,
  valid: Partial<CreateScheduleBody>,
  id?: string,
): void {
  const record = id === undefined ? undefined : findSchedule(ctx.db, id);
  if (id !== undefined && !record) return;
  const further = new FieldErrors();
  const named = valid.page === undefined ? undefined : findNamedPage(ctx.db, further, valid.page);
  const page = record ? getPage(ctx.db, record.row.pageId) : named;
  const input = { ...(record ? inputOf(record) : HARMLESS), ...valid };
  readSchedule(ctx, ctx.db, further, { input, page, ref: "" });
  errors.addMissing(further);
}

/** Stands for the fields of a new schedule that are missing or invalid, which have an error already. */
const HARMLESS = { page: "", name: "", body: "", cron: "0 0 1 1 *", duration_minutes: 1 };

/** Names of changed fields for the audit log. */
const WORDS = {
  ref: "ref",
  pageId: "page",
  name: "name",
  body: "message",
  components: "components",
  durationMinutes: "duration",
  remindMinutesBefore: "reminder",
  cron: "cron expression",
  everyDays: "interval of days",
  timeZone: "time zone",
  startsOn: "first day",
  endsOn: "last day",
  enabled: "enabled",
} as const satisfies Record<keyof DesiredSchedule, string>;
type Field = keyof typeof WORDS;

/** Returns true for a field that changes only when a schedule occurs, or nothing of its occurrences. */
function isOfTimes(field: Field): boolean {
  const fields: readonly Field[] = [
    "ref",
    "cron",
    "everyDays",
    "timeZone",
    "startsOn",
    "endsOn",
    "enabled",
  ];
  return fields.includes(field);
}

function changedFields({ row, components }: ScheduleRecord, desired: DesiredSchedule): Field[] {
  const before: DesiredSchedule = { ...row, components: components.map(({ id }) => id).sort() };
  return (Object.keys(WORDS) as Field[]).filter(
    (field) => !Bun.deepEquals(before[field], desired[field]),
  );
}

function writeComponents(tx: Tx, scheduleId: string, componentIds: readonly string[]): void {
  insertScheduleComponents(
    tx,
    componentIds.map((componentId) => ({ scheduleId, componentId })),
  );
}

/** Throws `conflict` if another schedule has the ref. */
function requireFreeRef(reader: Reader, ref: string): void {
  const holder = findScheduleByRef(reader, { ref });
  if (!holder) return;
  throw conflict(`The ref ${ref} is taken by the maintenance schedule “${holder.name}”.`);
}

/** Throws `conflict` if a page, or the installation for a new schedule, has no room for one more. */
function requireRoom(reader: Reader, pageId: string, isNew: boolean): void {
  const { all, ofPage } = countSchedules(reader, { pageId }) ?? { all: 0, ofPage: 0 };
  if (isNew && all >= SCHEDULES_MAX) {
    throw conflict(
      `There are ${SCHEDULES_MAX} maintenance schedules, the most that there can be. Delete one first.`,
    );
  }
  if (ofPage < SCHEDULES_PER_PAGE_MAX) return;
  throw conflict(
    `The page has ${SCHEDULES_PER_PAGE_MAX} maintenance schedules, the most that a page can have. Delete one first.`,
  );
}

function nameInWords({ name }: Pick<ScheduleRow, "name">): string {
  return `the maintenance schedule “${name}”`;
}

/** Number of occurrences that a form shows. */
const SHOWN = 5;

const CalendarFields = Type.Pick(Type.Object(ScheduleFields), [
  "cron",
  "every_days",
  "time_zone",
  "starts_on",
  "ends_on",
]);

/**
 * Returns the next five occurrences of fields that may be wrong, after `now` in unix ms; none if a field is
 * wrong. `timeZone` is the one of the page.
 */
export function previewOccurrences(
  input: Partial<Static<typeof CalendarFields>>,
  timeZone: string,
  now: number,
): number[] {
  const { cron = "", every_days = null, starts_on = null, ends_on = null, time_zone } = input;
  const zone = time_zone ?? timeZone;
  const fields = { cron, every_days, time_zone: zone, starts_on, ends_on };
  if (schemaErrors(CalendarFields, fields).length > 0) return [];
  const calendar = {
    cron,
    everyDays: every_days,
    timeZone: zone,
    startsOn: starts_on,
    endsOn: ends_on,
  };
  return listOccurrences(calendar, now, { count: SHOWN });
}

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
function remakeOccurrences(
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
function removeOccurrences(ctx: Ctx, tx: Tx, row: ScheduleRow, actor: Actor): void {
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
    ...NEW_MAINTENANCE,
    id: ctx.newId("mnt"),
    pageId: schedule.pageId,
    name: schedule.name,
    scheduledFor: at,
    scheduledUntil: at + schedule.durationMinutes * MINUTE_MS,
    remindMinutesBefore,
    // A reminder 30 days before is due when the occurrence is made.
    remindedAt: settledReminder({ scheduledFor: at, remindMinutesBefore }, now - MADE_LATE_MS),
    createdAt: now,
    updatedAt: now,
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
