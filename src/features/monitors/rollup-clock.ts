import type { Ctx } from "../../context";
import type { Timer } from "../../base/clock";
import { restAfter } from "../../base/numbers";
import { MINUTE_MS } from "../../base/time";
import { retentionOf, rollUp } from "./rollup";

/** Interval of checking for completed hours. */
const LOOK_MS = MINUTE_MS;
/** Shortest pause between two steps, so that checks and requests are not delayed noticeably. */
const REST_MS = 100;

/** Progress of writing results. */
interface Writing {
  /** Time of the oldest result that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined;
}

/**
 * Rolls up the results of completed hours in small steps, and deletes old results and rollups: at
 * the start what is left of earlier hours, then once a minute. Failed writes are repeated.
 */
export function startRollUps(ctx: Ctx, writing: Writing): Timer {
  const kept = retentionOf(ctx.config);
  let isCancelled = false;
  let isFailing = false;
  let timer = ctx.clock.after(0, () => void next());

  /** Runs a step. Returns the pause until the next one, in ms. */
  async function work(): Promise<number> {
    const startedAt = ctx.clock.monotonic();
    try {
      const isMore = await ctx.db.write((tx) => {
        const moment = { now: ctx.clock.now(), oldestUnwritten: writing.oldestUnwritten() };
        return rollUp(tx, moment, kept);
      });
      isFailing = false;
      const restMs = restAfter(ctx.clock.monotonic() - startedAt);
      return isMore ? Math.max(REST_MS, restMs) : LOOK_MS;
    } catch (error) {
      // Logged once, since it may last for hours.
      if (!isFailing && !isCancelled) ctx.log.error({ err: error }, "results wait to be rolled up");
      isFailing = true;
      return LOOK_MS;
    }
  }

  async function next(): Promise<void> {
    const restMs = await work();
    if (!isCancelled) timer = ctx.clock.after(restMs, () => void next());
  }

  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}
