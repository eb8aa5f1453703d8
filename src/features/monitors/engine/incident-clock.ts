import type { Ctx } from "../../../context";
import { MINUTE_MS, SECOND_MS } from "../../../base/time";
import type { Timer } from "../../../base/clock";
import { hasDueWords, writeDueWords } from "../../incidents/words";
import { listMonitorsToRepair, repairOutages } from "./incidents";

/** Interval at which due updates are looked for. */
const TICK_MS = SECOND_MS;
/** Interval at which outages without incidents are looked for. */
const REPAIR_MS = MINUTE_MS;

/**
 * Starts the clock that writes the due updates of incidents which Allclear opened. At the start and once a minute, it
 * repairs outages that were recorded without their incidents. Failed writes are repeated at the next tick.
 */
export function startIncidentClock(ctx: Ctx): Timer {
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;
  /** Time of the next repair, on the monotonic clock. */
  let repairAt = Number.NEGATIVE_INFINITY;

  async function advance(): Promise<void> {
    let hasMore = hasDueWords(ctx.db, ctx.clock.now());
    while (hasMore && !isCancelled) hasMore = await ctx.db.write((tx) => writeDueWords(ctx, tx));
    const now = ctx.clock.monotonic();
    if (now < repairAt || isCancelled) return;
    repairAt = now + REPAIR_MS;
    for (const id of listMonitorsToRepair(ctx.db)) {
      await ctx.db
        .write((tx) => ctx.outbox.group(tx, () => repairOutages(ctx, tx, id)))
        // One that cannot be repaired must not block the others.
        .catch((error: unknown) =>
          ctx.log.error({ err: error, monitor: id }, "an outage could not be given its incidents"),
        );
    }
  }

  async function tick(): Promise<void> {
    if (isRunning || !ctx.isPrimary()) return;
    isRunning = true;
    try {
      await advance();
      isFailing = false;
    } catch (error) {
      // Logged once per series of failures, which can last for hours.
      if (!isFailing) ctx.log.error({ err: error }, "updates of incidents could not be written");
      isFailing = true;
    } finally {
      isRunning = false;
    }
  }

  void tick();
  const timer = ctx.clock.every(TICK_MS, () => void tick());
  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}
