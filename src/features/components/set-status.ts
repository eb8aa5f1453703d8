import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { FieldErrors } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import type { CauseSource, ComponentStatus } from "../../kernel/component-status";
import { findPage, touchPage } from "../pages";
import { eventData } from "./event";
import { presentComponent } from "./model";
import { effectiveStatus } from "./rules";
import {
  type CauseRow,
  endCausesOf,
  insertCause,
  insertChange,
  listOpenCausesOf,
} from "./cause-store";
import { type ComponentRow, findComponents, updateShownStatus } from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "outbox" | "signals">;

/** Who or what changes a status, and why; recorded with the change. */
export interface ChangeReason {
  source: CauseSource;
  actor: Actor;
  reason: string | null;
  /** Whether people are to be told; left out where nobody said. */
  notify?: boolean;
}

/**
 * Sets the baselines of some components, all or none, and so what they show unless something else
 * marks them worse. A component that has the baseline already is left as it is; each other one leaves a
 * row in the audit log.
 *
 * Throws `validation_failed` that names every id which is no component.
 */
export function setBaselines(
  ctx: Services,
  tx: Tx,
  statuses: ReadonlyMap<string, ComponentStatus>,
  why: ChangeReason,
): void {
  unknownComponents(tx, [...statuses.keys()]).throwIfAny();
  const found = findComponents(tx, [...statuses.keys()]);
  const changed: ComponentRow[] = [];
  for (const row of found.values()) {
    const baseline = statuses.get(row.id);
    if (baseline === undefined || baseline === row.baselineStatus) continue;
    const { source, actor } = why;
    replaceBaselineCause(tx, row.id, baseline, { source, actor, at: ctx.clock.now() });
    const change = `from ${inWords(row.baselineStatus)} to ${inWords(baseline)}`;
    const summary = `Set the status of “${row.name}” ${change}`;
    audit(ctx, tx, actor, "component.set_status", row.id, summary);
    changed.push({ ...row, baselineStatus: baseline });
  }
  showNow(ctx, tx, changed, why);
}

function inWords(status: ComponentStatus): string {
  return status.replaceAll("_", " ");
}

/** Returns an error for each id in a body's `components` that is no component's. */
export function unknownComponents(reader: Reader, ids: readonly string[]): FieldErrors {
  const found = findComponents(reader, ids);
  const errors = new FieldErrors();
  for (const id of ids) {
    if (!found.has(id)) errors.add(["components", id], "is no component");
  }
  return errors;
}

/** `refreshStatuses`, and tells the pages that they show something else. */
export function showNow(
  ctx: Services,
  tx: Tx,
  rows: readonly ComponentRow[],
  why: ChangeReason,
): void {
  refreshStatuses(ctx, tx, rows, why);
  for (const pageId of new Set(rows.map((row) => row.pageId))) touchPage(ctx, tx, pageId);
}

/**
 * Brings what components show in line with their baselines and their open causes, and records and
 * tells each that is a change. The rows carry the baselines as they are to be; they are written either
 * way, at a new version: what is kept of a component's history goes by it. The caller touches the pages.
 */
export function refreshStatuses(
  ctx: Services,
  tx: Tx,
  rows: readonly ComponentRow[],
  why: ChangeReason,
): void {
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const causes = Map.groupBy(listOpenCausesOf(tx, { ids }), (cause) => cause.componentId);
  for (const [pageId, own] of Map.groupBy(rows, (row) => row.pageId)) {
    const pageSlug = findPage(tx, { id: pageId })?.slug ?? "";
    for (const row of own) refreshStatus(ctx, tx, row, causes.get(row.id) ?? [], pageSlug, why);
  }
}

function refreshStatus(
  ctx: Services,
  tx: Tx,
  row: ComponentRow,
  causes: readonly CauseRow[],
  pageSlug: string,
  why: ChangeReason,
): void {
  const now = ctx.clock.now();
  const status = effectiveStatus(row.baselineStatus, causes);
  const after = { ...row, status, version: row.version + 1, updatedAt: now };
  updateShownStatus(tx, after);
  if (status === row.status) return;
  insertChange(tx, {
    componentId: row.id,
    fromStatus: row.status,
    toStatus: status,
    source: why.source,
    reason: why.reason,
    actorKind: why.actor.kind,
    actorId: why.actor.id,
    actorLabel: why.actor.label,
    at: now,
  });
  ctx.outbox.record(tx, {
    type: "component.status_changed",
    pageId: row.pageId,
    subjectId: row.id,
    data: eventData(presentComponent(after, pageSlug, causes), row.status, why.notify),
  });
}

/**
 * The baseline is a cause like any other while it is not operational, so that history can be folded.
 * `at`, in unix ms, is when the new one takes over.
 */
export function replaceBaselineCause(
  tx: Tx,
  componentId: string,
  baseline: ComponentStatus,
  by: { source: CauseSource; actor: Actor; at: number },
): void {
  for (const source of ["manual", "api"] as const) {
    endCausesOf(tx, { componentId, source, endedAt: by.at });
  }
  if (baseline === "operational") return;
  insertCause(tx, {
    componentId,
    source: by.source,
    sourceId: by.actor.id ?? by.actor.kind,
    status: baseline,
    startedAt: by.at,
  });
}
