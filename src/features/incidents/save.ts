/*
 * Writes an incident and what follows from it: status, impact, times, causes, event. `saveIncident` writes a change,
 * `prepareUpdate` and `appendUpdate` an update, by people and by Allclear.
 */
import { type Actor, authorOf } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { IncidentStatus } from "../../base/status";
import { FieldErrors } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import type { EventType, OutboxEvent } from "../../events/outbox";
import { type ResolvedComponent, resolveNamedComponents } from "../components/references";
import { type ComponentCause, replaceCauses } from "../components/statuses";
import { touchPage, wordsForPage } from "../pages/pages";
import { toMs, UPDATES_MAX } from "../timeline/updates";
import { automationOf } from "./outage-store";
import {
  getIncidentWithUpdates,
  type IncidentRecord,
  type IncidentWithUpdates,
  type UpdateOfIncident,
  type UpdateRecord,
  type UpdateSummary,
} from "./records";
import {
  componentsOf,
  exceededLimit,
  incidentAfter,
  inOrder,
  isResolving,
  manualStatusesOf,
  validateDisplayAt,
  validateTimes,
} from "./rules";
import {
  type IncidentRow,
  insertNamings,
  insertUpdate,
  type NamingRow,
  updateIncidentRow,
} from "./store";
import { type AddUpdateBody, eventData, type EventRecord } from "./wire";

/** Columns of a new incident that nothing has set. */
export const NEW_INCIDENT = {
  impactOverride: null,
  draft: false,
  externalRef: null,
  postmortemBody: null,
  postmortemPublishedAt: null,
  postmortemFirstPublishedAt: null,
  version: 1,
  deletedAt: null,
  nameLang: null,
} satisfies Partial<IncidentRow>;

/** A change of an incident, with the body of its request. */
interface Change {
  /** The incident before the change. */
  before: IncidentWithUpdates;
  /** Its changed row, if any. Fields that follow from the updates are computed. */
  row?: IncidentRow;
  /** Its updates after the change, if they change. */
  updates?: readonly UpdateSummary[];
  /** Fields of the body, which errors of times are about. */
  input: object;
}

/** Event of a change. `notify` is false for a silent change, `isNews` true if the update is new. */
interface ChangeEvent {
  /** Follows from the statuses before and after if omitted. */
  type?: EventType;
  update: UpdateRecord | undefined;
  notify: boolean;
  isNews?: boolean;
  /** Monitors that the update is about, if Allclear writes it. */
  monitors?: OutboxEvent["monitors"];
}

/**
 * Writes an incident with the status, impact, times and causes that follow from its fields and updates.
 * Records its event and one for each component whose status changes, unless it is a draft. Returns what has changed.
 * Throws `validation_failed` for impossible times.
 */
export function saveIncident(
  ctx: Ctx,
  tx: Tx,
  change: Change,
  actor: Actor,
  event: ChangeEvent | undefined,
): Pick<IncidentRecord, "row" | "components"> {
  const { before, updates = before.updates } = change;
  const errors = new FieldErrors();
  const { row, components, causes } = computeChange(tx, change, errors, ctx.clock.now());
  errors.throwIfAny();
  updateIncidentRow(tx, row);
  if (row.draft) return { row, components };
  const last = inOrder(updates).at(-1);
  const isLastNew = !before.updates.some(({ id }) => id === last?.id);
  const setsManualStatuses = before.row.draft || isLastNew;
  const record = { row, page: before.page, components };
  publish(ctx, tx, record, actor, {
    event: event && { type: eventOf(before.row, row), ...event },
    causes,
    manualStatuses: setsManualStatuses ? manualStatusesOf(updates) : undefined,
  });
  return { row, components };
}

/** Computes an incident after a change at `now` (unix ms). Adds errors for its impossible times. */
export function computeChange(reader: Reader, change: Change, errors: FieldErrors, now: number) {
  const { before, updates = before.updates, input } = change;
  const automation = automationOf(reader, before.row);
  const { row, timeline } = incidentAfter(change, automation, now);
  validateTimes(errors, row, updates, input, now);
  const components = componentsOf(timeline, updates, automation);
  return { row, components, causes: timeline.causes };
}

function eventOf(before: IncidentRow, after: IncidentRow): EventType {
  if (before.draft) return "incident.created";
  const wasResolved = before.status === "resolved";
  const isResolved = after.status === "resolved";
  if (isResolved === wasResolved) return "incident.updated";
  return isResolved ? "incident.resolved" : "incident.reopened";
}

