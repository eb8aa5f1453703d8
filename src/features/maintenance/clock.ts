import type { AppContext } from "../../context";
import type { Timer } from "../../kernel/clock";
import { advanceMaintenance } from "./advance";
import { listDue } from "./due-store";

/** Often enough that what is due is done within a second. */
const TICK_MS = 500;

/**
 * Lets time move maintenance on: at once what came due while nobody looked, and from then on everything
 * within a second of its time. Reads one indexed query a tick and writes only when something is due. What
 * the database refuses is tried again at the next tick.
 */
export function startMaintenanceClock(ctx: AppContext): Timer {
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;

  /** A transaction for every fifty steps, so that requests are answered in between. */
  async function catchUp(): Promise<void> {
    const now = ctx.clock.now();
    if (listDue(ctx.db, { now, limit: 1 }).length === 0) return;
    while (!isCancelled && (await ctx.db.write((tx) => advanceMaintenance(ctx, tx, now))));
  }

  async function tick(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      await catchUp();
      isFailing = false;
    } catch (error) {
      // Said once: it may stay so for hours.
      if (!isFailing) ctx.log.error({ err: error }, "maintenance waits for the database");
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
