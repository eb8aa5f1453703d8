/*
 * Changes of component statuses. A status is the worst of the manual status, which people and API keys set, and of the causes that
 * incidents, maintenance and monitors give. Every change ends in `refreshStatuses`, which records it with an event.
 */
import { Type } from "@sinclair/typebox";
import { type Actor, authorOf } from "../../base/actor";
import { badnessOf, type CauseSource, type ComponentStatus } from "../../base/status";
import { spaced } from "../../base/text";
import { toIso } from "../../base/time";
import { FieldErrors } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { recordAudits } from "../../events/audit";
import { touchPage } from "../pages/pages";
import {
  type CauseRow,
  deleteCause,
  endManualCauses,
  endOpenCausesOfSource,
  findImportCause,
  insertCause,
  insertCauses,
  insertChanges,
  listCausesOfSource,
  listCausesOfSourceAndComponent,
  listOpenCausesOf,
  listOpenCausesOfSource,
  updateCauseRow,
} from "./cause-store";
import { resolveComponents, type ResolvedComponent } from "./references";
import { effectiveStatus } from "./rules";
import {
  type ComponentOnPage,
  type ComponentRow,
  findComponent,
  findComponents,
  saveStartDate,
  updateShownStatuses,
} from "./store";
import { Component, presentComponent, Status } from "./wire";

/**
 * Sets the manual statuses of components, all or none, as `setStatusesOfRows`. Returns the components in the
 * order of `statuses`, whose keys are references.
 *
 * Throws `validation_failed` with the errors of `resolveStatusKeys`.
 */
export function setManualStatuses(
  ctx: Ctx,
  tx: Tx,
  statuses: ReadonlyMap<string, ComponentStatus>,
  changeReason: ChangeReason,
): Component[] {
  const errors = new FieldErrors();
  const named = resolveStatusKeys(tx, [...statuses.keys()], errors);
  errors.throwIfAny();
  const desired = named.flatMap(({ reference, row }) => {
    const status = statuses.get(reference);
    return row && status ? [{ row, status }] : [];
  });
  return setStatusesOfRows(ctx, tx, desired, changeReason);
}

/**
 * Sets the manual statuses of components whose rows were read in the transaction. A component that already
 * has the status is unchanged; each other one gets an audit row. Returns the components in the same order.
 */
export function setStatusesOfRows(
  ctx: Ctx,
  tx: Tx,
  desired: readonly { row: ComponentOnPage; status: ComponentStatus }[],
  changeReason: ChangeReason,
): Component[] {
  const changes = desired.filter(({ row, status }) => row.baselineStatus !== status);
  const changed = changes.map(({ row, status }) => ({ ...row, baselineStatus: status }));
  const { source, actor } = changeReason;
  replaceManualCauses(tx, changed, { source, actor, at: ctx.clock.now() });
  auditStatuses(ctx, tx, changes, actor);
  const shown = showNow(ctx, tx, changed, changeReason);
  if (shown.length === desired.length) return shown;
  const unchanged = desired.flatMap(({ row, status }) =>
    row.baselineStatus === status ? [row] : [],
  );
  const byId = new Map([...shown, ...presentComponents(tx, unchanged)].map((one) => [one.id, one]));
  return desired.flatMap(({ row }) => byId.get(row.id) ?? []);
}

/**
 * Returns the components that the keys of a body's `components` name. Adds an error for each
 * unknown key, and for each that names the component of an earlier key.
 */
export function resolveStatusKeys(
  reader: Reader,
  references: readonly string[],
  errors: FieldErrors,
): ResolvedComponent[] {
  return resolveComponents(reader, references, errors, (reference) => ["components", reference]);
}

/** Writes a row in the audit log for each changed component. The rows are those before the change. */
function auditStatuses(
  ctx: Ctx,
  tx: Tx,
  changes: readonly { row: ComponentRow; status: ComponentStatus }[],
  actor: Actor,
): void {
  const at = ctx.clock.now();
  const entries = changes.map(({ row: { id, name, baselineStatus }, status }) => {
    const summary = `Set the status of “${name}” from ${spaced(baselineStatus)} to ${spaced(status)}`;
    return { actor, action: "component.set_status", targetId: id, summary, at };
  });
  recordAudits(tx, entries);
}

/**
 * Status that an incident or a maintenance gives a component for a period. Unix ms; open without an
 * end.
 */
export interface ComponentCause {
  componentId: string;
  status: ComponentStatus;
  from: number;
  to: number | null;
}

