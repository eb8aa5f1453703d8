import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { FieldErrors } from "../../errors";
import type { Actor } from "../../kernel/actor";
import type { CauseSource, ComponentStatus } from "../../kernel/component-status";
import { findPage, touchPage } from "../pages";
import { eventData } from "./event";
import { presentComponent } from "./model";
import { effectiveStatus } from "./rules";
import {
  type ComponentRow,
  endCausesOf,
  findComponent,
  insertCause,
  insertChange,
  listOpenCauses,
  updateComponentRow,
} from "./store";

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
 * marks them worse. A component that has the baseline already is left as it is.
 *
 * Throws `validation_failed` that names every id which is no component.
 */
export function setBaselines(
  ctx: Services,
  tx: Tx,
  statuses: ReadonlyMap<string, ComponentStatus>,
  why: ChangeReason,
): void {
  const unknown = new FieldErrors();
  const rows: ComponentRow[] = [];
  for (const id of statuses.keys()) {
    const row = findComponent(tx, { id });
    if (row) rows.push(row);
    else unknown.add(["components", id], "is no component");
  }
  unknown.throwIfAny();
  for (const row of rows) {
    const baseline = statuses.get(row.id);
    if (baseline === undefined || baseline === row.baselineStatus) continue;
    const { source, actor } = why;
    replaceBaselineCause(tx, row.id, baseline, { source, actor, at: ctx.clock.now() });
    refreshStatus(ctx, tx, { ...row, baselineStatus: baseline }, why);
  }
}

/**
 * Brings what a component shows in line with its baseline and its open causes, and records and tells
 * it if that is a change. `row` carries the baseline as it is to be; it is written either way.
 */
export function refreshStatus(ctx: Services, tx: Tx, row: ComponentRow, why: ChangeReason): void {
  const now = ctx.clock.now();
  const causes = listOpenCauses(tx, { componentId: row.id });
  const status = effectiveStatus(row.baselineStatus, causes);
  const after = { ...row, status, version: row.version + 1, updatedAt: now };
  updateComponentRow(tx, after);
  touchPage(ctx, tx, row.pageId);
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
  const pageSlug = findPage(tx, { id: row.pageId })?.slug ?? "";
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
