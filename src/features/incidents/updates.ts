import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { FieldErrors } from "../../errors/field-errors";
import { validate } from "../../errors/examine";
import { audit } from "../../events/audit";
import type { Actor } from "../../domain/actor";
import {
  appendUpdate,
  prepareUpdate,
  requireRoomToReopen,
  type UpdateOfIncident,
} from "./append-update";
import { AddUpdateBody, EditUpdateBody } from "./bodies";
import { findLastWritten } from "./outage-store";
import { getIncident, type UpdateRecord } from "./records";
import { requireUpdate, toMs, UPDATES_MAX } from "../timeline/updates";
import { firstWritten, timelineOf } from "./rules";
import { saveIncident, validateDisplayAt } from "./save-incident";
import { updateUpdateRow } from "./store";
import { takeOver } from "./words";

/**
 * Adds an update. It takes effect at `display_at`, by default after all others, and keeps the status of
 * the update before it unless it names another. Components that a resolving update names get the named
 * status as their manual status. Another status reopens a resolved incident. An incident that Allclear
 * opened is the actor's from now on.
 *
 * Throws `not_found`, `validation_failed` with every invalid field, or `conflict` for an incident that
 * has no room for the update, unless the update resolves it.
 */
export function addUpdate(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  input: AddUpdateBody,
  actor: Actor,
): UpdateOfIncident {
  validate(AddUpdateBody, input);
  const prepared = prepareUpdate(ctx, tx, incidentId, input, false);
  const { displayAt } = prepared.update;
  if (takeOver(ctx, tx, prepared.incident.row, { notify: false, until: displayAt })) {
    return addUpdate(ctx, tx, incidentId, input, actor);
  }
  return appendUpdate(ctx, tx, prepared, input, actor);
}

/**
 * Changes the text of an update, or the time at which it took effect. The incident is computed again.
 * Throws `not_found`, `validation_failed`, or `conflict` if the time would reopen an incident without
 * room for one more update.
 */
export function editUpdate(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  updateId: string,
  input: EditUpdateBody,
  actor: Actor,
): UpdateOfIncident {
  validate(EditUpdateBody, input);
  const record = getIncident(tx, incidentId, true);
  const { row: before, updates } = record;
  const stored = requireUpdate(updates, updateId);
  const update: UpdateRecord = {
    ...stored,
    body: input.body ?? stored.body,
    displayAt: input.display_at === undefined ? stored.displayAt : toMs(input.display_at),
    updatedAt: ctx.clock.now(),
  };
  if (update.body === stored.body && update.displayAt === stored.displayAt) {
    return { row: before, update: stored };
  }
  const errors = new FieldErrors();
  const isFirst = stored === firstWritten(updates);
  const startedAt = isFirst ? undefined : before.startedAt;
  validateDisplayAt(errors, update.displayAt, startedAt, ctx.clock.now());
  errors.throwIfAny();
  // The edit itself notifies no one.
  if (takeOver(ctx, tx, before, { notify: true, until: updates[0]?.displayAt })) {
    return editUpdate(ctx, tx, incidentId, updateId, input, actor);
  }
  const after = updates.map((each) => (each === stored ? update : each));
  if (before.status === "resolved" && timelineOf(before, after, undefined).status !== "resolved") {
    requireRoomToReopen(updates);
  }
  const { components: _, ...fields } = update;
  updateUpdateRow(tx, fields);
  const row = saveIncident(ctx, tx, {
    before: record,
    updates: after,
    input,
    actor,
    // A correction is recorded without notifying people.
    event: { update, notify: false },
  });
  const summary = `Edited an update of the incident “${row.name}”`;
  audit(ctx, tx, actor, "incident.edit_update", incidentId, summary);
  return { row, update };
}

/** Returns one update of an incident. Throws `not_found`. */
export function getUpdate(
  reader: Reader,
  incidentId: string,
  updateId: string,
  canSeeDrafts: boolean,
): UpdateOfIncident {
  const { row, updates } = getIncident(reader, incidentId, canSeeDrafts);
  return { row, update: requireUpdate(updates, updateId) };
}

/** Returns true if an incident has room for one more update, whether or not that resolves it. */
export function hasRoomForUpdate(reader: Reader, incidentId: string): boolean {
  return (findLastWritten(reader, { incidentId })?.count ?? 0) < UPDATES_MAX;
}
