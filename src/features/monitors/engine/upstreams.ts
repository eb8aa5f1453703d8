/* Installations of Allclear behind the pages that monitors of providers read. */
import type { Ctx } from "../../../context";
import type { ProbeResult } from "../monitoring";
import { ownVia, readVias, saveVias } from "../via";
import type { ScheduledMonitor } from "./registry";

const OF_ITSELF: ProbeResult = {
  outcome: "unknown",
  latencyMs: null,
  message: "The page follows from what this Allclear shows, so it says nothing new.",
};

/**
 * Notes the installations behind the page that a check has read, so that answers of this server name them. Returns the
 * result of the check, which is unknown for a page behind which this installation stands itself.
 */
export function noteVia(
  ctx: Ctx,
  { id }: Pick<ScheduledMonitor, "id">,
  result: ProbeResult,
): ProbeResult {
  // A page that could not be read may still have the same behind it.
  if (result.outcome === "unknown" && !result.via) return result;
  const { via = [] } = result;
  const own = ownVia(ctx.db);
  const others = via.filter((each) => each !== own);
  const vias = readVias(ctx.db);
  if (!Bun.deepEquals(vias[id] ?? [], others)) storeVia(ctx, id, others);
  return own !== undefined && via.includes(own) ? OF_ITSELF : result;
}

/** Forgets a monitor that was deleted or paused. */
export function forgetVia(ctx: Ctx, { id }: Pick<ScheduledMonitor, "id">): void {
  if (readVias(ctx.db)[id]) storeVia(ctx, id, []);
}

function storeVia(ctx: Ctx, id: string, ids: readonly string[]): void {
  ctx.db
    .write((tx) => {
      const { [id]: _, ...others } = readVias(tx);
      saveVias(tx, ids.length === 0 ? others : { ...others, [id]: ids }, ctx.clock.now());
    })
    // The next check notes them again.
    .catch((error: unknown) => ctx.log.warn({ err: error }, "a provider could not be noted"));
}
