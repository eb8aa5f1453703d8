/*
 * Verbs of incidents: people and API keys open, change and delete them, and imports write whole ones. A verb takes a
 * body that its schema has examined, and finds the other errors. For the valid fields of an invalid body, the route
 * finds them with the same function, such as `readNewIncident`, so that one answer lists every invalid field.
 */
import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { ComponentStatus, IncidentStatus } from "../../base/status";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit, recordAudits } from "../../events/audit";
import { replaceCauses } from "../components/statuses";
import { findComponents } from "../components/store";
import { findNamedPage } from "../pages/filter";
import { getPage, touchPage } from "../pages/pages";
import { isInFuture, requireUpdate, toMs } from "../timeline/updates";
import {
  affectedBy,
  automationOf,
  bodiesOf,
  countComplete,
  getIncident,
  getIncidentRow,
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
  componentsOf,
  firstWritten,
  impactOf,
  timelineOf,
  validateDisplayAt,
  validateTimes,
} from "./rules";
import { resolveNamedComponents } from "../components/references";
import {
  appendUpdate,
  buildUpdate,
  computeChange,
  prepareUpdate,
  publish,
  recordIncidentEvent,
  requireRoomToReopen,
  saveIncident,
  writeUpdate,
} from "./save";
import {
  deleteIncidentRows,
  deleteUpdates,
  findIncidentByRef,
  type IncidentRow,
  insertIncident,
  listAllOpenRows,
  updateIncidentRow,
  updateUpdateRow,
} from "./store";
import { isAllclears, resolveIfOver, takeOver } from "./automatic-updates";
import {
  type AddUpdateBody,
  type CreateIncidentBody,
  type EditUpdateBody,
  ImportIncidentBody,
  type IncidentSource,
  type PutPostmortemBody,
  type UpdateIncidentBody,
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
  const effect = { status, displayAt, isAutomatic: source === "monitor" };
  const update = buildUpdate(ctx, id, named, input, effect);
  const { draft = false, impact_override: impactOverride = null } = input;
  const timeline = timelineOf({ startedAt, draft, resolvedAt }, [update], undefined);
  const row: IncidentRow = {
    id,
    pageId: page.id,
    name: input.name,
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
    postmortemBody: null,
    postmortemPublishedAt: null,
    postmortemFirstPublishedAt: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
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
function requireFreeRef(
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
  const isTakingOver = TAKES_OVER.some((field) => before[field] !== desired[field]);
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
  if (!isPublishing || !isAllclears(tx, saved.row)) return { ...stored, ...saved, updates };
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

/** Fields by whose change an incident that Allclear opened becomes a person's. */
const TAKES_OVER = [
  "impactOverride",
  "startedAt",
  "identifiedAt",
  "monitoringAt",
  "resolvedAt",
] as const satisfies readonly (keyof IncidentRow)[];

/** Returns the row with the fields that a change names. */
function desiredRow(before: IncidentRow, input: UpdateIncidentBody): IncidentRow {
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

/**
 * Records an incident of another product with all of its updates, without notifying people. `id` is that of an
 * incident which an earlier import recorded: its updates are replaced. Components are named by their ids; those that
 * are deleted or on another page are left out. Updates from before its start take effect at its start.
 *
 * Throws `not_found`, `validation_failed`, or `conflict` for an `external_ref` that another incident of the page has.
 */
export function importIncident(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  input: Valid<ImportIncidentBody>,
  actor: Actor,
  id?: string,
): IncidentRow {
  const before = id === undefined ? undefined : getIncidentRow(tx, id, true).row;
  const incidentId = before?.id ?? ctx.newId("inc");
  requirePast(input, ctx.clock.now());
  const startedAt = toMs(input.started_at);
  const updates = readUpdates(ctx, tx, input, { incidentId, pageId, startedAt });
  const timeline = timelineOf({ startedAt, draft: false }, updates, undefined);
  const { status, identifiedAt, monitoringAt, resolvedAt, causes } = timeline;
  const { postmortem } = input;
  const publishedAt = postmortem && toMs(postmortem.published_at);
  const times = updates.map(({ displayAt }) => displayAt);
  const row: IncidentRow = {
    id: incidentId,
    pageId,
    name: input.name,
    status,
    impact: impactOf(namedStatuses(updates), input.impact_override),
    impactOverride: input.impact_override,
    source: "import",
    draft: false,
    externalRef: input.external_ref,
    startedAt,
    identifiedAt,
    monitoringAt,
    resolvedAt,
    postmortemBody: postmortem?.body ?? null,
    postmortemPublishedAt: publishedAt,
    postmortemFirstPublishedAt: publishedAt,
    version: (before?.version ?? 0) + 1,
    createdAt: before?.createdAt ?? Math.min(startedAt, ...times),
    updatedAt: Math.max(startedAt, publishedAt ?? 0, ...times),
    deletedAt: null,
  };
  requireFreeRef(tx, row, true);
  if (before) {
    deleteUpdates(tx, { incidentId });
    updateIncidentRow(tx, row);
  } else insertIncident(tx, row);
  for (const update of updates) writeUpdate(tx, update);
  const [type, action, verb] = before
    ? (["incident.updated", "incident.update", "Changed"] as const)
    : (["incident.created", "incident.create", "Wrote down"] as const);
  audit(ctx, tx, actor, action, incidentId, `${verb} the incident “${row.name}”`);
  const components = componentsOf(timeline, updates, undefined);
  const event = { type, update: updates.at(-1), notify: false };
  publish(ctx, tx, { row, page: getPage(tx, pageId), components }, actor, { event, causes });
  return row;
}

/** Throws `validation_failed` for times in the future. `now` is in unix ms. */
function requirePast({ started_at, updates }: ImportIncidentBody, now: number): void {
  const errors = new FieldErrors();
  if (isInFuture(toMs(started_at), now)) errors.add(["started_at"], "is in the future");
  for (const [index, { display_at }] of updates.entries()) {
    if (isInFuture(toMs(display_at), now)) {
      errors.add(["updates", index, "display_at"], "is in the future");
    }
  }
  errors.throwIfAny();
}

/** Returns the updates with new ids, in their order. Statuses are those that earlier updates left. */
function readUpdates(
  ctx: Ctx,
  tx: Tx,
  { updates }: ImportIncidentBody,
  {
    incidentId,
    pageId,
    startedAt,
  }: Record<"incidentId" | "pageId", string> & { startedAt: number },
): UpdateRecord[] {
  const living = findComponents(
    tx,
    updates.flatMap(({ components }) => Object.keys(components)),
  );
  const last = new Map<string, ComponentStatus>();
  return updates.map(({ status, body, display_at, components }, index) => {
    const id = ctx.newId("upd");
    const at = toMs(display_at);
    const displayAt = index === 0 ? at : Math.max(at, startedAt);
    const named = Object.entries(components).flatMap(([componentId, newStatus]) => {
      const component = living.get(componentId);
      if (component?.pageId !== pageId) return [];
      const { name } = component;
      const oldStatus = last.get(componentId) ?? "operational";
      last.set(componentId, newStatus);
      return [{ updateId: id, incidentId, componentId, name, oldStatus, newStatus }];
    });
    const times = { displayAt, createdAt: displayAt, updatedAt: displayAt };
    return {
      id,
      incidentId,
      status,
      body,
      notify: false,
      isAutomatic: false,
      ...times,
      components: named,
    };
  });
}

function namedStatuses(updates: readonly UpdateRecord[]): ComponentStatus[] {
  return updates.flatMap(({ components }) => components.map(({ newStatus }) => newStatus));
}
