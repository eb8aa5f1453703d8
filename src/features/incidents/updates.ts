import type { Reader, Tx } from "../../db";
import { conflict, FieldErrors, validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import type { ComponentStatus } from "../../domain/component-status";
import type { IncidentStatus } from "../../domain/incident-status";
import { existenceProblem, type ResolvedComponent, resolveComponents } from "../components";
import { AddUpdateBody, EditUpdateBody } from "./bodies";
import {
  getIncident,
  getIncidentRow,
  listUpdateSummaries,
  type UpdateSummary,
  type UpdateRecord,
} from "./records";
import { requireUpdate, toMs, UPDATES_MAX } from "../timeline";
import { exceededLimit, firstWritten, isResolving, timelineOf } from "./rules";
import { saveIncident, type Services, validateDisplayAt } from "./save-incident";
import {
  type IncidentRow,
  insertNamings,
  insertUpdate,
  type NamingRow,
  updateUpdateRow,
} from "./store";

/** An update and its incident. */
interface UpdateOfIncident {
  row: IncidentRow;
  update: UpdateRecord;
}

/**
 * Adds an update. It takes effect at `display_at`, by default after all others, and keeps the status of
 * the update before it unless it names another. Components that a resolving update names get the named
 * status as their manual status. Another status reopens a resolved incident.
 *
 * Throws `not_found`, `validation_failed` with every invalid field, or `conflict` for an incident that
 * has no room for the update, unless the update resolves it or the server adds it.
 */
export function addUpdate(
  ctx: Services,
  tx: Tx,
  incidentId: string,
  input: AddUpdateBody,
  actor: Actor,
): UpdateOfIncident {
  validate(AddUpdateBody, input);
  const incidentWithPage = getIncidentRow(tx, incidentId, true);
  const { row: before } = incidentWithPage;
  const updates = listUpdateSummaries(tx, incidentId);
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt =
    input.display_at === undefined ? timeAfterAll(before, updates, now) : toMs(input.display_at);
  if (input.display_at !== undefined) validateDisplayAt(errors, displayAt, before.startedAt, now);
  const status = input.status ?? statusAt(updates, displayAt) ?? before.status;
  const update = buildUpdate(ctx, tx, errors, before, input, { status, displayAt });
  errors.throwIfAny();
  if (actor.kind !== "system") requireRoom(updates, update);
  writeUpdate(tx, update);
  const row = saveIncident(ctx, tx, {
    before: { ...incidentWithPage, updates },
    updates: [...updates, update],
    input,
    actor,
    event: { update, notify: update.notify, isNews: true },
  });
  const summary = `Updated the incident “${row.name}”: ${update.status}`;
  audit(ctx, tx, actor, "incident.add_update", incidentId, summary);
  return { row, update };
}

/**
 * Changes the text of an update, or the time at which it took effect. The incident is computed again.
 * Throws `not_found`, `validation_failed`, or `conflict` if the time would reopen an incident without
 * room for one more update.
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
  const after = updates.map((each) => (each === stored ? update : each));
  if (before.status === "resolved" && timelineOf(before, after).status !== "resolved") {
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
  return exceededLimit(listUpdateSummaries(reader, incidentId), 0) === undefined;
}

/**
 * Builds an update of an incident from the fields of a body. It names components with their present
 * names and statuses, ordered by id. Adds the errors of `resolveNamedComponents`.
 */
export function buildUpdate(
  ctx: Services,
  reader: Reader,
  errors: FieldErrors,
  incident: { id: string; pageId: string | undefined },
  input: Pick<AddUpdateBody, "body" | "components" | "notify">,
  effect: { status: IncidentStatus; displayAt: number },
): UpdateRecord {
  const { body, components: statuses = {}, notify = true } = input;
  const now = ctx.clock.now();
  const ids = { updateId: ctx.newId("upd"), incidentId: incident.id };
  const components: NamingRow[] = [];
  for (const { reference, row } of resolveNamedComponents(
    reader,
    errors,
    incident.pageId,
    statuses,
  )) {
    const newStatus = statuses[reference];
    if (!row || !newStatus) continue;
    const { id: componentId, name, status: oldStatus } = row;
    components.push({ ...ids, componentId, name, oldStatus, newStatus });
  }
  components.sort((one, other) => (one.componentId < other.componentId ? -1 : 1));
  const { updateId: id, incidentId } = ids;
  return { id, incidentId, ...effect, body, notify, createdAt: now, updatedAt: now, components };
}

/**
 * Returns the components that the field `components` of a body names. Adds an error for each reference to
 * an unknown component, to one of another page, or to one that an earlier reference names. Every page's
 * components are allowed if `pageId` is undefined.
 */
export function resolveNamedComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | undefined,
  statuses: Readonly<Record<string, ComponentStatus>> = {},
): ResolvedComponent[] {
  return resolveComponents(
    reader,
    Object.keys(statuses),
    errors,
    (reference) => ["components", reference],
    (row) => {
      const isElsewhere = row && pageId !== undefined && row.pageId !== pageId;
      return isElsewhere ? "is a component of another page" : existenceProblem(row);
    },
  );
}

/** Writes an update with the statuses of components. */
export function writeUpdate(tx: Tx, { components, ...update }: UpdateRecord): void {
  insertUpdate(tx, update);
  insertNamings(tx, components);
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

/**
 * Returns the time of a new update: now, or just after the newest update if that is later, since a
 * clock was set back or the clock of a client is ahead.
 */
function timeAfterAll(row: IncidentRow, summaries: readonly UpdateSummary[], now: number): number {
  const newest = summaries[0]?.displayAt ?? row.startedAt;
  return now >= newest ? Math.max(now, row.startedAt) : Math.max(newest + 1, row.startedAt);
}

/** Returns the status that an incident had at a time. `summaries` are ordered newest first. */
function statusAt(summaries: readonly UpdateSummary[], at: number) {
  return summaries.find(({ displayAt }) => displayAt <= at)?.status;
}
