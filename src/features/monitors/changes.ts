import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { touchPage } from "../pages/pages";
import type { AffectedComponent } from "./records";
import type { MonitorRow } from "./store";

/** Actions on monitors in the audit log. */
type MonitorAction =
  | "monitor.create"
  | "monitor.update"
  | "monitor.delete"
  | "monitor.pause"
  | "monitor.resume"
  | "monitor.rotate_token"
  | "monitor.end_token";

/** Writes the audit row of a change, and after the commit signals that monitors changed. */
export function recordMonitorChange(
  ctx: Ctx,
  tx: Tx,
  row: MonitorRow,
  change: { action: MonitorAction; summary: string; actor: Actor },
): void {
  audit(ctx, tx, change.actor, change.action, row.id, change.summary);
  ctx.signals.monitorsChanged.raise(tx);
}

/**
 * Marks the pages of components as changed, since another monitor's checks are shown from now on.
 */
export function touchPagesOf(
  ctx: Ctx,
  tx: Tx,
  components: readonly Pick<AffectedComponent, "pageId">[],
): void {
  for (const pageId of new Set(components.map((component) => component.pageId))) {
    touchPage(ctx, tx, pageId);
  }
}
