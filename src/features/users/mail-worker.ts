/*
 * Mails that no change queues at once: about forgotten passwords and expiring keys.
 */
import type { Timer } from "../../base/clock";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { mailReadiness } from "../mail/settings";
import { startWaitingRows } from "../sending/waiting-rows";
import { decidePasswordRequests, hasPasswordRequests, sweepPasswordRequests } from "./forgot";
import { dueKeyWarnings, sweepKeyWarnings, warnOfKeys } from "./key-warnings";

/** Time between two looks for keys that expire soon. */
const LOOK_MS = 10 * MINUTE_MS;

/** Queues the mails for forgotten passwords and expiring keys. */
export function startUserMails(ctx: Ctx): Timer {
  const requests = startWaitingRows(ctx, {
    signal: ctx.signals.passwordsForgotten,
    hasWaiting: () => hasPasswordRequests(ctx.db),
    work: (tx) => decidePasswordRequests(ctx, tx),
    failed: "requests for new passwords wait for the database",
  });

  async function look(): Promise<void> {
    try {
      if (!mailReadiness(ctx).ready) return;
      if (dueKeyWarnings(ctx, ctx.db).length > 0) await ctx.db.write((tx) => warnOfKeys(ctx, tx));
    } catch (error) {
      ctx.log.warn({ err: error }, "mails about expiring keys could not be queued; trying later");
    }
  }

  const timers = [
    requests,
    ctx.clock.after(MINUTE_MS, () => void look()),
    ctx.clock.every(LOOK_MS, () => void look()),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Deletes what no mail to a user needs any more at `now` (unix ms). Returns true if more may be left. */
export function sweepUserMails(tx: Tx, now: number): boolean {
  sweepKeyWarnings(tx, now);
  return sweepPasswordRequests(tx, now);
}
