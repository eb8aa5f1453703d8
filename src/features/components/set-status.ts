import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { FieldErrors } from "../../errors";
import { recordAudits } from "../../events";
import type { Actor } from "../../kernel/actor";
import type { CauseSource, ComponentStatus } from "../../kernel/component-status";
import { touchPage } from "../pages";
import { type ResolvedComponent, resolveComponents } from "./component-reference";
import { eventData } from "./event";
import { presentComponent } from "./model";
import { effectiveStatus } from "./rules";
import { endManualCauses, insertCauses, insertChanges } from "./cause-store";
import { listCausesByComponent, slugs } from "./read";
import { type ComponentRow, updateShownStatuses } from "./store";

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
 * row in the audit log. Returns the components' ids in the order of `statuses`, whose keys are
 * references.
 *
 * Throws `validation_failed` with the errors of `resolveStatusKeys`.
 */
export function setBaselines(
  ctx: Services,
  tx: Tx,
  statuses: ReadonlyMap<string, ComponentStatus>,
  why: ChangeReason,
): string[] {
  const errors = new FieldErrors();
  const named = resolveStatusKeys(tx, [...statuses.keys()], errors);
  errors.throwIfAny();
  const before = new Map(named.map(({ id, row }) => [id, row?.baselineStatus]));
  const changed = named
    .flatMap(({ reference, row }) => {
      const baselineStatus = statuses.get(reference);
      return row && baselineStatus ? [{ ...row, baselineStatus }] : [];
    })
    .filter(({ id, baselineStatus }) => baselineStatus !== before.get(id));
  const { source, actor } = why;
  replaceManualCauses(tx, changed, { source, actor, at: ctx.clock.now() });
  auditStatuses(ctx, tx, changed, before, actor);
  showNow(ctx, tx, changed, why);
  return named.map(({ id }) => id);
}

/**
 * Returns the components that the keys of a body's `components` name. Adds an error for each key that is
 * no component, or that names an earlier key's component again.
 */
export function resolveStatusKeys(
  reader: Reader,
  references: readonly string[],
  errors: FieldErrors,
): ResolvedComponent[] {
  return resolveComponents(reader, references, errors, (reference) => ["components", reference]);
}

/** Writes a row in the audit log for each changed component; `before` holds the earlier statuses by id. */
function auditStatuses(
  ctx: Services,
  tx: Tx,
  changed: readonly ComponentRow[],
  before: ReadonlyMap<string, ComponentStatus | undefined>,
  actor: Actor,
): void {
  const at = ctx.clock.now();
  const entries = changed.map(({ id, name, baselineStatus }) => {
    const from = inWords(before.get(id) ?? baselineStatus);
    const summary = `Set the status of “${name}” from ${from} to ${inWords(baselineStatus)}`;
    return { actor, action: "component.set_status", targetId: id, summary, at };
  });
  recordAudits(tx, entries);
}

function inWords(status: ComponentStatus): string {
  return status.replaceAll("_", " ");
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
