import { Type } from "@sinclair/typebox";
import { type Actor, authorOf } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { MaintenanceStatus } from "../../base/status";
import { FieldErrors, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit, recordAudits } from "../../events/audit";
import type { EventType } from "../../events/outbox";
import { pathInList, resolveComponents } from "../components/references";
import { replaceCauses } from "../components/statuses";
import { listComponentsOfPage } from "../components/store";
import { touchPage } from "../pages/pages";
import {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  isInFuture,
  jsonBytes,
  toMs,
  truncateText,
  UPDATES_MAX,
} from "../timeline/updates";
import { getMaintenance, getMaintenanceRecord, toDocumentRecords } from "./records";
import {
  causesAfter,
  type ComponentCause,
  isAllowedTransition,
  isAnnounced,
  isEnded,
  isUnderWay,
  STATUS_IN_WORDS,
} from "./rules";
import {
  cancelMaintenanceRows,
  deleteMaintenanceComponents,
  insertMaintenanceComponent,
  insertMaintenanceUpdate,
  insertMaintenanceUpdates,
  listCausesOf,
  listComponentsOfMaintenances,
  listFirstUpdates,
  listPending,
  type MaintenanceRow,
  updateMaintenanceRow,
} from "./store";
import {
  AddMaintenanceUpdateBody,
  CancelMaintenanceBody,
  Maintenance,
  MaintenanceUpdate,
  presentMaintenance,
} from "./wire";

/** Fields of a new update. */
interface NewUpdate {
  status: MaintenanceStatus;
  body: string;
  /** Unix ms. */
  displayAt: number;
  notify: boolean;
}

/** Writes an update. */
export function addUpdateRow(ctx: Ctx, tx: Tx, maintenanceId: string, update: NewUpdate): void {
  const createdAt = ctx.clock.now();
  insertMaintenanceUpdate(tx, { id: ctx.newId("upd"), maintenanceId, ...update, createdAt });
}

/** Returns the row of a maintenance after a change of its status at `at` (unix ms). */
export function withStatus(
  row: MaintenanceRow,
  status: MaintenanceStatus,
  at: number,
): MaintenanceRow {
  return {
    ...row,
    status,
    startedAt: row.startedAt ?? (isUnderWay(status) ? at : null),
    completedAt: status === "completed" ? at : null,
  };
}

/** Writes a changed row with a new version, and a new version of its page's content. */
export function saveChange(ctx: Ctx, tx: Tx, row: MaintenanceRow): void {
  updateMaintenanceRow(tx, { ...row, version: row.version + 1, updatedAt: ctx.clock.now() });
  touchPage(ctx, tx, row.pageId);
}

/** Change of the causes of a maintenance. */
interface CausesChange {
  /** Start of the change, in unix ms. */
  at: number;
  actor: Actor;
  /** True to notify people about the new statuses. */
  notify: boolean;
  /** Start of the maintenance in unix ms, if its causes may not have been written yet. */
  unmarkedSince?: number | null;
}

/**
 * Updates the causes of a maintenance from a time on: its components are under maintenance while it is
 * in progress. Earlier causes stay as history. Deleted components get no new cause.
 */
export function refreshCauses(
  ctx: Ctx,
  tx: Tx,
  row: MaintenanceRow,
  { at, actor, notify, unmarkedSince = null }: CausesChange,
): void {
  const living = new Set(listComponentsOfPage(tx, { pageId: row.pageId }).map(({ id }) => id));
  const componentIds = listComponentsOfMaintenances(tx, { ids: JSON.stringify([row.id]) })
    .map(({ id }) => id)
    .filter((id) => living.has(id));
  let causes: ComponentCause[] = listCausesOf(tx, { maintenanceId: row.id });
  if (unmarkedSince !== null && causes.length === 0) {
    causes = causesAfter(causes, { isUnderWay: true, componentIds, at: unmarkedSince });
  }
  causes = causesAfter(causes, { isUnderWay: isUnderWay(row.status), componentIds, at });
  replaceCauses(
    ctx,
    tx,
    "maintenance",
    row.id,
    causes.map((cause) => ({ ...cause, status: "under_maintenance" })),
    { source: "maintenance", actor, reason: row.name, notify },
  );
}

