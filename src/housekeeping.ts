import type { AppContext } from "./context";
import { sweepAuth } from "./features/auth";
import { sweepSubmissions } from "./features/submissions";
import type { Timer } from "./kernel/clock";
import { HOUR_MS } from "./kernel/time";

/**
 * Deletes, once an hour, what has ended and is of no use any more: dead sessions, links that open
 * nothing, forms of yesterday. Bounded work each time, so that no transaction is a long one.
 */
export function startHousekeeping(ctx: AppContext): Timer {
  return ctx.clock.every(HOUR_MS, () => {
    const sweep = ctx.db.write((tx) => {
      const now = ctx.clock.now();
      sweepAuth(tx, now);
      sweepSubmissions(tx, now);
    });
    sweep.catch((error: unknown) => {
      ctx.log.warn({ err: error }, "what has ended could not be cleared away; trying in an hour");
    });
  });
}
