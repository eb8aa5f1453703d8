import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { FieldErrors } from "../../errors";
import { recordAudits } from "../../events";
import type { Actor } from "../../domain/actor";
import type { ComponentStatus } from "../../domain/component-status";
import { spaced } from "../../kernel/text";
import { replaceManualCauses } from "./causes";
import { type ResolvedComponent, resolveComponents } from "./component-reference";
import type { Component } from "./model";
import { listComponentsByIds } from "./read";
import { type ChangeReason, showNow } from "./refresh-statuses";
import type { ComponentRow } from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "outbox" | "signals">;

/**
 * Sets the manual statuses of components, all or none. A component that already has the status is
 * unchanged; each other one gets an audit row. Returns the components in the order of `statuses`,
 * whose keys are references.
 *
 * Throws `validation_failed` with the errors of `resolveStatusKeys`.
 */
export function setManualStatuses(
  ctx: Services,
  tx: Tx,
  statuses: ReadonlyMap<string, ComponentStatus>,
  changeReason: ChangeReason,
): Component[] {
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
  const { source, actor } = changeReason;
  replaceManualCauses(tx, changed, { source, actor, at: ctx.clock.now() });
  auditStatuses(ctx, tx, changed, before, actor);
  const shown = new Map(
    showNow(ctx, tx, changed, changeReason).map((component) => [component.id, component]),
  );
  const others = named.filter(({ id }) => !shown.has(id));
  for (const component of listComponentsByIds(
    tx,
    others.map(({ id }) => id),
  )) {
    shown.set(component.id, component);
  }
  return named.flatMap(({ id }) => shown.get(id) ?? []);
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
    const from = spaced(before.get(id) ?? baselineStatus);
    const summary = `Set the status of “${name}” from ${from} to ${spaced(baselineStatus)}`;
    return { actor, action: "component.set_status", targetId: id, summary, at };
  });
  recordAudits(tx, entries);
}
