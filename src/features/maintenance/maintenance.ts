/* Verbs of maintenance: plan, change, add an update, cancel. What they write is in `save.ts`; `clock.ts` takes due steps. */
import { type Actor, authorOf } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { MaintenanceStatus } from "../../base/status";
import { toIso } from "../../base/time";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { recordAudits } from "../../events/audit";
import type { EventType } from "../../events/outbox";
import { pathInList, resolveComponents } from "../components/references";
import { findNamedPage, touchPage, wordsForPage } from "../pages/pages";
import { isInFuture, toMs, UPDATES_MAX } from "../timeline/updates";
import { getMaintenanceRecord, toDocumentRecords } from "./records";
import {
  isAllowedTransition,
  isAnnounced,
  isEnded,
  isUnderWay,
  REMIND_MINUTES_BEFORE,
  settledReminder,
} from "./rules";
import {
  addUpdateRow,
  applyUpdate,
  type Chosen,
  NEW_MAINTENANCE,
  type NewUpdate,
  plannedNotify,
  recordChange,
  recordMaintenanceEvent,
  refreshCauses,
  replaceChosen,
  saveChange,
  withStatus,
} from "./save";
import {
  cancelMaintenanceRows,
  insertMaintenance,
  insertMaintenanceUpdates,
  listFirstUpdates,
  listPending,
  type MaintenanceRecord,
  type MaintenanceRow,
} from "./store";
import {
  type AddMaintenanceUpdateBody,
  type CancelMaintenanceBody,
  type Maintenance,
  type MaintenanceUpdate,
  type PlanMaintenanceBody,
  presentMaintenance,
  type UpdateMaintenanceBody,
} from "./wire";

/**
 * Plans a maintenance. If its times lie in the past, the clock starts and ends it at these times. Throws
 * `validation_failed` with every invalid field.
 */
