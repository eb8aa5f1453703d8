import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { touchPage } from "../pages";
import { endCausesOfPage } from "./cause-store";
import { deleteComponentRowsOfPage, deleteGroupRowsOfPage } from "./store";

/**
 * Deletes every component and group of a page that is itself about to be deleted, and ends all their
 * causes. Their history stays. No event tells of a changed status: the components are gone.
 */
export function deleteComponentsOfPage(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  pageId: string,
): void {
  const now = ctx.clock.now();
  endCausesOfPage(tx, { pageId, endedAt: now });
  deleteComponentRowsOfPage(tx, { pageId, now });
  deleteGroupRowsOfPage(tx, { pageId, now });
  touchPage(ctx, tx, pageId);
}
