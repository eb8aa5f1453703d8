import { type Actor, authorOf } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { ComponentStatus, IncidentStatus } from "../../base/status";
import { FieldErrors } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import type { EventType, OutboxEvent } from "../../events/outbox";
import {
  existenceProblem,
  resolveComponents,
  type ResolvedComponent,
} from "../components/references";
import { replaceCauses } from "../components/statuses";
import { touchPage } from "../pages/pages";
import { isInFuture, toMs, UPDATES_MAX } from "../timeline/updates";
import {
  affectedBy,
  automationOf,
  getIncidentRow,
  type IncidentWithPage,
  listUpdateSummaries,
  type UpdateRecord,
  type UpdateSummary,
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
  type IncidentRow,
  insertNamings,
  insertUpdate,
  type NamingRow,
  updateIncidentRow,
} from "./store";
import { type AddUpdateBody, eventData, type EventRecord } from "./wire";

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
export function buildUpdate(
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
export function applyCauses(
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

/**
 * Records an event of an incident with one of its updates. `notify` is false for a silent change, `isNews` true if
 * the update is new. `actor` makes the change.
 */
export function recordIncidentEvent(
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