/** Records the event of a published incident, applies its causes, and touches its page. */
export function publish(
  ctx: Ctx,
  tx: Tx,
  record: EventRecord,
  actor: Actor,
  {
    event,
    causes,
    manualStatuses,
  }: {
    event: (ChangeEvent & { type: EventType }) | undefined;
    causes: readonly ComponentCause[];
    manualStatuses?: ReturnType<typeof manualStatusesOf> | undefined;
  },
): void {
  const { id, name: reason, pageId } = record.row;
  if (event) recordIncidentEvent(ctx, tx, record, actor, event);
  const changeReason = {
    source: "incident",
    reason,
    actor,
    notify: event?.notify ?? true,
  } as const;
  replaceCauses(ctx, tx, "incident", id, causes, changeReason, manualStatuses);
  touchPage(ctx, tx, pageId);
}

/** Records an event of an incident with one of its updates. */
export function recordIncidentEvent(
  ctx: Ctx,
  tx: Tx,
  record: EventRecord,
  actor: Actor,
  { type, update, notify, isNews = false, monitors }: ChangeEvent & { type: EventType },
): void {
  const { id: subjectId, pageId } = record.row;
  ctx.outbox.record(tx, {
    type,
    pageId,
    subjectId,
    data: eventData(record, update, notify, ctx.baseUrl),
    isNews,
    author: authorOf(actor),
    ...(monitors && { monitors }),
  });
}

/** An update that can be written, with its incident before it. */
interface PreparedUpdate {
  incident: IncidentWithUpdates;
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
  const incident = getIncidentWithUpdates(tx, incidentId, true);
  const { row, updates } = incident;
  const errors = new FieldErrors();
  const { displayAt, named } = readUpdate(tx, incident, input, errors, ctx.clock.now());
  errors.throwIfAny();
  const status = input.status ?? statusAt(updates, displayAt) ?? row.status;
  const lang = isAutomatic ? wordsForPage(tx, row.pageId).lang : null;
  const update = buildUpdate(ctx, row.id, named, input, { status, displayAt, isAutomatic, lang });
  if (!isAutomatic) requireRoom(updates, update);
  return { incident, update };
}

/**
 * Reads the time of an update and the components that it names, from the valid fields of its body. Adds an error for
 * an impossible time and for each unknown reference. `now` is in unix ms.
 */
export function readUpdate(
  reader: Reader,
  { row, updates }: IncidentWithUpdates,
  input: Partial<AddUpdateBody>,
  errors: FieldErrors,
  now: number,
): { displayAt: number; named: readonly ResolvedComponent[] } {
  const { display_at: at } = input;
  const displayAt = at === undefined ? timeAfterAll(row, updates, now) : toMs(at);
  if (at !== undefined) validateDisplayAt(errors, displayAt, row.startedAt, now);
  const named = resolveNamedComponents(reader, errors, row.pageId, input.components);
  return { displayAt, named };
}

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

/** Builds an update of an incident. It names components with their present names and statuses, ordered by id. */
export function buildUpdate(
  ctx: Ctx,
  incidentId: string,
  named: readonly ResolvedComponent[],
  { body, components: statuses = {}, notify = true }: AddUpdateBody,
  effect: Pick<UpdateRecord, "displayAt" | "isAutomatic" | "lang"> & { status: IncidentStatus },
): UpdateRecord {
  const now = ctx.clock.now();
  const updateId = ctx.newId("upd");
  const components: NamingRow[] = [];
  for (const { reference, row } of named) {
    const newStatus = statuses[reference];
    if (!row || !newStatus) continue;
    const { id: componentId, name, status: oldStatus } = row;
    components.push({ updateId, incidentId, componentId, name, oldStatus, newStatus });
  }
  components.sort((one, other) => (one.componentId < other.componentId ? -1 : 1));
  const times = { createdAt: now, updatedAt: now };
  return { id: updateId, incidentId, ...effect, body, notify, ...times, components };
}

/** Writes a prepared update. `monitors` are those that it is about, if Allclear writes it. */
export function appendUpdate(
  ctx: Ctx,
  tx: Tx,
  { incident: before, update }: PreparedUpdate,
  input: AddUpdateBody,
  actor: Actor,
  monitors?: OutboxEvent["monitors"],
): UpdateOfIncident {
  writeUpdate(tx, update);
  const updates = [...before.updates, update];
  const event = { update, notify: update.notify, isNews: true, monitors };
  const { row } = saveIncident(ctx, tx, { before, updates, input }, actor, event);
  const summary = `Updated the incident “${row.name}”: ${update.status}`;
  audit(ctx, tx, actor, "incident.add_update", row.id, summary);
  return { row, update };
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
