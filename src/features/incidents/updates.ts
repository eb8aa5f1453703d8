import type { Reader, Tx } from "../../db";
import { conflict, FieldErrors, notFound, validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { AddUpdateBody, EditUpdateBody } from "./bodies";
import { nameComponents, writeUpdate } from "./naming";
import {
  getIncident,
  getIncidentRow,
  listUpdateSummaries,
  type UpdateSummary,
  type UpdateRecord,
} from "./records";
import { UPDATES_MAX } from "../timeline";
import { exceededLimit, firstWritten, isResolving, timelineOf } from "./rules";
import { type Services, saveIncident } from "./save-incident";
import { type IncidentRow, updateUpdateRow } from "./store";
import { validateDisplayAt, toMs } from "./times";

/** An update and the incident as it is with it. */
export interface UpdateOfIncident {
  row: IncidentRow;
  update: UpdateRecord;
}

/**
 * Adds an update. It takes effect at `display_at`, behind all others unless that says otherwise, and
 * goes on with the status of the one before unless it names another. Components that a resolving
 * update names get the named status as their baseline; another status reopens a resolved incident.
 *
 * Throws `not_found`, `validation_failed` that names every broken field, or `conflict` for an incident
 * that has as many updates as it may have, unless the update resolves it or the server itself adds it.
 */
export function addUpdate(
  ctx: Services,
  tx: Tx,
  incidentId: string,
  input: AddUpdateBody,
  actor: Actor,
): UpdateOfIncident {
  validate(AddUpdateBody, input);
  const found = getIncidentRow(tx, incidentId, true);
  const { row: before } = found;
  const summaries = listUpdateSummaries(tx, incidentId);
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt =
    input.display_at === undefined ? behindAll(before, summaries, now) : toMs(input.display_at);
  if (input.display_at !== undefined) validateDisplayAt(errors, displayAt, before.startedAt, now);
  const id = ctx.newId("upd");
  const update: UpdateRecord = {
    id,
    incidentId,
    status: input.status ?? statusAt(summaries, displayAt) ?? before.status,
    body: input.body,
    displayAt,
    notify: input.notify ?? true,
    createdAt: now,
    updatedAt: now,
    components: nameComponents(
      tx,
      errors,
      before.pageId,
      { updateId: id, incidentId },
      input.components,
    ),
  };
  errors.throwIfAny();
  if (actor.kind !== "system") requireRoom(summaries, update);
  writeUpdate(tx, update);
  const tell = { update, notify: update.notify };
  const after = [...summaries, update];
  const row = saveIncident(ctx, tx, {
    found,
    desired: before,
    summaries,
    after,
    input,
    actor,
    tell,
  });
  const summary = `Updated the incident “${row.name}”: ${update.status}`;
  audit(ctx, tx, actor, "incident.add_update", incidentId, summary);
  return { row, update };
}

/**
 * Changes the text of an update, or the moment at which it took effect; when it was written stays.
 * The incident is computed again. Throws `not_found`, `validation_failed`, or `conflict` where the moment
 * would reopen an incident that is full.
 */
export function editUpdate(
  ctx: Services,
  tx: Tx,
  incidentId: string,
  updateId: string,
  input: EditUpdateBody,
  actor: Actor,
): UpdateOfIncident {
  validate(EditUpdateBody, input);
  const { row: before, page, updates } = getIncident(tx, incidentId, true);
  const known = updates.find((each) => each.id === updateId);
  if (!known) throw notFound("update");
  const update: UpdateRecord = {
    ...known,
    body: input.body ?? known.body,
    displayAt: input.display_at === undefined ? known.displayAt : toMs(input.display_at),
    updatedAt: ctx.clock.now(),
  };
  if (update.body === known.body && update.displayAt === known.displayAt) {
    return { row: before, update: known };
  }
  const errors = new FieldErrors();
  const isFirst = known === firstWritten(updates);
  const startedAt = isFirst ? undefined : before.startedAt;
  validateDisplayAt(errors, update.displayAt, startedAt, ctx.clock.now());
  errors.throwIfAny();
  const after = updates.map((each) => (each === known ? update : each));
  if (before.status === "resolved" && timelineOf(before, after).status !== "resolved") {
    requireRoomToReopen(updates);
  }
  const { components: _, ...fields } = update;
  updateUpdateRow(tx, fields);
  const row = saveIncident(ctx, tx, {
    found: { row: before, page },
    desired: before,
    summaries: updates,
    after,
    input,
    actor,
    // Who mends a typing error wakes nobody.
    tell: { update, notify: false },
  });
  const summary = `Edited an update of the incident “${row.name}”`;
  audit(ctx, tx, actor, "incident.edit_update", incidentId, summary);
  return { row, update };
}

/** One update of an incident. Throws `not_found`. */
export function getUpdate(
  reader: Reader,
  incidentId: string,
  updateId: string,
  maySeeDrafts: boolean,
): UpdateOfIncident {
  const { row, updates } = getIncident(reader, incidentId, maySeeDrafts);
  const update = updates.find((each) => each.id === updateId);
  if (!update) throw notFound("update");
  return { row, update };
}

/** Returns true if an incident has room for one more update, whether or not that resolves it. */
export function hasRoomForUpdate(reader: Reader, incidentId: string): boolean {
  return exceededLimit(listUpdateSummaries(reader, incidentId), 0) === undefined;
}

/** Throws `conflict` if an incident is full, unless the update resolves it. */
function requireRoom(summaries: readonly UpdateSummary[], update: UpdateRecord): void {
  const exceeded = exceededLimit(summaries, update.components.length);
  if (exceeded === undefined || isResolving(summaries, update)) return;
  throw conflict(`${LIMITS[exceeded]} Resolve it, or open a new incident for what follows.`);
}

/** Throws `conflict` if a resolved incident is full: once it is open, the update that resolves it is one more. */
function requireRoomToReopen(summaries: readonly UpdateSummary[]): void {
  const exceeded = exceededLimit(summaries, 1);
  if (exceeded === undefined) return;
  throw conflict(`${LIMITS[exceeded]} It cannot be reopened: open a new incident.`);
}

const LIMITS = {
  updates: `The incident has ${UPDATES_MAX} updates, the most that it can have.`,
  components: "The updates of the incident name as many components as they can.",
};

/** Now, or where a clock was set back or a caller's runs fast, just behind what was told before. */
function behindAll(row: IncidentRow, summaries: readonly UpdateSummary[], now: number): number {
  const newest = summaries[0]?.displayAt ?? row.startedAt;
  return now >= newest ? Math.max(now, row.startedAt) : Math.max(newest + 1, row.startedAt);
}

/** The status that an incident had at a moment. `heads` run from the newest. */
function statusAt(
  summaries: readonly UpdateSummary[],
  at: number,
): UpdateSummary["status"] | undefined {
  return summaries.find((head) => head.displayAt <= at)?.status;
}
