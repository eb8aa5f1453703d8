import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { type Actor, authorOf } from "../../base/actor";
import { badnessOf, type CauseSource, type ComponentStatus } from "../../base/status";
import { touchPage } from "../pages/service";
import { insertChanges } from "./cause-store";
import { Component, presentComponent, Status } from "./model";
import { readOpenCauses } from "./read";
import { effectiveStatus } from "./rules";
import { type ComponentOnPage, updateShownStatuses } from "./store";

/** Source of a status change, recorded with the change. */
export interface ChangeReason {
  source: CauseSource;
  actor: Actor;
  reason: string | null;
  /** True to notify people; omitted if the caller did not say. */
  notify?: boolean;
}

/** Refreshes statuses like `refreshStatuses` and touches their pages. */
export function showNow(
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
export function refreshStatuses(
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
