/*
 * Verbs of incidents: people and API keys open, change and delete them. A verb takes a body that its schema has
 * examined, and finds the other errors. For the valid fields of an invalid body, the route finds them with the same
 * function, such as `readNewIncident`, so that one answer lists every invalid field.
 */
import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { ComponentStatus, IncidentStatus } from "../../base/status";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit, recordAudits } from "../../events/audit";
import { resolveNamedComponents } from "../components/references";
import { replaceCauses } from "../components/statuses";
import { findNamedPage, touchPage, wordsForPage } from "../pages/pages";
import { requireUpdate, toMs } from "../timeline/updates";
import { isStillAutomatic, resolveIfOver, takeOver } from "./automatic-updates";
import { automationOf } from "./outage-store";
import {
  affectedBy,
  bodiesOf,
  countComplete,
  getIncident,
  getIncidentWithUpdates,
  type IncidentRecord,
  type IncidentWithPage,
  type IncidentWithUpdates,
  listUpdates,
  type UpdateList,
  type UpdateOfIncident,
  type UpdateRecord,
  withBody,
  withTexts,
} from "./records";
import {
  columnsChanged,
  componentsOf,
  firstWritten,
  impactOf,
  timelineOf,
  validateDisplayAt,
  validateTimes,
} from "./rules";
import {
  appendUpdate,
  buildUpdate,
  computeChange,
  NEW_INCIDENT,
  prepareUpdate,
  publish,
  recordIncidentEvent,
  requireRoomToReopen,
  saveIncident,
  writeUpdate,
} from "./save";
import {
  deleteIncidentRows,
  findIncidentByRef,
  type IncidentRow,
  insertIncident,
  listAllOpenRows,
  updateUpdateRow,
} from "./store";
import type {
  AddUpdateBody,
  CreateIncidentBody,
  EditUpdateBody,
  IncidentSource,
  PutPostmortemBody,
  UpdateIncidentBody,
} from "./wire";

/**
 * Opens an incident with its first update, or records one that is over. The update takes effect at the
 * end of an incident that is over, else at its start. The statuses that it gives components apply from
 * the start on. A draft has no causes and no event.
 *
 * Throws `validation_failed` with every invalid field, or `conflict` for an `external_ref` that another
 * incident of the page has. The conflict names a draft only if `canSeeDrafts`.
 */
export function createIncident(
  ctx: Ctx,
  tx: Tx,
  input: Valid<CreateIncidentBody>,
  source: IncidentSource,
  actor: Actor,
  canSeeDrafts = true,
): IncidentRecord {
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const { page, named, startedAt, status, resolvedAt } = readNewIncident(tx, input, errors, now);
  errors.throwIfAny();
  if (!page) throw new Error("an unknown page has an error");
  const id = ctx.newId("inc");
  const displayAt = resolvedAt ?? startedAt;
  const isAutomatic = source === "monitor";
  const lang = isAutomatic ? wordsForPage(tx, page.id).lang : null;
  const effect = { status, displayAt, isAutomatic, lang };
  const update = buildUpdate(ctx, id, named, input, effect);
  const { draft = false, impact_override: impactOverride = null } = input;
  const timeline = timelineOf({ startedAt, draft, resolvedAt }, [update], undefined);
  const row: IncidentRow = {
    ...NEW_INCIDENT,
    id,
    pageId: page.id,
    name: input.name,
    nameLang: lang,
    status,
    impact: impactOf(namedStatuses([update]), impactOverride),
    impactOverride,
    source,
    draft,
    externalRef: input.external_ref ?? null,
    startedAt,
    identifiedAt: timeline.identifiedAt,
    monitoringAt: timeline.monitoringAt,
    resolvedAt,
    createdAt: now,
    updatedAt: now,
  };
  requireFreeRef(tx, row, canSeeDrafts);
  insertIncident(tx, row);
  writeUpdate(tx, update);
  audit(ctx, tx, actor, "incident.create", row.id, `${opened(row)} “${row.name}”`);
  const components = componentsOf(timeline, [update], undefined);
  const record = { row, page, components, updates: [update] };
  if (draft) return record;
  const event = { type: "incident.created", update, notify: update.notify } as const;
  publish(ctx, tx, record, actor, { event, causes: timeline.causes });
  return record;
}

