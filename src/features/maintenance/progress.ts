import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { FieldErrors, validate } from "../../base/validation";
import type { EventType } from "../../events/outbox";
import { recordAudits } from "../../events/audit";
import type { Actor } from "../../base/actor";
import type { MaintenanceStatus } from "../../base/status";
import { touchPage } from "../pages/service";
import { isInFuture, toMs, UPDATES_MAX } from "../timeline/updates";
import {
  applyUpdate,
  type NewUpdate,
  refreshCauses,
  requireNotEnded,
  usualNotify,
  withStatus,
} from "./change";
import { recordMaintenanceEvent } from "./event";
import { toDocumentRecords } from "./lists";
import {
  AddMaintenanceUpdateBody,
  CancelMaintenanceBody,
  type Maintenance,
  type MaintenanceUpdate,
  presentMaintenance,
} from "./model";
import { getMaintenanceRecord } from "./records";
import { isAnnounced, isEnded, isUnderWay, isAllowedTransition, STATUS_IN_WORDS } from "./rules";
import { cancelMaintenanceRows, listPending, type MaintenanceRow } from "./store";
import { insertMaintenanceUpdates, listFirstUpdates } from "./update-store";

/**
 * Adds an update, and changes the status if the input names another one. Returns the maintenance and
 * the update. Throws `not_found`, `validation_failed`, or `conflict` for a status that cannot follow,
 * for a maintenance that is over, and for one without room for an update that does not end it.
 */
export function addMaintenanceUpdate(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: AddMaintenanceUpdateBody,
  actor: Actor,
): { maintenance: Maintenance; update: MaintenanceUpdate } {
  const { row, updates } = getMaintenanceRecord(tx, id);
  validate(AddMaintenanceUpdateBody, input);
  const { status = row.status, body, notify = true } = input;
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt = readDisplayTime(input.display_at, updates[0]?.displayAt ?? now, now, errors);
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
  input: CancelMaintenanceBody = {},
): Maintenance {
  const { row, updates } = getMaintenanceRecord(tx, id);
  const { body = "The maintenance has been cancelled.", notify = usualNotify(tx, row) } = validate(
    CancelMaintenanceBody,
    input,
  );
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

/** Throws `conflict` if a maintenance has the maximum number of updates, unless the update ends it. */
function requireRoom(updates: number, status: MaintenanceStatus): void {
  if (updates < UPDATES_MAX || isEnded(status)) return;
  throw conflict(
    `The maintenance has ${UPDATES_MAX} updates, the most that it can have. Complete or cancel it, or plan a new maintenance for what follows.`,
  );
}

/**
 * Returns the time at which an update takes effect: its `display_at`, or now. Updates are only
 * appended, so it is never before the previous update (`lastAt`). A time slightly in the future, from
 * a clock that is ahead, counts as now. Unix ms.
 */
export function readDisplayTime(
  text: string | undefined,
  lastAt: number,
  now: number,
  errors: FieldErrors,
): number {
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
      body: "The status page was deleted.",
      displayAt: Math.max(now, updates[0]?.displayAt ?? 0),
      notify: isAnnounced(row) || (planned.get(row.id) ?? true),
      createdAt: now,
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
