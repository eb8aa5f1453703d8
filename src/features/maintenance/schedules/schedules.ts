/* Verbs of maintenance schedules: create, change, delete. `occurrences.ts` makes the maintenance that they plan. */
import { type Static, Type } from "@sinclair/typebox";
import { type Actor, authorOf } from "../../../base/actor";
import { conflict } from "../../../base/errors";
import { freeRef, type ManagedMetadata } from "../../../base/ids";
import { toRef } from "../../../base/text";
import { FieldErrors, schemaErrors, type Valid } from "../../../base/validation";
import type { Ctx } from "../../../context";
import { changedRow, type Reader, type Tx } from "../../../db/statements";
import { audit } from "../../../events/audit";
import { findNamedPage } from "../../pages/filter";
import { getPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { chooseComponents } from "../maintenance";
import { REMIND_MINUTES_BEFORE } from "../rules";
import { remakeOccurrences, removeOccurrences } from "./occurrences";
import {
  countSchedules,
  deleteScheduleComponents,
  deleteScheduleRow,
  detachOccurrences,
  findSchedule,
  findScheduleByRef,
  getSchedule,
  insertSchedule,
  insertScheduleComponents,
  type ScheduleRecord,
  type ScheduleRow,
  updateScheduleRow,
} from "./store";
import { findScheduleErrors, listOccurrences } from "./rules";
import { CreateScheduleBody, ScheduleFields } from "./wire";

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
