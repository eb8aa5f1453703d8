import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { ComponentStatus } from "../../base/status";
import { toIso } from "../../base/time";
import { findImportCause, insertCause } from "./cause-store";
import { type ChangeReason, showNow } from "./statuses";
import { type ComponentOnPage, saveStartDate } from "./store";

/** A status that a component had for a time in the past, in unix ms. */
interface PastCause {
  componentId: string;
  /** Id of the monitor whose history it is. */
  sourceId: string;
  status: ComponentStatus;
  startedAt: number;
  endedAt: number;
}

/** Adds imported causes to the past, unless they are there. They show once the component is known from then on. */
export function addPastCauses(tx: Tx, causes: readonly PastCause[]): void {
  for (const cause of causes) {
    if (!findImportCause(tx, cause)) insertCause(tx, { ...cause, source: "import" });
  }
}

/** Lets a component be known from an earlier day on, the first millisecond of which is `from`. */
export function knowEarlier(
  ctx: Ctx,
  tx: Tx,
  component: ComponentOnPage,
  from: number,
  reason: ChangeReason,
): void {
  saveStartDate(tx, { id: component.id, startDate: toIso(from).slice(0, "YYYY-MM-DD".length) });
  showNow(ctx, tx, [component], reason);
}
