import type { Tx } from "../../db";
import { conflict, FieldErrors, validate } from "../../errors";
import type { EventType } from "../../events";
import type { Actor } from "../../domain/actor";
import type { MaintenanceStatus } from "../../domain/incident-status";
import { UPDATES_MAX } from "../timeline";
import {
  addUpdateRow,
  withStatus,
  type NewUpdate,
  plannedNotify,
  refreshCauses,
  requireNotEnded,
  saveChange,
  type Services,
  recordChange,
} from "./change";
import {
  AddMaintenanceUpdateBody,
  CancelMaintenanceBody,
  type Maintenance,
  type MaintenanceUpdate,
} from "./model";
import { getMaintenanceRecord } from "./records";
import { isEnded, isUnderWay, isAllowedTransition, STATUS_IN_WORDS } from "./rules";
import type { MaintenanceRow } from "./store";
import { readDisplayTime } from "./times";

/**
 * Tells something of a maintenance and, where the input names another status, takes it there. Answers
 * both as they are then. Throws `not_found`, `validation_failed`, or `conflict` for a status that may
 * not follow, for one that is over, and for one that has as many updates as it may have, unless the
 * update ends it.
 */
export function addMaintenanceUpdate(
  ctx: Services,
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
  if (!update) throw new Error("an update was added and is not there");
  return { maintenance, update };
}

/**
 * Cancels a maintenance, also one that is under way, with a last update. Its text and whether people are
 * notified are those of the input; without them it says that the maintenance is cancelled, and people
 * are notified as they were of the plan. Throws `not_found`, `validation_failed`, or `conflict` if the
 * maintenance is over.
 */
export function cancelMaintenance(
  ctx: Services,
  tx: Tx,
  id: string,
  actor: Actor,
  input: CancelMaintenanceBody = {},
): Maintenance {
  const { row, updates } = getMaintenanceRecord(tx, id);
  const { body = "The maintenance has been cancelled.", notify = plannedNotify(tx, id) } = validate(
    CancelMaintenanceBody,
    input,
  );
  const displayAt = Math.max(ctx.clock.now(), updates[0]?.displayAt ?? 0);
  return changeStatus(ctx, tx, row, { status: "cancelled", body, displayAt, notify }, actor);
}

function changeStatus(
  ctx: Services,
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
  saveChange(ctx, tx, after);
  addUpdateRow(ctx, tx, row.id, update);
  const isCancelling = status === "cancelled";
  const told = recordChange(ctx, tx, row.id, {
    event: eventOf(row.status, status),
    notify,
    actor,
    action: isCancelling ? "maintenance.cancel" : "maintenance.add_update",
    summary: isCancelling
      ? `Cancelled the maintenance “${row.name}”`
      : `Told of the maintenance “${row.name}” (${STATUS_IN_WORDS[status]})`,
  });
  if (isUnderWay(row.status) !== isUnderWay(status)) {
    refreshCauses(ctx, tx, after, { at, actor, notify });
  }
  return told;
}

/** Throws `conflict` if a maintenance that goes on has as many updates as it may have. */
function requireRoom(updates: number, status: MaintenanceStatus): void {
  if (updates < UPDATES_MAX || isEnded(status)) return;
  throw conflict(
    `The maintenance has ${UPDATES_MAX} updates, the most that it can have. Complete or cancel it, or plan a new maintenance for what follows.`,
  );
}

function eventOf(from: MaintenanceStatus, to: MaintenanceStatus): EventType {
  if (to === "completed") return "maintenance.completed";
  if (to === "cancelled") return "maintenance.cancelled";
  return from === "scheduled" && to === "in_progress"
    ? "maintenance.started"
    : "maintenance.updated";
}
