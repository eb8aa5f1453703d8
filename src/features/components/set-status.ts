import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { FieldErrors } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import type { CauseSource, ComponentStatus } from "../../kernel/component-status";
import { touchPage } from "../pages";
import { eventData } from "./event";
import { presentComponent } from "./model";
import { effectiveStatus } from "./rules";
import { endManualCauses, insertCauses, insertChanges } from "./cause-store";
import { listCausesByComponent, slugs } from "./read";
import { type ComponentRow, findComponents, updateShownStatuses } from "./store";

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
  const changed = Array.from(found.values(), (row) => {
    return { ...row, baselineStatus: statuses.get(row.id) ?? row.baselineStatus };
  }).filter((row) => row.baselineStatus !== found.get(row.id)?.baselineStatus);
  const { source, actor } = why;
  replaceManualCauses(tx, changed, { source, actor, at: ctx.clock.now() });
  for (const { id, name, baselineStatus } of changed) {
    const before = found.get(id)?.baselineStatus ?? baselineStatus;
    const summary = `Set the status of “${name}” from ${inWords(before)} to ${inWords(baselineStatus)}`;
    audit(ctx, tx, actor, "component.set_status", id, summary);
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
  if (rows.length === 0) return;
  const now = ctx.clock.now();
  const causes = listCausesByComponent(
    tx,
    rows.map(({ id }) => id),
  );
  const refreshed = rows.map((row) => {
    const status = effectiveStatus(row.baselineStatus, causes.get(row.id) ?? []);
    const after = { ...row, status, version: row.version + 1, updatedAt: now };
    return { before: row, after };
  });
  updateShownStatuses(
    tx,
    refreshed.map(({ after }) => after),
  );
  const changed = refreshed.filter(({ before, after }) => before.status !== after.status);
  insertChanges(
    tx,
    changed.map(({ before, after }) => ({
      componentId: before.id,
      fromStatus: before.status,
      toStatus: after.status,
      source: why.source,
      reason: why.reason,
      actorKind: why.actor.kind,
      actorId: why.actor.id,
      actorLabel: why.actor.label,
      at: now,
    })),
  );
  const slugOf = slugs(tx);
  for (const { before, after } of changed) {
    const component = presentComponent(after, slugOf(after.pageId), causes.get(after.id) ?? []);
    ctx.outbox.record(tx, {
      type: "component.status_changed",
      pageId: after.pageId,
      subjectId: after.id,
      data: eventData(component, before.status, why.notify),
    });
  }
}

/**
 * Replaces the causes of manual statuses by those that the rows carry. A manual status is a cause like any
 * other while it is not operational, so that history can be folded. `at`, in unix ms, is when it begins.
 */
export function replaceManualCauses(
  tx: Tx,
  rows: readonly ComponentRow[],
  by: { source: CauseSource; actor: Actor; at: number },
): void {
  if (rows.length === 0) return;
  endManualCauses(tx, { ids: JSON.stringify(rows.map(({ id }) => id)), endedAt: by.at });
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
