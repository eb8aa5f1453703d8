import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import { touchPage } from "../../pages";
import { endNoData, saveNoData } from "../checks-store";
import { findOpenNoData, findUnknownSince } from "../evaluation-store";

/**
 * Writes down, of components whose monitors have changed at `at` (unix ms), whether anything is known of
 * them: nothing is while no monitor that is not paused could say anything. Where nobody watches, people say
 * how it is.
 */
export function refreshNoData(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  components: Iterable<{ id: string; pageId: string }>,
  at: number,
): void {
  for (const { id: componentId, pageId } of components) {
    const since = findUnknownSince(tx, { componentId })?.since ?? null;
    const isWritten = findOpenNoData(tx, { componentId }) !== undefined;
    if (isWritten === (since !== null)) continue;
    if (since === null) endNoData(tx, { componentId, endedAt: at });
    else saveNoData(tx, { componentId, startedAt: Math.max(since, at), endedAt: null });
    touchPage(ctx, tx, pageId);
  }
}