export function planMaintenance(
  ctx: Ctx,
  tx: Tx,
  input: Valid<PlanMaintenanceBody>,
  actor: Actor,
): Maintenance {
  const errors = new FieldErrors();
  const { page, times, chosen } = readNewMaintenance(tx, input, errors);
  errors.throwIfAny();

  const now = ctx.clock.now();
  const { remind_minutes_before: remindMinutesBefore = REMIND_MINUTES_BEFORE } = input;
  const row: MaintenanceRow = {
    ...NEW_MAINTENANCE,
    id: ctx.newId("mnt"),
    pageId: page?.id ?? "",
    name: input.name,
    ...times,
    autoStart: input.auto_start ?? true,
    autoComplete: input.auto_complete ?? true,
    remindMinutesBefore,
    remindedAt: settledReminder({ ...times, remindMinutesBefore }, now),
    createdAt: now,
    updatedAt: now,
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
 * Reads the page, times and components of a new maintenance from the valid fields of its body. Adds an error for each
 * unknown reference, and for an end that is not later than the start.
 */
export function readNewMaintenance(
  reader: Reader,
  input: Partial<PlanMaintenanceBody>,
  errors: FieldErrors,
) {
  const page = input.page === undefined ? undefined : findNamedPage(reader, errors, input.page);
  const hasTimes = input.scheduled_for !== undefined && input.scheduled_until !== undefined;
  const times = hasTimes ? readTimes(input, NO_TIMES, errors) : NO_TIMES;
  const chosen = page ? chooseComponents(reader, page.id, input.components ?? [], [], errors) : [];
  return { page, times, chosen };
}

const NO_TIMES: Times = { scheduledFor: 0, scheduledUntil: 0 };

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
  input: Valid<UpdateMaintenanceBody>,
  actor: Actor,
): Maintenance {
  const record = getMaintenanceRecord(tx, id);
  const { row: before } = record;
  const errors = new FieldErrors();
  const { times, chosen } = readMaintenanceChange(tx, record, input, errors);
  const { scheduledFor, scheduledUntil } = times;
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

/**
 * Reads the times and components of a maintenance after a change, from the valid fields of its body. Adds an error for
 * each unknown component, and for an end that is not later than the start.
 */
export function readMaintenanceChange(
  reader: Reader,
  { row, components }: MaintenanceRecord,
  input: Partial<UpdateMaintenanceBody>,
  errors: FieldErrors,
) {
  const times = readTimes(input, row, errors);
  const chosen = input.components
    ? chooseComponents(reader, row.pageId, input.components, components, errors)
    : components;
  return { times, chosen };
}

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

/**
 * Returns the components that references name: those of the page, and those chosen before, which may be
 * deleted. Adds an error for any other, and for a reference that names an earlier one's component again.
 */
export function chooseComponents(
  reader: Reader,
  pageId: string,
  references: readonly string[],
  chosenBefore: Chosen,
  errors: FieldErrors,
): Chosen {
  const namesBefore = new Map(chosenBefore.map(({ id, name }) => [id, name]));
  const resolved = resolveComponents(
    reader,
    references,
    errors,
    pathInList("components"),
    (row, id) => {
      const isAllowed = row?.pageId === pageId || namesBefore.has(id);
      return isAllowed ? undefined : "is not a component of the page";
    },
  );
  return resolved.map(({ id, row }) => ({ id, name: namesBefore.get(id) ?? row?.name ?? "" }));
}

/** Returns true if two choices contain the same components in any order. */
function isSameChoice(one: Chosen, other: Chosen): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

/**
 * Adds an update, and changes the status if the input names another one. Returns the maintenance and
 * the update. Throws `not_found`, `validation_failed`, or `conflict` for a status that cannot follow,
 * for a maintenance that is over, and for one without room for an update that does not end it.
 */
export function addMaintenanceUpdate(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<AddMaintenanceUpdateBody>,
  actor: Actor,
): { maintenance: Maintenance; update: MaintenanceUpdate } {
  const { row, updates } = getMaintenanceRecord(tx, id);
  const { status = row.status, body, notify = true } = input;
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt = readDisplayTime(input, updates, now, errors);
  errors.throwIfAny();
  if (!isEnded(row.status)) requireRoom(updates.length, status);
  const maintenance = changeStatus(ctx, tx, row, { status, body, displayAt, notify }, actor);
  const [update] = maintenance.updates;
  if (!update) throw new Error("the added update is missing");
  return { maintenance, update };
}

/**
 * Cancels a scheduled maintenance, or one in progress, with a last update. Its default text says that the
 * maintenance is cancelled. By default people are notified as they were of the plan or by a reminder. Throws `not_found`,
 * `validation_failed`, or `conflict` if the maintenance is over.
 */
export function cancelMaintenance(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
  input?: Valid<CancelMaintenanceBody>,
): Maintenance {
  const { row, updates } = getMaintenanceRecord(tx, id);
  const { body = "The maintenance has been cancelled.", notify = usualNotify(tx, row) } =
    input ?? {};
  const displayAt = Math.max(ctx.clock.now(), updates[0]?.displayAt ?? 0);
  return changeStatus(ctx, tx, row, { status: "cancelled", body, displayAt, notify }, actor);
}

function changeStatus(
  ctx: Ctx,
  tx: Tx,
  row: MaintenanceRow,
  update: NewUpdate,
  actor: Actor,
): Maintenance {
  const { status, displayAt: at, notify } = update;
  requireNotEnded(row);
  const isChange = status !== row.status;
  if (isChange && !isAllowedTransition(row.status, status)) {
    throw conflict(
      `The maintenance is ${STATUS_IN_WORDS[row.status]}; it cannot become ${STATUS_IN_WORDS[status]}.`,
    );
  }
  const after = isChange ? withStatus(row, status, at) : row;
  const isCancelling = status === "cancelled";
  const changed = applyUpdate(ctx, tx, after, update, {
    event: eventOf(row.status, status),
    actor,
    action: isCancelling ? "maintenance.cancel" : "maintenance.add_update",
    summary: isCancelling
      ? cancellationSummary(row)
      : `Updated the maintenance “${row.name}”: ${STATUS_IN_WORDS[status]}`,
  });
  if (isUnderWay(row.status) !== isUnderWay(status)) {
    refreshCauses(ctx, tx, after, { at, actor, notify });
  }
  return changed;
}

/** Words for a status within a sentence. */
const STATUS_IN_WORDS: Record<MaintenanceStatus, string> = {
  scheduled: "scheduled",
  in_progress: "in progress",
  verifying: "being verified",
  completed: "completed",
  cancelled: "cancelled",
};

/** Throws `conflict` for a maintenance that is over, which cannot be changed. */
function requireNotEnded({ status }: MaintenanceRow): void {
  if (!isEnded(status)) return;
  throw conflict(`The maintenance is ${STATUS_IN_WORDS[status]}, which is final.`);
}

/** Throws `conflict` if a maintenance has the maximum number of updates, unless the update ends it. */
function requireRoom(updates: number, status: MaintenanceStatus): void {
  if (updates < UPDATES_MAX || isEnded(status)) return;
  throw conflict(
    `The maintenance has ${UPDATES_MAX} updates, the most that it can have. Complete or cancel it, or plan a new maintenance for what follows.`,
  );
}

/**
 * Returns the time at which an update takes effect: its `display_at`, or now. Updates are only
 * appended, so it is never before the last one. A time slightly in the future, from
 * a clock that is ahead, counts as now. Unix ms.
 */
export function readDisplayTime(
  { display_at: text }: Pick<AddMaintenanceUpdateBody, "display_at">,
  [last]: MaintenanceRecord["updates"],
  now: number,
  errors: FieldErrors,
): number {
  const lastAt = last?.displayAt ?? now;
  const present = Math.max(now, lastAt);
  const at = text === undefined ? present : toMs(text);
  if (isInFuture(at, present)) errors.add(["display_at"], "is in the future");
  if (at < lastAt) errors.add(["display_at"], "is before the last update");
  return Math.min(at, present);
}

function eventOf(from: MaintenanceStatus, to: MaintenanceStatus): EventType {
  if (to === "completed") return "maintenance.completed";
  if (to === "cancelled") return "maintenance.cancelled";
  return from === "scheduled" && to === "in_progress"
    ? "maintenance.started"
    : "maintenance.updated";
}

/**
 * Cancels every pending maintenance of a page that is about to be deleted. People are notified of each as
 * they were of its plan. The components of the page are deleted already, so there are no causes to end.
 */
export function cancelMaintenanceOfPage(ctx: Ctx, tx: Tx, pageId: string, actor: Actor): void {
  const pending = listPending(tx, {
    pageId,
    search: null,
    nextAt: null,
    limit: Number.MAX_SAFE_INTEGER,
  });
  if (pending.length === 0) return;
  const now = ctx.clock.now();
  const { t, lang } = wordsForPage(tx, pageId);
  const ids = JSON.stringify(pending.map(({ row }) => row.id));
  const planned = new Map(
    listFirstUpdates(tx, { ids }).map(({ maintenanceId, notify }) => [maintenanceId, notify]),
  );
  const cancelled = toDocumentRecords(tx, pending, 1).map((record) => {
    const { row, updates } = record;
    const update = {
      id: ctx.newId("upd"),
      maintenanceId: row.id,
      status: "cancelled" as const,
      body: t("written.page_deleted"),
      displayAt: Math.max(now, updates[0]?.displayAt ?? 0),
      notify: isAnnounced(row) || (planned.get(row.id) ?? true),
      createdAt: now,
      lang,
    };
    const after = {
      ...withStatus(row, "cancelled", now),
      version: row.version + 1,
      updatedAt: now,
    };
    return { update, record: { ...record, row: after, updates: [update] } };
  });
  cancelMaintenanceRows(tx, { ids, at: now });
  insertMaintenanceUpdates(
    tx,
    cancelled.map(({ update }) => update),
  );
  for (const { update, record } of cancelled) {
    const maintenance = presentMaintenance(record, ctx.baseUrl);
    recordMaintenanceEvent(ctx, tx, "maintenance.cancelled", maintenance, {
      notify: update.notify,
      isNews: true,
      actor,
    });
  }
  recordAudits(
    tx,
    pending.map(({ row }) => ({
      actor,
      action: "maintenance.cancel",
      targetId: row.id,
      summary: cancellationSummary(row),
      at: now,
    })),
  );
  touchPage(ctx, tx, pageId);
}

function cancellationSummary({ name }: MaintenanceRow): string {
  return `Cancelled the maintenance “${name}”`;
}

/** Returns the default `notify` of changes by people: that of the plan, or true for an announced occurrence. */
function usualNotify(tx: Tx, row: MaintenanceRow): boolean {
  return isAnnounced(row) || plannedNotify(tx, row.id);
}
