import type { AppContext } from "../../context";
import type { Timer } from "../../kernel/clock";
import { MINUTE_MS } from "../../kernel/time";
import { retentionOf, rollUp } from "./rollup";

/** Interval of looking for a completed hour. */
const LOOK_MS = MINUTE_MS;
/** Between two parts of the work, so that checks and requests hardly notice it. */
const REST_MS = 100;

/** Source of the progress of writing results. */
interface Writing {
  /** Time of the oldest result that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined;
}

/**
 * Rolls up, a part at a time, the results of hours that are over, and trims what was kept long enough: at
 * once what was left behind, then once a minute. What the database refuses is tried again.
 */
export function startRollUps(ctx: AppContext, writing: Writing): Timer {
  const kept = retentionOf(ctx.config);
  let isCancelled = false;
  let isFailing = false;
  let timer = ctx.clock.after(0, () => void next());

  /** Answers how long to rest. */
  async function work(): Promise<number> {
    try {
      const isMore = await ctx.db.write((tx) => {
        const moment = { now: ctx.clock.now(), oldestUnwritten: writing.oldestUnwritten() };
        return rollUp(tx, moment, kept);
      });
      isFailing = false;
      return isMore ? REST_MS : LOOK_MS;
    } catch (error) {
      // Said once: it may stay so for hours.
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