/** Throws `conflict` for a maintenance that is over, which cannot be changed. */
export function requireNotEnded({ status }: MaintenanceRow): void {
  if (!isEnded(status)) return;
  throw conflict(`The maintenance is ${STATUS_IN_WORDS[status]}, which is final.`);
}

/** Change of a maintenance, for its event and the audit log. */
interface ChangeRecord {
  event: EventType;
  notify: boolean;
  /** True if the newest update is new. */
  isNews?: boolean;
  actor: Actor;
  action: string;
  summary: string;
}

/** Records the event and audit row of a change that is written, and returns the maintenance. */
export function recordChange(ctx: Ctx, tx: Tx, id: string, change: ChangeRecord): Maintenance {
  const maintenance = getMaintenance(ctx, tx, id);
  recordMaintenanceEvent(ctx, tx, change.event, maintenance, change);
  audit(ctx, tx, change.actor, change.action, id, change.summary);
  return maintenance;
}

/** Writes an update and the row of its maintenance, and records the change. Returns the maintenance. */
export function applyUpdate(
  ctx: Ctx,
  tx: Tx,
  after: MaintenanceRow,
  update: NewUpdate,
  change: Omit<ChangeRecord, "notify" | "isNews">,
): Maintenance {
  saveChange(ctx, tx, after);
  addUpdateRow(ctx, tx, after.id, update);
  return recordChange(ctx, tx, after.id, { ...change, notify: update.notify, isNews: true });
}

/** Returns the `notify` of automatic changes: the `notify` of the plan. */
export function plannedNotify(tx: Tx, maintenanceId: string): boolean {
  return listFirstUpdates(tx, { ids: JSON.stringify([maintenanceId]) })[0]?.notify ?? true;
}

/** Returns the default `notify` of changes by people: that of the plan, or true for an announced occurrence. */
export function usualNotify(tx: Tx, row: MaintenanceRow): boolean {
  return isAnnounced(row) || plannedNotify(tx, row.id);
}

/**
 * Adds an update, and changes the status if the input names another one. Returns the maintenance and
 * the update. Throws `not_found`, `validation_failed`, or `conflict` for a status that cannot follow,
 * for a maintenance that is over, and for one without room for an update that does not end it.
 */
export function addMaintenanceUpdate(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: AddMaintenanceUpdateBody,
  actor: Actor,
): { maintenance: Maintenance; update: MaintenanceUpdate } {
  const { row, updates } = getMaintenanceRecord(tx, id);
  validate(AddMaintenanceUpdateBody, input);
  const { status = row.status, body, notify = true } = input;
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const displayAt = readDisplayTime(input.display_at, updates[0]?.displayAt ?? now, now, errors);
  errors.throwIfAny();
  if (!isEnded(row.status)) requireRoom(updates.length, status);
  const maintenance = changeStatus(ctx, tx, row, { status, body, displayAt, notify }, actor);
  const [update] = maintenance.updates;
  if (!update) throw new Error("the added update is missing");
  return { maintenance, update };
}

/**
 * Cancels a scheduled maintenance, or one in progress, with a last update. Its default text says that the
 * maintenance is cancelled. By default people are notified as they were of the plan or by a reminder. Throws `not_found`,
 * `validation_failed`, or `conflict` if the maintenance is over.
 */
export function cancelMaintenance(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
  input: CancelMaintenanceBody = {},
): Maintenance {
  const { row, updates } = getMaintenanceRecord(tx, id);
  const { body = "The maintenance has been cancelled.", notify = usualNotify(tx, row) } = validate(
    CancelMaintenanceBody,
    input,
  );
  const displayAt = Math.max(ctx.clock.now(), updates[0]?.displayAt ?? 0);
  return changeStatus(ctx, tx, row, { status: "cancelled", body, displayAt, notify }, actor);
}

