import type { AppContext } from "./context";
import { sweepAuth } from "./features/auth";
import { sweepAnswers } from "./features/idempotency";
import { sweepSubmissions } from "./features/submissions";
import { trimDeliveries } from "./features/webhooks";
import type { Timer } from "./kernel/clock";
import { DAY_MS, HOUR_MS } from "./kernel/time";

/**
 * Deletes, once an hour, what has ended and is of no use any more: dead sessions, links that open
 * nothing, forms and kept answers of yesterday. Bounded work each time, so that no transaction is a
 * long one.
 */
export function startHousekeeping(ctx: AppContext): Timer {
  return ctx.clock.every(HOUR_MS, () => {
    sweep(ctx).catch((error: unknown) => {
      ctx.log.warn({ err: error }, "what has ended could not be cleared away; trying in an hour");
    });
  });
}

async function sweep(ctx: AppContext): Promise<void> {
  const { clock, db } = ctx;
  const now = clock.now();
  await db.write((tx) => sweepAuth(tx, now));
  // There can be more of these in an hour than one transaction should delete.
  while (await db.write((tx) => sweepSubmissions(tx, now)));
  while (await db.write((tx) => sweepAnswers(tx, now)));
  await sweepDeliveries(ctx, now);
}

/** Events, and how each was delivered, a few at a time so that requests are answered in between. */
async function sweepDeliveries({ config, db }: AppContext, now: number): Promise<void> {
  const before = now - config.keepEventsDays * DAY_MS;
  while (await db.write((tx) => trimDeliveries(tx, before)));
}