/**
 * Reads the page, components, times and status of a new incident from the valid fields of its body. Adds an error for
 * each unknown reference and each impossible time. `now` is in unix ms.
 */
export function readNewIncident(
  reader: Reader,
  input: Partial<CreateIncidentBody>,
  errors: FieldErrors,
  now: number,
) {
  const page = input.page === undefined ? undefined : findNamedPage(reader, errors, input.page);
  const end = input.resolved_at === undefined ? undefined : toMs(input.resolved_at);
  const start = input.started_at === undefined ? undefined : toMs(input.started_at);
  const startedAt = start ?? Math.min(now, end ?? now);
  const status = statusOf(errors, input);
  const resolvedAt = status === "resolved" ? (end ?? Math.max(now, startedAt)) : null;
  const named = resolveNamedComponents(reader, errors, page?.id, input.components);
  const times = { startedAt, identifiedAt: null, monitoringAt: null, resolvedAt };
  validateTimes(errors, times, [], input, now);
  return { page, named, startedAt, status, resolvedAt };
}

/** Returns the status of a new incident, and adds an error for a `resolved_at` that does not fit it. */
function statusOf(
  errors: FieldErrors,
  { status: named, resolved_at: end }: Partial<CreateIncidentBody>,
): IncidentStatus {
  const status = named ?? (end === undefined ? "investigating" : "resolved");
  if (status !== "resolved" && end !== undefined) {
    errors.add(["resolved_at"], `is only for a resolved incident, but the status is ${status}`);
  }
  return status;
}

/** Throws `conflict` if another incident has the reference, and names it if the caller may see it. */
export function requireFreeRef(
  reader: Reader,
  { id, pageId, externalRef }: Pick<IncidentRow, "id" | "pageId" | "externalRef">,
  canSeeDrafts: boolean,
): void {
  if (externalRef === null) return;
  const holder = findIncidentByRef(reader, { pageId, externalRef });
  if (!holder || holder.id === id) return;
  const isSeen = canSeeDrafts || !holder.draft;
  const name = isSeen ? `the incident ${holder.id}` : "another incident of the page";
  throw conflict(`The external_ref ${externalRef} is taken by ${name}.`);
}

function opened({ draft, status }: IncidentRow): string {
  if (draft) return "Drafted the incident";
  return status === "resolved" ? "Wrote down the incident" : "Opened the incident";
}

/**
 * Changes the name, impact, reference and times of an incident; omitted fields stay. `draft: false`
 * publishes a draft, whose event is `incident.created`. Changed times change causes and uptime. Writes
 * nothing if no field changes. An incident that Allclear opened becomes the
 * actor's by a change of impact or times. One whose outages have ended is resolved when it is published.
 *
 * Throws `not_found`, `validation_failed` with every invalid field, or `conflict` for an `external_ref`
 * in use (as `createIncident` does) and for a `resolved_at` of an incident that is not resolved.
 */
export function updateIncident(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<UpdateIncidentBody>,
  actor: Actor,
  canSeeDrafts = true,
): IncidentRecord {
  const stored = getIncidentWithUpdates(tx, id, true);
  const { row: before } = stored;
  if (input.resolved_at !== undefined && before.status !== "resolved") {
    throw conflict("The incident is not resolved, so it has no resolved_at yet. Post an update.");
  }
  const desired = desiredRow(before, input);
  if (Bun.deepEquals(before, desired)) return getIncident(tx, id, true);
  requireFreeRef(tx, desired, canSeeDrafts);
  const isTakingOver = columnsChanged("taken over").some(
    (column) => before[column] !== desired[column],
  );
  if (isTakingOver && takeOver(ctx, tx, before, { notify: true })) {
    return updateIncident(ctx, tx, id, input, actor, canSeeDrafts);
  }
  const updates = withTexts(tx, stored.updates);
  const isPublishing = before.draft && !desired.draft;
  const notify = isPublishing && (updates[0]?.notify ?? true);
  const change = { before: stored, row: desired, input };
  const saved = saveIncident(ctx, tx, change, actor, { update: updates[0], notify });
  const action = isPublishing ? "incident.publish" : "incident.update";
  const verb = isPublishing ? "Published" : "Changed";
  audit(ctx, tx, actor, action, id, `${verb} the incident “${saved.row.name}”`);
  if (!isPublishing || !isStillAutomatic(tx, saved.row)) return { ...stored, ...saved, updates };
  resolveIfOver(ctx, tx, id);
  return getIncident(tx, id, true);
}