/** Manual statuses that are set in the same call, from `at` on (unix ms). */
interface ManualStatuses {
  statuses: ReadonlyMap<string, ComponentStatus>;
  at: number;
}

const NO_MANUAL_STATUSES: ManualStatuses = { statuses: new Map(), at: 0 };

/**
 * Replaces all causes of a source, past and present, and updates the status of every component
 * concerned, with at most one recorded change and event, as `changeReason` says. Causes without duration or
 * with `operational` are left out. A deleted component keeps its history and gets no causes. Only
 * rows that differ are written: repeating the call changes nothing. The caller touches the page.
 */
export function replaceCauses(
  ctx: Ctx,
  tx: Tx,
  source: "incident" | "maintenance",
  sourceId: string,
  causes: readonly ComponentCause[],
  changeReason: ChangeReason,
  manual: ManualStatuses = NO_MANUAL_STATUSES,
): void {
  const stored = listCausesOfSource(tx, { source, sourceId });
  replaceStored(ctx, tx, { source, sourceId }, stored, causes, changeReason, manual);
}

/** Replaces the causes that an incident gives one component, like `replaceCauses`. */
export function replaceCausesOfComponent(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  componentId: string,
  causes: readonly ComponentCause[],
  changeReason: ChangeReason,
): void {
  const of = { source: "incident", sourceId: incidentId } as const;
  const stored = listCausesOfSourceAndComponent(tx, { ...of, componentId });
  replaceStored(ctx, tx, of, stored, causes, changeReason, NO_MANUAL_STATUSES);
}

function replaceStored(
  ctx: Ctx,
  tx: Tx,
  { source, sourceId }: { source: "incident" | "maintenance"; sourceId: string },
  stored: readonly CauseRow[],
  causes: readonly ComponentCause[],
  changeReason: ChangeReason,
  manual: ManualStatuses,
): void {
  const storedByComponent = Map.groupBy(stored, (row) => row.componentId);
  const desiredByComponent = Map.groupBy(
    causes.filter(isWorthKeeping),
    (cause) => cause.componentId,
  );
  const touched = new Set([
    ...storedByComponent.keys(),
    ...desiredByComponent.keys(),
    ...manual.statuses.keys(),
  ]);
  const changed: ComponentOnPage[] = [];
  const changedByHand: ComponentRow[] = [];
  for (const row of findComponents(tx, [...touched]).values()) {
    const { id: componentId } = row;
    const causes = differenceOf(
      storedByComponent.get(componentId) ?? [],
      desiredByComponent.get(componentId) ?? [],
    );
    const baseline = manual.statuses.get(componentId) ?? row.baselineStatus;
    const isManualStatusNew = baseline !== row.baselineStatus;
    if (causes.obsolete.length + causes.added.length === 0 && !isManualStatusNew) continue;
    writeCauses(tx, { source, sourceId }, causes);
    const after = { ...row, baselineStatus: baseline };
    if (isManualStatusNew) changedByHand.push(after);
    changed.push(after);
  }
  const by = { source: manualSourceOf(changeReason), actor: changeReason.actor, at: manual.at };
  replaceManualCauses(tx, changedByHand, by);
  refreshStatuses(ctx, tx, changed, changeReason);
}

function isWorthKeeping({ status, from, to }: ComponentCause): boolean {
  return status !== "operational" && (to === null || to > from);
}

interface Difference {
  obsolete: CauseRow[];
  added: ComponentCause[];
}

/**
 * Returns the stored causes that are not desired and the desired ones that are not stored, in no
 * particular order.
 */
function differenceOf(rows: readonly CauseRow[], causes: readonly ComponentCause[]): Difference {
  const stored = Map.groupBy(rows, (row) => keyOf(row.status, row.startedAt, row.endedAt));
  const added = causes.filter(
    ({ status, from, to }) => stored.get(keyOf(status, from, to))?.pop() === undefined,
  );
  return { obsolete: [...stored.values()].flat(), added };
}

function keyOf(status: ComponentStatus, from: number, to: number | null): string {
  return `${status} ${from} ${to}`;
}

/**
 * Writes the difference. Obsolete rows are overwritten, since most changes only add an end time.
 */
function writeCauses(
  tx: Tx,
  of: { source: CauseSource; sourceId: string },
  { obsolete, added }: Difference,
): void {
  const rows = added.map(({ componentId, status, from, to }) => {
    return { componentId, ...of, status, startedAt: from, endedAt: to };
  });
  const reused = rows.slice(0, obsolete.length);
  for (const [index, row] of reused.entries()) {
    const id = obsolete[index]?.id;
    if (id !== undefined) updateCauseRow(tx, { ...row, id });
  }
  insertCauses(tx, rows.slice(obsolete.length));
  for (const { id } of obsolete.slice(added.length)) deleteCause(tx, { id });
}

