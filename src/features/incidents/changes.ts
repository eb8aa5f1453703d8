import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { FieldErrors, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { requireUpdate, toMs, UPDATES_MAX } from "../timeline/updates";
import { resolveIfOver } from "./automatic";
import {
  appendUpdate,
  prepareUpdate,
  requireFreeRef,
  requireRoomToReopen,
  saveIncident,
  type UpdateOfIncident,
  validateDisplayAt,
} from "./incidents";
import { findLastWritten } from "./outage-store";
import { getIncident, type IncidentRecord, toRecord, type UpdateRecord } from "./records";
import { firstWritten, timelineOf } from "./rules";
import { type IncidentRow, updateUpdateRow } from "./store";
import { AddUpdateBody, EditUpdateBody, PutPostmortemBody, UpdateIncidentBody } from "./wire";
import { isAllclears, takeOver } from "./words";

/**
 * Changes the name, impact, reference and times of an incident; omitted fields stay. `draft: false`
 * publishes a draft, whose event is `incident.created`. Changed times change causes and uptime. Writes
 * nothing if no field changes. An incident that Allclear opened is the actor's after a change of impact or times. One
 * whose outages have ended is resolved when it is published.
 *
 * Throws `not_found`, `validation_failed` with every invalid field, or `conflict` for an `external_ref`
 * in use (as `createIncident` does) and for a `resolved_at` of an incident that is not resolved.
 */
export function updateIncident(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: UpdateIncidentBody,
  actor: Actor,
  canSeeDrafts = true,
): IncidentRecord {
  validate(UpdateIncidentBody, input);
  const record = getIncident(tx, id, true);
  const { row: before, updates } = record;
  if (input.resolved_at !== undefined && before.status !== "resolved") {
    throw conflict("The incident is not resolved, so it has no resolved_at yet. Post an update.");
  }
  const desired = desiredRow(before, input);
  if (Bun.deepEquals(before, desired)) return record;
  requireFreeRef(tx, desired, canSeeDrafts);
  const isTakingOver = TAKES_OVER.some((field) => before[field] !== desired[field]);
  if (isTakingOver && takeOver(ctx, tx, before, { notify: true })) {
    return updateIncident(ctx, tx, id, input, actor, canSeeDrafts);
  }
  const update = updates[0];
  const isPublishing = before.draft && !desired.draft;
  const notify = isPublishing && (update?.notify ?? true);
  const row = saveIncident(ctx, tx, {
    before: record,
    row: desired,
    input,
    actor,
    event: { update, notify },
  });
  const action = isPublishing ? "incident.publish" : "incident.update";
  const verb = isPublishing ? "Published" : "Changed";
  audit(ctx, tx, actor, action, id, `${verb} the incident “${row.name}”`);
  if (!isPublishing || !isAllclears(tx, row)) {
    return toRecord(tx, { row, page: record.page }, updates);
  }
  resolveIfOver(ctx, tx, id);
  return getIncident(tx, id, true);
}

/** Fields by whose change an incident that Allclear opened becomes a person's. */
const TAKES_OVER = [
  "impactOverride",
  "startedAt",
  "identifiedAt",
  "monitoringAt",
  "resolvedAt",
] as const satisfies readonly (keyof IncidentRow)[];

/** Returns the row with the fields that a change names. */
export function desiredRow(before: IncidentRow, input: UpdateIncidentBody): IncidentRow {
  const time = (text: string | null | undefined, stored: number | null) => {
    if (text === undefined) return stored;
    return text === null ? null : toMs(text);
  };
  return {
    ...before,
    name: input.name ?? before.name,
    impactOverride:
      input.impact_override === undefined ? before.impactOverride : input.impact_override,
    externalRef: input.external_ref === undefined ? before.externalRef : input.external_ref,
    startedAt: time(input.started_at, before.startedAt) ?? before.startedAt,
    identifiedAt: time(input.identified_at, before.identifiedAt),
    monitoringAt: time(input.monitoring_at, before.monitoringAt),
    resolvedAt: time(input.resolved_at, before.resolvedAt),
    draft: input.draft ?? before.draft,
  };
}

/**
 * Writes an incident's post-mortem, and publishes or withdraws it if the input says so. Only a change
 * of a published post-mortem is recorded as an event. Throws `not_found`, or `validation_failed`.
 */
export function putPostmortem(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: PutPostmortemBody,
  actor: Actor,
): IncidentRecord {
  validate(PutPostmortemBody, input);
  const record = getIncident(tx, id, true);
  const { row: before, updates } = record;
  const publishedAt = publishedAtOf(before, input.publish, ctx.clock.now());
  if (before.postmortemBody === input.body && before.postmortemPublishedAt === publishedAt) {
    return record;
  }
  const row = saveIncident(ctx, tx, {
    before: record,
    row: {
      ...before,
      postmortemBody: input.body,
      postmortemPublishedAt: publishedAt,
      // No one sees the post-mortem of a draft.
      postmortemFirstPublishedAt:
        before.postmortemFirstPublishedAt ?? (before.draft ? null : publishedAt),
    },
    input: {},
    actor,
    event: postmortemEvent(before, publishedAt, updates[0], input.notify ?? true),
  });
  const summary = `Wrote the post-mortem of “${row.name}”${publishedAt === null ? "" : ", published"}`;
  audit(ctx, tx, actor, "incident.write_postmortem", id, summary);
  return toRecord(tx, { row, page: record.page }, updates);
}

function publishedAtOf(before: IncidentRow, publish: boolean | undefined, now: number) {
  if (publish === false) return null;
  return publish ? (before.postmortemPublishedAt ?? now) : before.postmortemPublishedAt;
}

function postmortemEvent(
  { postmortemPublishedAt: publishedBefore, postmortemFirstPublishedAt: first }: IncidentRow,
  publishedAt: number | null,
  update: UpdateRecord | undefined,
  notify: boolean,
) {
  if (publishedBefore !== null) return { update, notify: false };
  if (publishedAt === null) return undefined;
  const isNews = first === null;
  return { type: "incident.postmortem_published" as const, update, notify, isNews };
}

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
