import { Type } from "@sinclair/typebox";
import { type Actor, authorOf } from "../../base/actor";
import { conflict } from "../../base/errors";
import { Nullable } from "../../base/schema";
import type { ComponentStatus, IncidentStatus } from "../../base/status";
import { FieldErrors, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit, recordAudits } from "../../events/audit";
import type { EventType, OutboxEvent } from "../../events/outbox";
import { replaceCauses } from "../components/statuses";
import {
  existenceProblem,
  resolveComponents,
  type ResolvedComponent,
} from "../components/references";
import { findComponents } from "../components/store";
import { findNamedPage } from "../pages/filter";
import { getPage, touchPage } from "../pages/pages";
import {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  isInFuture,
  jsonBytes,
  toMs,
  Truncated,
  truncateText,
  UPDATES_MAX,
} from "../timeline/updates";
import {
  affectedBy,
  automationOf,
  bodiesOf,
  countComplete,
  getIncidentRow,
  type IncidentRecord,
  type IncidentWithPage,
  listUpdates,
  listUpdateSummaries,
  type UpdateList,
  type UpdateRecord,
  type UpdateSummary,
  withBody,
} from "./records";
import {
  type Automation,
  exceededLimit,
  firstWritten,
  impactOf,
  type IncidentTimes,
  inOrder,
  isResolving,
  manualStatusesOf,
  statusesEverGiven,
  timelineOf,
  timesAfter,
} from "./rules";
import {
  deleteIncidentRows,
  deleteUpdates,
  findIncidentByRef,
  type IncidentRow,
  insertIncident,
  insertNamings,
  insertUpdate,
  listAllOpenRows,
  type NamingRow,
  updateIncidentRow,
} from "./store";
import {
  type AddUpdateBody,
  CreateIncidentBody,
  ImportIncidentBody,
  Incident,
  type IncidentSource,
  IncidentUpdate,
  presentUpdate,
  presentWithoutUpdates,
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
  input: CreateIncidentBody,
  source: IncidentSource,
  actor: Actor,
  canSeeDrafts = true,
): IncidentRecord {
  validate(CreateIncidentBody, input);
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const page = findNamedPage(tx, errors, input.page);
  const startedAt = startOf(input, now);
  const status = statusOf(errors, input);
  const resolvedAt =
    input.resolved_at === undefined ? Math.max(now, startedAt) : toMs(input.resolved_at);
  const displayAt = status === "resolved" ? resolvedAt : startedAt;
  const id = ctx.newId("inc");
  const incident = { id, pageId: page?.id };
  const update = buildUpdate(ctx, tx, errors, incident, input, {
    status,
    displayAt,
    isAutomatic: source === "monitor",
  });
  const times = timelineOf({ startedAt, draft: true }, [update], undefined);
  const statuses = update.components.map((named) => named.newStatus);
  const row: IncidentRow = {
    id,
    pageId: page?.id ?? "",
    name: input.name,
    status,
    impact: impactOf(statuses, input.impact_override ?? null),
    impactOverride: input.impact_override ?? null,
    source,
    draft: input.draft ?? false,
    externalRef: input.external_ref ?? null,
    startedAt,
    identifiedAt: times.identifiedAt,
    monitoringAt: times.monitoringAt,
    resolvedAt: status === "resolved" ? resolvedAt : null,
    postmortemBody: null,
    postmortemPublishedAt: null,
    postmortemFirstPublishedAt: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  validateTimes(errors, row, [update], input, now);
  errors.throwIfAny();
  requireFreeRef(tx, row, canSeeDrafts);
  insertIncident(tx, row);
  writeUpdate(tx, update);
  audit(ctx, tx, actor, "incident.create", row.id, `${opened(row)} “${row.name}”`);
  const record = {
    row,
    page: page ?? getPage(tx, row.pageId),
    components: affectedBy(row, [update], undefined),
    updates: [update],
  };
  if (row.draft) return record;
  const { notify } = update;
  recordIncidentEvent(ctx, tx, "incident.created", record, { update, notify, actor });
  applyCauses(ctx, tx, row, [update], undefined, { actor, notify }, false);
  touchPage(ctx, tx, row.pageId);
  return record;
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

/** Returns the start of a new incident in unix ms: its `started_at`, else now or an earlier end. */
export function startOf(input: Partial<CreateIncidentBody>, now: number): number {
  const { started_at: start, resolved_at: end } = input;
  if (start !== undefined) return toMs(start);
  return end === undefined ? now : Math.min(now, toMs(end));
}

/** Returns the status of a new incident, and adds an error for a `resolved_at` that does not fit it. */
export function statusOf(
  errors: FieldErrors,
  { status: named, resolved_at: end }: Partial<CreateIncidentBody>,
): IncidentStatus {
  const status = named ?? (end === undefined ? "investigating" : "resolved");
  if (status !== "resolved" && end !== undefined) {
    errors.add(["resolved_at"], `is only for a resolved incident, but the status is ${status}`);
  }
  return status;
}

function opened({ draft, status }: IncidentRow): string {
  if (draft) return "Drafted the incident";
  return status === "resolved" ? "Wrote down the incident" : "Opened the incident";
}

/**
 * Deletes an incident and ends its causes now. Their past stays in the history of the components.
 * Throws `not_found`.
 */
export function deleteIncident(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const incident = getIncidentRow(tx, id, true);
  const { row } = incident;
  const updates = listUpdateSummaries(tx, id);
  const now = ctx.clock.now();
  deleteRows(ctx, tx, [{ ...incident, updates, isTruncated: false }], { actor, now });
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
    recordIncidentEvent(ctx, tx, "incident.deleted", record, { update, notify: true, actor });
  }
}

/** An update and its incident. */
export interface UpdateOfIncident {
  row: IncidentRow;
  update: UpdateRecord;
}

/** Monitors of an update that Allclear writes, with the pages of their events. */
type UpdateMonitors = NonNullable<OutboxEvent["monitors"]>;

/** An update that can be written, with its incident before it. */
interface PreparedUpdate {
  incident: IncidentWithPage & { updates: readonly UpdateSummary[] };
  update: UpdateRecord;
}

/**
 * Builds an update from a valid body. Throws `not_found`, `validation_failed` with every invalid field, or `conflict`
 * for an incident that has no room for the update, unless the update resolves it or Allclear writes it.
 */
export function prepareUpdate(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  input: AddUpdateBody,
  isAutomatic: boolean,
): PreparedUpdate {
  const incidentWithPage = getIncidentRow(tx, incidentId, true);
  const { row } = incidentWithPage;
  const updates = listUpdateSummaries(tx, incidentId);
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt =
    input.display_at === undefined ? timeAfterAll(row, updates, now) : toMs(input.display_at);
  if (input.display_at !== undefined) validateDisplayAt(errors, displayAt, row.startedAt, now);
  const status = input.status ?? statusAt(updates, displayAt) ?? row.status;
  const effect = { status, displayAt, isAutomatic };
  const update = buildUpdate(ctx, tx, errors, row, input, effect);
  errors.throwIfAny();
  if (!isAutomatic) requireRoom(updates, update);
  return { incident: { ...incidentWithPage, updates }, update };
}

/** Writes a prepared update. `monitors` are those that it is about, if Allclear writes it. */
export function appendUpdate(
  ctx: Ctx,
  tx: Tx,
  { incident, update }: PreparedUpdate,
  input: AddUpdateBody,
  actor: Actor,
  monitors?: UpdateMonitors,
): UpdateOfIncident {
  writeUpdate(tx, update);
  const row = saveIncident(ctx, tx, {
    before: incident,
    updates: [...incident.updates, update],
    input,
    actor,
    event: { update, notify: update.notify, isNews: true, ...(monitors && { monitors }) },
  });
  const summary = `Updated the incident “${row.name}”: ${update.status}`;
  audit(ctx, tx, actor, "incident.add_update", row.id, summary);
  return { row, update };
}

/**
 * Builds an update of an incident from the fields of a body. It names components with their present
 * names and statuses, ordered by id. Adds the errors of `resolveNamedComponents`.
 */
function buildUpdate(
  ctx: Ctx,
  reader: Reader,
  errors: FieldErrors,
  incident: { id: string; pageId: string | undefined },
  input: Pick<AddUpdateBody, "body" | "components" | "notify">,
  effect: Pick<UpdateRecord, "displayAt" | "isAutomatic"> & { status: IncidentStatus },
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
  const times = { createdAt: now, updatedAt: now };
  return { id, incidentId, ...effect, body, notify, ...times, components };
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
export function requireRoomToReopen(summaries: readonly UpdateSummary[]): void {
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

interface Change {
  /** The incident and its updates before the change. */
  before: IncidentWithPage & { updates: readonly UpdateSummary[] };
  /** Its changed row, if any. Fields that follow from the updates are computed. */
  row?: IncidentRow;
  /** Its updates after the change, if they change. */
  updates?: readonly UpdateSummary[];
  /** The body of the request. */
  input: object;
  actor: Actor;
  /** Event to record, if any. Its type follows from the statuses before and after unless it is given. */
  event:
    | {
        type?: EventType;
        update: UpdateRecord | undefined;
        notify: boolean;
        isNews?: boolean;
        monitors?: OutboxEvent["monitors"];
      }
    | undefined;
}

/**
 * Writes an incident with the status, impact, times and causes that follow from its fields and updates.
 * Records its event and one for each component whose status changes, unless it is a draft. Throws
 * `validation_failed` for impossible times.
 */
export function saveIncident(ctx: Ctx, tx: Tx, change: Change): IncidentRow {
  const { before, updates = before.updates, input, actor, event } = change;
  const now = ctx.clock.now();
  const automation = automationOf(tx, before.row);
  const row = rowAfter(change, now, automation);
  const errors = new FieldErrors();
  validateTimes(errors, row, updates, input, now);
  errors.throwIfAny();
  updateIncidentRow(tx, row);
  if (row.draft) return row;
  if (event) {
    const record = { row, page: before.page, components: affectedBy(row, updates, automation) };
    const type = event.type ?? eventOf(before.row, row);
    recordIncidentEvent(ctx, tx, type, record, { ...event, actor });
  }
  const last = inOrder(updates).at(-1);
  const isLastNew = !before.updates.some(({ id }) => id === last?.id);
  const by = { actor, notify: event?.notify ?? true };
  applyCauses(ctx, tx, row, updates, automation, by, before.row.draft || isLastNew);
  touchPage(ctx, tx, row.pageId);
  return row;
}

/** Returns the row of an incident after a change at `now` (unix ms). */
export function rowAfter(
  change: Pick<Change, "row" | "updates"> & { before: Omit<Change["before"], "page"> },
  now: number,
  automation: Automation | undefined,
): IncidentRow {
  const before = change.before.row;
  const { row: desired = before, updates = change.before.updates } = change;
  const computedBefore = timelineOf(before, change.before.updates, automation);
  const timeline = timelineOf({ ...desired, resolvedAt: null }, updates, automation);
  const times = timesAfter(before, computedBefore, timeline);
  return {
    ...desired,
    status: timeline.status,
    impact: impactOf(statusesEverGiven(updates, automation), desired.impactOverride),
    identifiedAt: setByHand("identifiedAt"),
    monitoringAt: setByHand("monitoringAt"),
    resolvedAt: times.resolvedAt === null ? null : setByHand("resolvedAt"),
    version: before.version + 1,
    updatedAt: now,
  };

  function setByHand(time: "identifiedAt" | "monitoringAt" | "resolvedAt"): number | null {
    return desired[time] === before[time] ? times[time] : desired[time];
  }
}

/** Applies the causes of a published incident. `by` is the actor, and whether people are notified. */
function applyCauses(
  ctx: Ctx,
  tx: Tx,
  row: IncidentRow,
  updates: readonly UpdateSummary[],
  automation: Automation | undefined,
  by: { actor: Actor; notify: boolean },
  setsManualStatuses: boolean,
): void {
  const { causes } = timelineOf(row, updates, automation);
  const changeReason = { source: "incident", reason: row.name, ...by } as const;
  const manualStatuses = setsManualStatuses ? manualStatusesOf(updates) : undefined;
  replaceCauses(ctx, tx, "incident", row.id, causes, changeReason, manualStatuses);
}

const TIMES = {
  started_at: "startedAt",
  identified_at: "identifiedAt",
  monitoring_at: "monitoringAt",
  resolved_at: "resolvedAt",
} as const;

/**
 * Adds errors for an incident's times that lie in the future or before its start. An error is about a
 * field of `input`, the body of the request.
 */
export function validateTimes(
  errors: FieldErrors,
  row: IncidentTimes & { startedAt: number },
  updates: readonly { id: string; displayAt: number }[],
  input: object,
  now: number,
): void {
  const isNamed = (field: string) => (input as Record<string, unknown>)[field] !== undefined;
  for (const [field, property] of Object.entries(TIMES)) {
    const time = row[property];
    if (time === null) continue;
    if (isNamed(field) && isInFuture(time, now)) errors.add([field], "is in the future");
    else if (time < row.startedAt) {
      if (isNamed(field)) errors.add([field], "is before the incident started");
      else errors.add(["started_at"], `is after ${field}`);
    }
  }
  const first = firstWritten(updates);
  const isBeforeStart = updates.some((each) => each !== first && each.displayAt < row.startedAt);
  if (isBeforeStart && isNamed("started_at")) {
    errors.add(["started_at"], "is after the display_at of an update");
  }
}

/**
 * Adds an error for the time of an update that is in the future or before `startedAt`, which is
 * undefined for the first update.
 */
export function validateDisplayAt(
  errors: FieldErrors,
  displayAt: number,
  startedAt: number | undefined,
  now: number,
): void {
  if (isInFuture(displayAt, now)) errors.add(["display_at"], "is in the future");
  else if (startedAt !== undefined && displayAt < startedAt) {
    errors.add(["display_at"], "is before the incident started");
  }
}

function eventOf(before: IncidentRow, after: IncidentRow): EventType {
  if (before.draft) return "incident.created";
  const wasResolved = before.status === "resolved";
  const isResolved = after.status === "resolved";
  if (isResolved === wasResolved) return "incident.updated";
  return isResolved ? "incident.resolved" : "incident.reopened";
}

const COMPONENTS_MAX = 100;

const { updates: _updates, ...Fields } = Incident.properties;

/** The data of an incident's event. */
export const IncidentEventData = Type.Object(
  {
    ...Fields,
    postmortem: Nullable(
      Type.Object({
        body: Type.String({ description: "Markdown." }),
        published_at: Fields.resolved_at,
        truncated: Truncated,
      }),
    ),
    ...eventFields(IncidentUpdate, "IncidentEventUpdate"),
  },
  { title: "IncidentEventData" },
);

/** An incident without updates, for its event. */
type EventRecord = Omit<IncidentRecord, "updates">;

/**
 * Records an event of an incident with one of its updates. `notify` is false for a silent change, `isNews` true if
 * the update is new. `actor` makes the change.
 */
function recordIncidentEvent(
  ctx: Ctx,
  tx: Tx,
  type: EventType,
  record: EventRecord,
  {
    update,
    notify,
    isNews,
    actor,
    monitors,
  }: {
    update: UpdateRecord | undefined;
    notify: boolean;
    isNews?: boolean;
    actor: Actor;
    monitors?: OutboxEvent["monitors"];
  },
): void {
  const { id: subjectId, pageId } = record.row;
  const data = eventData(record, update, notify, ctx.baseUrl);
  ctx.outbox.record(tx, {
    type,
    pageId,
    subjectId,
    data,
    isNews: isNews === true,
    author: authorOf(actor),
    ...(monitors && { monitors }),
  });
}

/**
 * Returns the data of an incident's event: the resource of the API with one update instead of all.
 * At most 4,000 code points of each text and 100 components are kept. Both limits are halved until
 * the data is small enough. Parts with something left out have `truncated: true`.
 */
export function eventData(
  record: EventRecord,
  latest: UpdateRecord | undefined,
  notify: boolean,
  baseUrl: string,
): Record<string, unknown> {
  const incident = presentWithoutUpdates(record, baseUrl);
  const update = latest ? presentUpdate(latest) : null;
  const isTruncated = record.isTruncated === true;
  for (let share = 1; ; share /= 2) {
    const text = Math.floor(EVENT_TEXT_MAX * share);
    const list = Math.floor(COMPONENTS_MAX * share);
    const data = { ...truncate(incident, update, { text, list, isTruncated }), notify };
    if (text === 0 || jsonBytes(data) <= EVENT_DATA_MAX_BYTES) return data;
  }
}

function truncate(
  incident: Omit<Incident, "updates">,
  update: IncidentUpdate | null,
  limits: { text: number; list: number; isTruncated: boolean },
): Record<string, unknown> {
  const { components, postmortem } = incident;
  return {
    ...incident,
    components: components.slice(0, limits.list),
    ...(limits.isTruncated || components.length > limits.list ? { truncated: true } : {}),
    postmortem: postmortem && { ...postmortem, ...truncateText(postmortem.body, limits.text) },
    latest_update: update && {
      ...update,
      components: update.components.slice(0, limits.list),
      ...(update.components.length > limits.list ? { truncated: true } : {}),
      ...truncateText(update.body, limits.text),
    },
  };
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
  input: ImportIncidentBody,
  actor: Actor,
  id?: string,
): IncidentRow {
  validate(ImportIncidentBody, input);
  const before = id === undefined ? undefined : getIncidentRow(tx, id, true).row;
  const incidentId = before?.id ?? ctx.newId("inc");
  requirePast(input, ctx.clock.now());
  const startedAt = toMs(input.started_at);
  const updates = readUpdates(ctx, tx, input, { incidentId, pageId, startedAt });
  const { status, identifiedAt, monitoringAt, resolvedAt } = timelineOf(
    { startedAt, draft: false },
    updates,
    undefined,
  );
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
  const [type, verb] = before
    ? (["incident.updated", "Changed"] as const)
    : (["incident.created", "Wrote down"] as const);
  audit(
    ctx,
    tx,
    actor,
    before ? "incident.update" : "incident.create",
    incidentId,
    `${verb} the incident “${row.name}”`,
  );
  const components = affectedBy(row, updates, undefined);
  const record = { row, page: getPage(tx, pageId), components };
  recordIncidentEvent(ctx, tx, type, record, { update: updates.at(-1), notify: false, actor });
  applyCauses(ctx, tx, row, updates, undefined, { actor, notify: false }, false);
  touchPage(ctx, tx, pageId);
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