/** Adds the errors of the valid fields of a change: impossible times. `now` is in unix ms. */
export function readIncidentChange(
  reader: Reader,
  before: IncidentWithUpdates,
  input: UpdateIncidentBody,
  errors: FieldErrors,
  now: number,
): void {
  computeChange(reader, { before, row: desiredRow(before.row, input), input }, errors, now);
}

/** Returns the row with the fields that a change names. */
function desiredRow(before: IncidentRow, input: UpdateIncidentBody): IncidentRow {
  const time = (text: string | null | undefined, stored: number | null) => {
    if (text === undefined) return stored;
    return text === null ? null : toMs(text);
  };
  return {
    ...before,
    name: input.name ?? before.name,
    nameLang: (input.name ?? before.name) === before.name ? before.nameLang : null,
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
 * of a published post-mortem is recorded as an event. Throws `not_found`.
 */
export function putPostmortem(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PutPostmortemBody>,
  actor: Actor,
): IncidentRecord {
  const stored = getIncidentWithUpdates(tx, id, true);
  const { row: before } = stored;
  const publishedAt = publishedAtOf(before, input.publish, ctx.clock.now());
  if (before.postmortemBody === input.body && before.postmortemPublishedAt === publishedAt) {
    return getIncident(tx, id, true);
  }
  const updates = withTexts(tx, stored.updates);
  const row = {
    ...before,
    postmortemBody: input.body,
    postmortemPublishedAt: publishedAt,
    // No one sees the post-mortem of a draft.
    postmortemFirstPublishedAt:
      before.postmortemFirstPublishedAt ?? (before.draft ? null : publishedAt),
  };
  const event = postmortemEvent(before, publishedAt, updates[0], input.notify ?? true);
  const saved = saveIncident(ctx, tx, { before: stored, row, input: {} }, actor, event);
  const summary = `Wrote the post-mortem of “${row.name}”${publishedAt === null ? "" : ", published"}`;
  audit(ctx, tx, actor, "incident.write_postmortem", id, summary);
  return { ...stored, ...saved, updates };
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
  input: Valid<AddUpdateBody>,
  actor: Actor,
): UpdateOfIncident {
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
  input: Valid<EditUpdateBody>,
  actor: Actor,
): UpdateOfIncident {
  const stored = getIncidentWithUpdates(tx, incidentId, true);
  const { row: before } = stored;
  const updates = withTexts(tx, stored.updates);
  const current = requireUpdate(updates, updateId);
  const now = ctx.clock.now();
  const update: UpdateRecord = {
    ...current,
    body: input.body ?? current.body,
    lang: (input.body ?? current.body) === current.body ? current.lang : null,
    displayAt: input.display_at === undefined ? current.displayAt : toMs(input.display_at),
    updatedAt: now,
  };
  if (update.body === current.body && update.displayAt === current.displayAt) {
    return { row: before, update: current };
  }
  const errors = new FieldErrors();
  validateEditedTime(errors, stored, updateId, update.displayAt, now);
  errors.throwIfAny();
  // The edit itself notifies no one.
  if (takeOver(ctx, tx, before, { notify: true, until: updates[0]?.displayAt })) {
    return editUpdate(ctx, tx, incidentId, updateId, input, actor);
  }
  const after = updates.map((each) => (each === current ? update : each));
  if (before.status === "resolved" && timelineOf(before, after, undefined).status !== "resolved") {
    requireRoomToReopen(updates);
  }
  const { components: _, ...fields } = update;
  updateUpdateRow(tx, fields);
  // A correction is recorded without notifying people.
  const event = { update, notify: false };
  const change = { before: stored, updates: after, input };
  const { row } = saveIncident(ctx, tx, change, actor, event);
  const summary = `Edited an update of the incident “${row.name}”`;
  audit(ctx, tx, actor, "incident.edit_update", incidentId, summary);
  return { row, update };
}

/** Adds an error for the time to which an update is moved. The first one may take effect before the start. Unix ms. */
export function validateEditedTime(
  errors: FieldErrors,
  { row, updates }: IncidentWithUpdates,
  updateId: string,
  displayAt: number,
  now: number,
): void {
  const isFirst = firstWritten(updates)?.id === updateId;
  validateDisplayAt(errors, displayAt, isFirst ? undefined : row.startedAt, now);
}

/**
 * Deletes an incident and ends its causes now. Their past stays in the history of the components.
 * Throws `not_found`.
 */
export function deleteIncident(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const incident = getIncidentWithUpdates(tx, id, true);
  const { row, updates } = incident;
  const now = ctx.clock.now();
  deleteRows(ctx, tx, [{ ...incident, isTruncated: false }], { actor, now });
  if (row.draft) return;
  const { causes } = timelineOf(row, updates, automationOf(tx, row));
  const ended = causes.map((cause) => ({ ...cause, to: cause.to ?? now }));
  const changeReason = { source: "incident", actor, reason: row.name, notify: true } as const;
  replaceCauses(ctx, tx, "incident", id, ended, changeReason);
  touchPage(ctx, tx, row.pageId);
}

/**
 * Deletes the published open incidents of a page, with the same events and audit rows as
 * `deleteIncident`. The components of the page are deleted already, so there are no causes to end.
 * Drafts and resolved incidents were never announced or have ended; they stay.
 */
export function deleteOpenIncidentsOfPage(ctx: Ctx, tx: Tx, pageId: string, actor: Actor): void {
  const openIncidents = listAllOpenRows(tx, { pageId });
  if (openIncidents.length === 0) return;
  const ids = openIncidents.map(({ row }) => row.id);
  const lists = listUpdates(tx, ids, countComplete(tx, ids));
  const incidents = openIncidents.map((one, index) => ({
    ...one,
    ...(lists[index] ?? { updates: [], isTruncated: false }),
  }));
  deleteRows(ctx, tx, incidents, { actor, now: ctx.clock.now() });
  touchPage(ctx, tx, pageId);
}

/** Deletes incidents, and records their audit rows and the events of published ones. */
function deleteRows(
  ctx: Ctx,
  tx: Tx,
  incidents: readonly (IncidentWithPage & UpdateList)[],
  { actor, now }: { actor: Actor; now: number },
): void {
  deleteIncidentRows(tx, { ids: JSON.stringify(incidents.map(({ row }) => row.id)), at: now });
  recordAudits(
    tx,
    incidents.map(({ row: { id, name } }) => ({
      actor,
      action: "incident.delete",
      targetId: id,
      summary: `Deleted the incident “${name}”`,
      at: now,
    })),
  );
  const published = incidents.filter(({ row }) => !row.draft);
  // Only the texts of the newest updates are read, since the events contain no others.
  const bodies = bodiesOf(
    tx,
    published.flatMap(({ updates }) => updates.slice(0, 1)),
  );
  for (const { row: before, page, updates, isTruncated } of published) {
    const row = { ...before, version: before.version + 1, updatedAt: now, deletedAt: now };
    const components = affectedBy(row, updates, isTruncated ? undefined : automationOf(tx, row));
    const record = { row, page, components, isTruncated };
    const update = updates[0] && withBody(updates[0], bodies);
    const event = { type: "incident.deleted", update, notify: true } as const;
    recordIncidentEvent(ctx, tx, record, actor, event);
  }
}

export function namedStatuses(updates: readonly UpdateRecord[]): ComponentStatus[] {
  return updates.flatMap(({ components }) => components.map(({ newStatus }) => newStatus));
}
