import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { FieldErrors, validate } from "../../base/validation";
import { type Actor, authorOf } from "../../base/actor";
import { toIso } from "../../base/time";
import { findNamedPage } from "../pages/filter";
import { touchPage } from "../pages/pages";
import { toMs } from "../timeline/updates";
import {
  addUpdateRow,
  chooseComponents,
  isSameChoice,
  recordChange,
  refreshCauses,
  replaceChosen,
  requireNotEnded,
  saveChange,
  usualNotify,
} from "./maintenance";
import {
  type Maintenance,
  PlanMaintenanceBody,
  presentMaintenance,
  UpdateMaintenanceBody,
} from "./wire";
import { getMaintenanceRecord } from "./records";
import { settledReminder, STATUS_IN_WORDS } from "./rules";
import { insertMaintenance, type MaintenanceRow } from "./store";

/** Minutes before the start at which a reminder is sent by default. */
export const REMIND_MINUTES_BEFORE = 60;

/**
 * Plans a maintenance. If its times lie in the past, the clock starts and ends it at these times. Throws
 * `validation_failed` with every invalid field.
 */
export function planMaintenance(
  ctx: Ctx,
  tx: Tx,
  input: PlanMaintenanceBody,
  actor: Actor,
): Maintenance {
  validate(PlanMaintenanceBody, input);
  const errors = new FieldErrors();
  const page = findNamedPage(tx, errors, input.page);
  const times = readTimes(input, { scheduledFor: 0, scheduledUntil: 0 }, errors);
  const chosen = page ? chooseComponents(tx, page.id, input.components, [], errors) : [];
  errors.throwIfAny();

  const now = ctx.clock.now();
  const { remind_minutes_before: remindMinutesBefore = REMIND_MINUTES_BEFORE } = input;
  const row: MaintenanceRow = {
    id: ctx.newId("mnt"),
    pageId: page?.id ?? "",
    name: input.name,
    status: "scheduled",
    ...times,
    startedAt: null,
    completedAt: null,
    autoStart: input.auto_start ?? true,
    autoComplete: input.auto_complete ?? true,
    remindMinutesBefore,
    remindedAt: settledReminder({ ...times, remindMinutesBefore }, now),
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    scheduleId: null,
    occurrenceAt: null,
    author: authorOf(actor),
  };
  insertMaintenance(tx, row);
  replaceChosen(tx, row.id, chosen);
  const notify = input.notify ?? true;
  // A maintenance that is recorded afterwards is shown as announced at its start.
  const displayAt = Math.min(now, row.scheduledFor);
  addUpdateRow(ctx, tx, row.id, { status: "scheduled", body: input.body, displayAt, notify });
  touchPage(ctx, tx, row.pageId);
  return recordChange(ctx, tx, row.id, {
    event: "maintenance.scheduled",
    notify,
    actor,
    action: "maintenance.plan",
    summary: `Planned the maintenance “${row.name}”`,
  });
}

/**
 * Changes the fields that the input names: name and components until the maintenance is over, times and
 * flags while it is scheduled. The end of a maintenance that has started can be moved to a later time, which
 * sends no notifications unless the input asks for them. Writes nothing if no field changes. Throws `not_found`,
 * `validation_failed`, or `conflict` for a change that its status forbids.
 */
export function updateMaintenance(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: UpdateMaintenanceBody,
  actor: Actor,
): Maintenance {
  const record = getMaintenanceRecord(tx, id);
  const { row: before } = record;
  validate(UpdateMaintenanceBody, input);
  const errors = new FieldErrors();
  const { scheduledFor, scheduledUntil } = readTimes(input, before, errors);
  const chosen = input.components
    ? chooseComponents(tx, before.pageId, input.components, record.components, errors)
    : record.components;
  errors.throwIfAny();
  requireNotEnded(before);

  const now = ctx.clock.now();
  const { name = before.name, remind_minutes_before: remindMinutesBefore } = input;
  const after: MaintenanceRow = {
    ...before,
    name,
    scheduledFor,
    scheduledUntil,
    autoStart: input.auto_start ?? before.autoStart,
    autoComplete: input.auto_complete ?? before.autoComplete,
    remindMinutesBefore:
      remindMinutesBefore === undefined ? before.remindMinutesBefore : remindMinutesBefore,
  };
  const changed = PLAN.filter((field) => before[field] !== after[field]);
  const hasStarted = before.status !== "scheduled";
  const isLonger = hasStarted && scheduledUntil > before.scheduledUntil;
  if (hasStarted && changed.length > (isLonger ? 1 : 0)) {
    throw conflict(
      `The maintenance is ${STATUS_IN_WORDS[before.status]}; of its times and flags only the end can be changed, to a time later than ${toIso(before.scheduledUntil)}.`,
    );
  }
  const isSame = isSameChoice(chosen, record.components);
  if (changed.length === 0 && isSame && name === before.name) {
    return presentMaintenance(record, ctx.baseUrl);
  }

  const isSameReminder = REMINDER.every((field) => before[field] === after[field]);
  if (!isSameReminder) after.remindedAt = settledReminder(after, now);
  saveChange(ctx, tx, after);
  if (!isSame) replaceChosen(tx, id, chosen);
  const notify = input.notify ?? (!isLonger && usualNotify(tx, before));
  const maintenance = recordChange(ctx, tx, id, {
    event: "maintenance.updated",
    notify,
    actor,
    action: "maintenance.update",
    summary: `Changed the maintenance “${name}”`,
  });
  if (!isSame) refreshCauses(ctx, tx, after, { at: now, actor, notify });
  return maintenance;
}

/** Columns of the plan, which can be changed while a maintenance is scheduled. */
const PLAN = [
  "scheduledFor",
  "scheduledUntil",
  "autoStart",
  "autoComplete",
  "remindMinutesBefore",
] as const;

/** Columns that a reminder depends on. */
const REMINDER = ["scheduledFor", "remindMinutesBefore"] as const;

/** Planned start and end, in unix ms. */
interface Times {
  scheduledFor: number;
  scheduledUntil: number;
}

/**
 * Returns the times that a body names, and the known ones instead of omitted ones. Adds an error if the
 * end is not later than the start.
 */
export function readTimes(
  input: { scheduled_for?: string; scheduled_until?: string },
  stored: Times,
  errors: FieldErrors,
): Times {
  const { scheduled_for: from, scheduled_until: until } = input;
  const scheduledFor = from === undefined ? stored.scheduledFor : toMs(from);
  const scheduledUntil = until === undefined ? stored.scheduledUntil : toMs(until);
  if (scheduledUntil <= scheduledFor) {
    if (until === undefined) errors.add(["scheduled_for"], "must be earlier than the end");
    else errors.add(["scheduled_until"], "must be later than the start");
  }
  return { scheduledFor, scheduledUntil };
}
