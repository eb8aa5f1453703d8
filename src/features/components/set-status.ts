import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { FieldErrors } from "../../base/validation";
import { recordAudits } from "../../events/audit";
import type { Actor } from "../../base/actor";
import type { ComponentStatus } from "../../base/status";
import { spaced } from "../../base/text";
import { type ChangeReason, replaceManualCauses, showNow } from "./statuses";
import { presentComponents, resolveComponents, type ResolvedComponent } from "./references";
import type { Component } from "./wire";
import type { ComponentOnPage, ComponentRow } from "./store";

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