/**
 * Returns the source of manual statuses, which people or API keys set, also together with an
 * incident.
 */
function manualSourceOf(changeReason: ChangeReason): "api" | "manual" {
  return changeReason.actor.kind === "key" ? "api" : "manual";
}

/**
 * Replaces the causes of manual statuses by those of the rows, from `at` on (unix ms). A manual
 * status other than operational is stored as a cause, so that history can be computed from causes
 * alone.
 */
function replaceManualCauses(
  tx: Tx,
  rows: readonly ComponentRow[],
  by: { source: CauseSource; actor: Actor; at: number },
): void {
  if (rows.length === 0) return;
  endManualCauses(
    tx,
    rows.map(({ id }) => id),
    { endedAt: by.at },
  );
  insertCauses(
    tx,
    rows
      .filter(({ baselineStatus }) => baselineStatus !== "operational")
      .map(({ id, baselineStatus }) => ({
        componentId: id,
        source: by.source,
        sourceId: by.actor.id ?? by.actor.kind,
        status: baselineStatus,
        startedAt: by.at,
      })),
  );
}

/** Causes from a time on until they are ended, for sources that last for years. */
interface OpenCauses {
  source: "monitor";
  sourceId: string;
  /** Deleted and unknown components are left out. */
  componentIds: readonly string[];
  status: ComponentStatus;
  /** Unix ms; may be in the past, since an outage is dated from its first failure. */
  from: number;
}

/**
 * Opens causes of one source from `from` on; its earlier open causes end then, also those of
 * components that are no longer named. Each status is updated at once, with a recorded change and
 * an event, as `changeReason` says. Repeating the call changes nothing.
 */
export function openCauses(ctx: Ctx, tx: Tx, causes: OpenCauses, changeReason: ChangeReason): void {
  const { source, sourceId, status, from } = causes;
  const open = new Map(
    listOpenCausesOfSource(tx, { source, sourceId }).map((cause) => [cause.componentId, cause]),
  );
  const touched: ComponentOnPage[] = [];
  for (const componentId of new Set([...open.keys(), ...causes.componentIds])) {
    const row = findComponent(tx, { id: componentId });
    const isDesired = causes.componentIds.includes(componentId);
    if (!row || (isDesired && open.get(componentId)?.status === status)) continue;
    endOpenCausesOfSource(tx, { componentId, source, sourceId, endedAt: from });
    if (isDesired) {
      insertCause(tx, { componentId, source, sourceId, status, startedAt: from, endedAt: null });
    }
    touched.push(row);
  }
  showNow(ctx, tx, touched, changeReason);
}

/** Ends the open causes of a source at `at` (unix ms), if there are any. */
export function endCauses(
  ctx: Ctx,
  tx: Tx,
  source: "monitor",
  sourceId: string,
  at: number,
  changeReason: ChangeReason,
): void {
  const touched: ComponentOnPage[] = [];
  for (const { componentId } of listOpenCausesOfSource(tx, { source, sourceId })) {
    endOpenCausesOfSource(tx, { componentId, source, sourceId, endedAt: at });
    const row = findComponent(tx, { id: componentId });
    if (row) touched.push(row);
  }
  showNow(ctx, tx, touched, changeReason);
}

/** Source of a status change, recorded with the change. */
export interface ChangeReason {
  source: CauseSource;
  actor: Actor;
  reason: string | null;
  /** True to notify people; omitted if the caller did not say. */
  notify?: boolean;
}

/** Refreshes statuses like `refreshStatuses` and touches their pages. */
function showNow(
  ctx: Ctx,
  tx: Tx,
  rows: readonly ComponentOnPage[],
  changeReason: ChangeReason,
): Component[] {
  for (const pageId of new Set(rows.map((row) => row.pageId))) touchPage(ctx, tx, pageId);
  return refreshStatuses(ctx, tx, rows, changeReason);
}

/**
 * Computes the statuses of components from their manual statuses and open causes, and records each
 * change with an event. The rows carry the desired manual statuses. All rows get a new version,
 * which invalidates cached histories. Returns the components as they are now, in the order of the rows.
 * The caller touches the pages.
 */
