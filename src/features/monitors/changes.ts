import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { touchPage } from "../pages";
import type { AffectedComponent } from "./records";
import type { MonitorRow } from "./store";

export type Services = Pick<
  AppContext,
  "baseUrl" | "clock" | "newId" | "outbox" | "random" | "signals"
>;

/** Actions on monitors in the audit log. */
type MonitorAction =
  | "monitor.create"
  | "monitor.update"
  | "monitor.delete"
  | "monitor.pause"
  | "monitor.resume"
  | "monitor.rotate_token";

/** Tells of a change of a monitor: the audit log, and after the commit whoever watches. */
export function recordMonitorChange(
  ctx: Services,
  tx: Tx,
  row: MonitorRow,
  told: { action: MonitorAction; summary: string; actor: Actor },
): void {
  audit(ctx, tx, told.actor, told.action, row.id, told.summary);
  tx.afterCommit(() => ctx.signals.monitorsChanged.emit());
}

/** Has the pages of components be made anew: what they show of checks is another monitor's from now on. */
export function touchPagesOf(
  ctx: Services,
  tx: Tx,
  components: readonly Pick<AffectedComponent, "pageId">[],
): void {
  for (const pageId of new Set(components.map((component) => component.pageId))) {
    touchPage(ctx, tx, pageId);
  }
}

/** The row as a change leaves it: one version on. */
export function changedRow(ctx: Services, row: MonitorRow): MonitorRow {
  return { ...row, version: row.version + 1, updatedAt: ctx.clock.now() };
}
