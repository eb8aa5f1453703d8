import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { ComponentStatus } from "../../domain/component-status";
import { type ChangeReason, showNow } from "./refresh-statuses";
import { endOpenCausesOfSource, insertCause, listOpenCausesOfSource } from "./cause-store";
import { type ComponentRow, findComponent } from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "outbox" | "signals">;

/** Causes from a time on until they are ended, for sources that last for years. */
interface OpenCauses {
  source: "monitor";
  sourceId: string;
  /** Those that are deleted, or no components, are left out. */
  componentIds: readonly string[];
  status: ComponentStatus;
  /** Unix ms; may lie in the past, since an outage is dated from its first sign. */
  from: number;
}

/**
 * Marks components by one source, whose open marks of before end where these begin. Components that it
 * marked and does not name any more are let go. Each shows its new status at once, recorded and told as
 * `why` says. The same marks once more change nothing.
 */
export function openCauses(ctx: Services, tx: Tx, causes: OpenCauses, why: ChangeReason): void {
  const { source, sourceId, status, from } = causes;
  const open = new Map(
    listOpenCausesOfSource(tx, { source, sourceId }).map((cause) => [cause.componentId, cause]),
  );
  const touched: ComponentRow[] = [];
  for (const componentId of new Set([...open.keys(), ...causes.componentIds])) {
    const row = findComponent(tx, { id: componentId });
    const isWanted = causes.componentIds.includes(componentId);
    if (!row || (isWanted && open.get(componentId)?.status === status)) continue;
    endOpenCausesOfSource(tx, { componentId, source, sourceId, endedAt: from });
    if (isWanted) {
      insertCause(tx, { componentId, source, sourceId, status, startedAt: from, endedAt: null });
    }
    touched.push(row);
  }
  showNow(ctx, tx, touched, why);
}

/** Ends what a source marks, at a moment in unix ms. Where it marks nothing, nothing changes. */
export function endCauses(
  ctx: Services,
  tx: Tx,
  source: "monitor",
  sourceId: string,
  at: number,
  why: ChangeReason,
): void {
  const touched: ComponentRow[] = [];
  for (const { componentId } of listOpenCausesOfSource(tx, { source, sourceId })) {
    endOpenCausesOfSource(tx, { componentId, source, sourceId, endedAt: at });
    const row = findComponent(tx, { id: componentId });
    if (row) touched.push(row);
  }
  showNow(ctx, tx, touched, why);
}