function refreshStatuses(
  ctx: Ctx,
  tx: Tx,
  rows: readonly ComponentOnPage[],
  changeReason: ChangeReason,
): Component[] {
  if (rows.length === 0) return [];
  const now = ctx.clock.now();
  const causesOf = readOpenCauses(tx, rows);
  const refreshed = rows.map((before) => {
    const open = causesOf(before.id);
    const status = effectiveStatus(before.baselineStatus, open);
    const after = { ...before, status, version: before.version + 1, updatedAt: now };
    return { before, after, component: presentComponent(after, after.pageSlug, open) };
  });
  updateShownStatuses(
    tx,
    refreshed.map(({ after }) => after),
    now,
  );
  const changed = refreshed.filter(({ before, after }) => before.status !== after.status);
  insertChanges(
    tx,
    changed.map(({ before, after }) => ({
      componentId: before.id,
      fromStatus: before.status,
      toStatus: after.status,
      source: changeReason.source,
      reason: changeReason.reason,
      actorKind: changeReason.actor.kind,
      actorId: changeReason.actor.id,
      actorLabel: changeReason.actor.label,
      at: now,
    })),
  );
  ctx.outbox.recordAll(
    tx,
    changed.map(({ before, after, component }) => ({
      type: "component.status_changed",
      pageId: after.pageId,
      subjectId: after.id,
      data: eventData(component, before.status, changeReason.notify),
      author: authorOf(changeReason.actor),
    })),
  );
  return refreshed.map(({ component }) => component);
}

/**
 * Maximum number of causes in an event. Receivers accept 20 KB with the envelope, of which a
 * component's texts can take 8.
 */
const CAUSES_MAX = 80;

/** The data of a component's event. */
export const ComponentEventData = Type.Object(
  {
    ...Component.properties,
    truncated: Type.Optional(
      Type.Literal(true, { description: "Present if some causes were left out." }),
    ),
    old_status: Status,
    notify: Type.Optional(
      Type.Boolean({ description: "Present if the caller decided about messages to people." }),
    ),
  },
  { title: "ComponentEventData" },
);

/**
 * Returns the data of a component's event: the resource of the API with its previous status. Of
 * more than 80 causes it lists the worst, with `truncated: true`. `notify` is set if the caller
 * gave it, and decides if people get a message.
 */
function eventData(
  component: Component,
  oldStatus: ComponentStatus,
  notify: boolean | undefined,
): Record<string, unknown> {
  const { causes } = component;
  const isTooMuch = causes.length > CAUSES_MAX;
  return {
    ...component,
    ...(isTooMuch ? { causes: worstOf(causes), truncated: true } : {}),
    old_status: oldStatus,
    ...(notify === undefined ? {} : { notify }),
  };
}

function worstOf(causes: Component["causes"]): Component["causes"] {
  return causes.toSorted((a, b) => badnessOf(b.status) - badnessOf(a.status)).slice(0, CAUSES_MAX);
}

/** A status that a component had for a time in the past, in unix ms. */
interface PastCause {
  componentId: string;
  /** Id of the monitor whose history it is. */
  sourceId: string;
  status: ComponentStatus;
  startedAt: number;
  endedAt: number;
}

/** Adds imported causes to the past, unless they are there. They show once the component is known from then on. */
export function addPastCauses(tx: Tx, causes: readonly PastCause[]): void {
  for (const cause of causes) {
    if (!findImportCause(tx, cause)) insertCause(tx, { ...cause, source: "import" });
  }
}

/** Lets a component be known from an earlier day on, the first millisecond of which is `from`. */
export function knowEarlier(
  ctx: Ctx,
  tx: Tx,
  component: ComponentOnPage,
  from: number,
  reason: ChangeReason,
): void {
  saveStartDate(tx, { id: component.id, startDate: toIso(from).slice(0, "YYYY-MM-DD".length) });
  showNow(ctx, tx, [component], reason);
}

/** Returns components as the API shows them, in the order of the rows. */
function presentComponents(reader: Reader, rows: readonly ComponentOnPage[]): Component[] {
  const causesOf = readOpenCauses(reader, rows);
  return rows.map((row) => presentComponent(row, row.pageSlug, causesOf(row.id)));
}

/** Reads the open causes of some components. Returns a function from a component's id to its causes. */
function readOpenCauses(
  reader: Reader,
  rows: readonly { id: string }[],
): (componentId: string) => CauseRow[] {
  const causes = listOpenCausesOf(
    reader,
    rows.map(({ id }) => id),
  );
  const byComponent = Map.groupBy(causes, ({ componentId }) => componentId);
  return (componentId) => byComponent.get(componentId) ?? [];
}
