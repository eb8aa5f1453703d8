/* What changes of maintenance write: rows, updates, causes of component statuses, and events. */
import { type Actor, authorOf } from "../../base/actor";
import type { MaintenanceStatus } from "../../base/status";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import type { EventType } from "../../events/outbox";
import { replaceCauses } from "../components/statuses";
import { listComponentsOfPage } from "../components/store";
import { touchPage } from "../pages/pages";
import { getMaintenance } from "./records";
import { causesAfter, type ComponentCause, isUnderWay } from "./rules";
import {
  deleteMaintenanceComponents,
  insertMaintenanceComponent,
  insertMaintenanceUpdate,
  listCausesOf,
  listComponentsOfMaintenances,
  listFirstUpdates,
  type MaintenanceRow,
  updateMaintenanceRow,
} from "./store";
import { eventData, type Maintenance } from "./wire";

/** Columns of a new maintenance that nothing has set. */
export const NEW_MAINTENANCE = {
  status: "scheduled",
  startedAt: null,
  completedAt: null,
  autoStart: true,
  autoComplete: true,
  version: 1,
  deletedAt: null,
  scheduleId: null,
  occurrenceAt: null,
} satisfies Partial<MaintenanceRow>;

/** The components of a maintenance, with the names from when they were chosen. */
export type Chosen = readonly { id: string; name: string }[];

/** Replaces the components of a maintenance. */
export function replaceChosen(tx: Tx, maintenanceId: string, chosen: Chosen): void {
  deleteMaintenanceComponents(tx, { maintenanceId });
  for (const { id: componentId, name } of chosen) {
    insertMaintenanceComponent(tx, { maintenanceId, componentId, name });
  }
}

/** Fields of a new update. */
export interface NewUpdate {
  status: MaintenanceStatus;
  body: string;
  /** Unix ms. */
  displayAt: number;
  notify: boolean;
  /** Language of a text that Allclear wrote. */
  lang?: string;
}

/** Writes an update. */
export function addUpdateRow(
  ctx: Ctx,
  tx: Tx,
  maintenanceId: string,
  { lang, ...update }: NewUpdate,
): void {
  const ids = { id: ctx.newId("upd"), maintenanceId };
  const createdAt = ctx.clock.now();
  insertMaintenanceUpdate(tx, { ...ids, ...update, createdAt, lang: lang ?? null });
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
