import { type Static, Type } from "@sinclair/typebox";
import { type Actor, authorOf } from "../../base/actor";
import { InstantText } from "../../base/schema";
import type { MaintenanceStatus } from "../../base/status";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { replaceCauses } from "../components/statuses";
import { touchPage } from "../pages/pages";
import { isInFuture, toMs, UPDATES_MAX } from "../timeline/updates";
import { chooseComponents, readTimes } from "./maintenance";
import { getMaintenance, getMaintenanceRecord } from "./records";
import { isUnderWay, REMIND_MINUTES_BEFORE, settledReminder } from "./rules";
import { NEW_MAINTENANCE, recordMaintenanceEvent, replaceChosen } from "./save";
import {
  deleteMaintenanceUpdates,
  insertMaintenance,
  insertMaintenanceUpdate,
  type MaintenanceRow,
  updateMaintenanceRow,
} from "./store";
import { MaintenanceUpdate, PlanMaintenanceBody } from "./wire";

const { page: _page, notify: _notify, body, ...fields } = PlanMaintenanceBody.properties;

/** A whole maintenance of another product. */
export const ImportMaintenanceBody = Type.Object(
  {
    ...fields,
    updates: Type.Array(
      Type.Object({
        status: MaintenanceUpdate.properties.status,
        body,
        display_at: InstantText(),
      }),
      { minItems: 1, maxItems: UPDATES_MAX },
    ),
  },
  { additionalProperties: false },
);
type ImportMaintenanceBody = Static<typeof ImportMaintenanceBody>;

/**
 * Records a maintenance of another product, past or to come, with all of its updates, without notifying people.
 * Maintenance that nobody started in that product has been in progress at its planned times. `id` is that of a
 * maintenance which an earlier import recorded: it is replaced. Components are named by their ids.
 *
 * Throws `not_found`, or `validation_failed` with every invalid field.
 */
export function importMaintenance(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  input: Valid<ImportMaintenanceBody>,
  actor: Actor,
  id?: string,
): MaintenanceRow {
  const before = id === undefined ? undefined : getMaintenanceRecord(tx, id).row;
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const planned = readTimes(input, { scheduledFor: 0, scheduledUntil: 0 }, errors);
  const chosen = chooseComponents(tx, pageId, input.components, [], errors);
  const updates = input.updates.map(({ status, body, display_at }, index) => {
    const displayAt = toMs(display_at);
    if (isInFuture(displayAt, now))
      errors.add(["updates", index, "display_at"], "is in the future");
    return { status, body, displayAt };
  });
  errors.throwIfAny();
  const { remind_minutes_before: remindMinutesBefore = REMIND_MINUTES_BEFORE } = input;
  const last = updates.at(-1)?.status;
  // One that goes on after its planned end waits for a person there, so here the clock must not end it.
  const isOverdue = last !== undefined && isUnderWay(last) && planned.scheduledUntil <= now;
  const autoComplete = input.auto_complete ?? !isOverdue;
  const flags = { autoStart: input.auto_start ?? true, autoComplete };
  const { endedAt, ...progress } = progressOf({ ...planned, ...flags }, updates, now);
  const times = updates.map(({ displayAt }) => displayAt);
  const row: MaintenanceRow = {
    // What another product does not know of stays as it is here.
    ...(before ?? NEW_MAINTENANCE),
    id: before?.id ?? ctx.newId("mnt"),
    pageId,
    name: input.name,
    ...planned,
    ...progress,
    ...flags,
    remindMinutesBefore,
    remindedAt: settledReminder({ ...planned, remindMinutesBefore }, now),
    version: (before?.version ?? 0) + 1,
    createdAt: before?.createdAt ?? Math.min(...times),
    updatedAt: Math.max(...times, progress.completedAt ?? 0),
    author: before?.author ?? authorOf(actor),
  };
  const maintenanceId = row.id;
  if (before) {
    deleteMaintenanceUpdates(tx, { maintenanceId });
    updateMaintenanceRow(tx, row);
  } else insertMaintenance(tx, row);
  replaceChosen(tx, maintenanceId, chosen);
  for (const update of updates) {
    const createdAt = update.displayAt;
    const ids = { id: ctx.newId("upd"), maintenanceId };
    insertMaintenanceUpdate(tx, { ...ids, ...update, notify: false, createdAt, lang: null });
  }
  const { startedAt } = row;
  const affected = startedAt === null ? [] : chosen;
  const causes = affected.map((component) => ({
    componentId: component.id,
    status: "under_maintenance" as const,
    from: startedAt ?? now,
    to: endedAt,
  }));
  const reason = { source: "maintenance", actor, reason: row.name, notify: false } as const;
  replaceCauses(ctx, tx, "maintenance", maintenanceId, causes, reason);
  const [type, action, verb] = before
    ? (["maintenance.updated", "maintenance.update", "Changed"] as const)
    : (["maintenance.scheduled", "maintenance.plan", "Planned"] as const);
  const maintenance = getMaintenance(ctx, tx, maintenanceId);
  recordMaintenanceEvent(ctx, tx, type, maintenance, { notify: false, actor });
  audit(ctx, tx, actor, action, maintenanceId, `${verb} the maintenance “${row.name}”`);
  touchPage(ctx, tx, pageId);
  return row;
}

/** Planned times and flags, in unix ms. */
type Plan = Pick<MaintenanceRow, "scheduledFor" | "scheduledUntil" | "autoStart">;

/**
 * Returns the status of a maintenance with its actual times, and the time from which its components are no longer
 * under maintenance (null while they are, or were never). Unix ms.
 */
function progressOf(
  { scheduledFor, scheduledUntil, autoStart }: Plan,
  updates: readonly { status: MaintenanceStatus; displayAt: number }[],
  now: number,
) {
  const begun = updates.find(({ status }) => isUnderWay(status));
  const last = updates.at(-1) ?? { status: "scheduled" as const, displayAt: now };
  const startedAt = begun?.displayAt ?? null;
  switch (last.status) {
    case "completed": {
      const completedAt = last.displayAt;
      const from = startedAt ?? Math.min(scheduledFor, completedAt);
      return { status: last.status, startedAt: from, completedAt, endedAt: completedAt };
    }
    case "cancelled":
      return { status: last.status, startedAt, completedAt: null, endedAt: last.displayAt };
    case "scheduled": {
      if (scheduledUntil <= now) {
        const [from, until] = [scheduledFor, scheduledUntil];
        const status = "completed" as const;
        return { status, startedAt: from, completedAt: until, endedAt: until };
      }
      const isRunning = autoStart && scheduledFor <= now;
      const status = isRunning ? ("in_progress" as const) : ("scheduled" as const);
      const from = isRunning ? scheduledFor : null;
      return { status, startedAt: from, completedAt: null, endedAt: null };
    }
    default:
      return { status: last.status, startedAt, completedAt: null, endedAt: null };
  }
}