function changeStatus(
  ctx: Ctx,
  tx: Tx,
  row: MaintenanceRow,
  update: NewUpdate,
  actor: Actor,
): Maintenance {
  const { status, displayAt: at, notify } = update;
  requireNotEnded(row);
  const isChange = status !== row.status;
  if (isChange && !isAllowedTransition(row.status, status)) {
    throw conflict(
      `The maintenance is ${STATUS_IN_WORDS[row.status]}; it cannot become ${STATUS_IN_WORDS[status]}.`,
    );
  }
  const after = isChange ? withStatus(row, status, at) : row;
  const isCancelling = status === "cancelled";
  const changed = applyUpdate(ctx, tx, after, update, {
    event: eventOf(row.status, status),
    actor,
    action: isCancelling ? "maintenance.cancel" : "maintenance.add_update",
    summary: isCancelling
      ? cancellationSummary(row)
      : `Updated the maintenance “${row.name}”: ${STATUS_IN_WORDS[status]}`,
  });
  if (isUnderWay(row.status) !== isUnderWay(status)) {
    refreshCauses(ctx, tx, after, { at, actor, notify });
  }
  return changed;
}

/** Throws `conflict` if a maintenance has the maximum number of updates, unless the update ends it. */
function requireRoom(updates: number, status: MaintenanceStatus): void {
  if (updates < UPDATES_MAX || isEnded(status)) return;
  throw conflict(
    `The maintenance has ${UPDATES_MAX} updates, the most that it can have. Complete or cancel it, or plan a new maintenance for what follows.`,
  );
}

/**
 * Returns the time at which an update takes effect: its `display_at`, or now. Updates are only
 * appended, so it is never before the previous update (`lastAt`). A time slightly in the future, from
 * a clock that is ahead, counts as now. Unix ms.
 */
export function readDisplayTime(
  text: string | undefined,
  lastAt: number,
  now: number,
  errors: FieldErrors,
): number {
  const present = Math.max(now, lastAt);
  const at = text === undefined ? present : toMs(text);
  if (isInFuture(at, present)) errors.add(["display_at"], "is in the future");
  if (at < lastAt) errors.add(["display_at"], "is before the last update");
  return Math.min(at, present);
}

function eventOf(from: MaintenanceStatus, to: MaintenanceStatus): EventType {
  if (to === "completed") return "maintenance.completed";
  if (to === "cancelled") return "maintenance.cancelled";
  return from === "scheduled" && to === "in_progress"
    ? "maintenance.started"
    : "maintenance.updated";
}

/**
 * Cancels every pending maintenance of a page that is about to be deleted. People are notified of each as
 * they were of its plan. The components of the page are deleted already, so there are no causes to end.
 */
export function cancelMaintenanceOfPage(ctx: Ctx, tx: Tx, pageId: string, actor: Actor): void {
  const pending = listPending(tx, {
    pageId,
    search: null,
    nextAt: null,
    limit: Number.MAX_SAFE_INTEGER,
  });
  if (pending.length === 0) return;
  const now = ctx.clock.now();
  const ids = JSON.stringify(pending.map(({ row }) => row.id));
  const planned = new Map(
    listFirstUpdates(tx, { ids }).map(({ maintenanceId, notify }) => [maintenanceId, notify]),
  );
  const cancelled = toDocumentRecords(tx, pending, 1).map((record) => {
    const { row, updates } = record;
    const update = {
      id: ctx.newId("upd"),
      maintenanceId: row.id,
      status: "cancelled" as const,
      body: "The status page was deleted.",
      displayAt: Math.max(now, updates[0]?.displayAt ?? 0),
      notify: isAnnounced(row) || (planned.get(row.id) ?? true),
      createdAt: now,
    };
    const after = {
      ...withStatus(row, "cancelled", now),
      version: row.version + 1,
      updatedAt: now,
    };
    return { update, record: { ...record, row: after, updates: [update] } };
  });
  cancelMaintenanceRows(tx, { ids, at: now });
  insertMaintenanceUpdates(
    tx,
    cancelled.map(({ update }) => update),
  );
  for (const { update, record } of cancelled) {
    const maintenance = presentMaintenance(record, ctx.baseUrl);
    recordMaintenanceEvent(ctx, tx, "maintenance.cancelled", maintenance, {
      notify: update.notify,
      isNews: true,
      actor,
    });
  }
  recordAudits(
    tx,
    pending.map(({ row }) => ({
      actor,
      action: "maintenance.cancel",
      targetId: row.id,
      summary: cancellationSummary(row),
      at: now,
    })),
  );
  touchPage(ctx, tx, pageId);
}

function cancellationSummary({ name }: MaintenanceRow): string {
  return `Cancelled the maintenance “${name}”`;
}

const { updates: _updates, ...Fields } = Maintenance.properties;

/** The data of a maintenance's event. */
export const MaintenanceEventData = Type.Object(
  {
    ...Fields,
    ...eventFields(MaintenanceUpdate, "MaintenanceEventUpdate"),
  },
  { title: "MaintenanceEventData" },
);

/**
 * Records an event of a maintenance. `notify` is false for a silent change, `isNews` true if its newest update is
 * new. `actor` makes the change.
 */
export function recordMaintenanceEvent(
  ctx: Ctx,
  tx: Tx,
  type: EventType,
  maintenance: Maintenance,
  { notify, isNews = false, actor }: { notify: boolean; isNews?: boolean; actor: Actor },
): void {
  const { id: subjectId, page_id: pageId } = maintenance;
  const data = eventData(maintenance, notify);
  ctx.outbox.record(tx, { type, pageId, subjectId, data, isNews, author: authorOf(actor) });
}

/**
 * Returns the data of a maintenance's event: the resource of the API with the newest update instead of
 * all. The text is cut at 4,000 code points. If the data is still too large, the list of components is
 * halved until it fits, then the text. Parts with something left out have `truncated: true`.
 */
export function eventData(maintenance: Maintenance, notify: boolean): Record<string, unknown> {
  const { updates, ...resource } = maintenance;
  const [latest] = updates;
  const dataWith = (textLength: number, components: number) => ({
    ...resource,
    components: resource.components.slice(0, components),
    ...(components < resource.components.length ? { truncated: true } : {}),
    latest_update: latest ? { ...latest, ...truncateText(latest.body, textLength) } : null,
    notify,
  });
  const isSmall = (textLength: number, count: number) =>
    canFit(resource.components, count) &&
    jsonBytes(dataWith(textLength, count)) <= EVENT_DATA_MAX_BYTES;
  let textLength = EVENT_TEXT_MAX;
  let count = resource.components.length;
  while (count > 0 && !isSmall(textLength, count)) count = Math.floor(count / 2);
  while (textLength > 0 && !isSmall(textLength, count)) textLength = Math.floor(textLength / 2);
  return dataWith(textLength, count);
}

/** Returns false if the first `count` components alone exceed the limit of an event. */
function canFit(components: Maintenance["components"], count: number): boolean {
  let bytes = 0;
  for (let index = 0; index < count && bytes <= EVENT_DATA_MAX_BYTES; index++) {
    bytes += jsonBytes(components[index]);
  }
  return bytes <= EVENT_DATA_MAX_BYTES;
}

/** The components of a maintenance, with the names from when they were chosen. */
type Chosen = readonly { id: string; name: string }[];

/**
 * Returns the components that references name: those of the page, and those chosen before, which may be
 * deleted. Adds an error for any other, and for a reference that names an earlier one's component again.
 */
export function chooseComponents(
  reader: Reader,
  pageId: string,
  references: readonly string[],
  chosenBefore: Chosen,
  errors: FieldErrors,
): Chosen {
  const namesBefore = new Map(chosenBefore.map(({ id, name }) => [id, name]));
  const resolved = resolveComponents(
    reader,
    references,
    errors,
    pathInList("components"),
    (row, id) => {
      const isAllowed = row?.pageId === pageId || namesBefore.has(id);
      return isAllowed ? undefined : "is not a component of the page";
    },
  );
  return resolved.map(({ id, row }) => ({ id, name: namesBefore.get(id) ?? row?.name ?? "" }));
}

/** Returns true if two choices contain the same components in any order. */
export function isSameChoice(one: Chosen, other: Chosen): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

/** Replaces the components of a maintenance. */
export function replaceChosen(tx: Tx, maintenanceId: string, chosen: Chosen): void {
  deleteMaintenanceComponents(tx, { maintenanceId });
  for (const { id: componentId, name } of chosen) {
    insertMaintenanceComponent(tx, { maintenanceId, componentId, name });
  }
}
