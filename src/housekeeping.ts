import type { Ctx } from "./context";
import { returnFreePages } from "./db/database";
import type { Tx } from "./db/statements";
import { Problem } from "./base/errors";
import { deleteAuditAddresses, deleteOldAudits } from "./events/audit";
import { sweepAuth } from "./features/auth/sessions";
import { sweepAnswers } from "./features/idempotency/store";
import { trimKeyUse } from "./features/keys/usage";
import { trimMails } from "./features/mail/waiting";
import { sweepSubmissions } from "./features/submissions/store";
import { sweepSubscribers } from "./features/subscribers/mails";
import { sweepUserMails } from "./features/users/letters";
import { deletePausesBefore } from "./features/webhooks/store";
import { trimDeliveries } from "./features/webhooks/deliveries";
import type { Timer } from "./base/clock";
import { repeatWithRests } from "./base/numbers";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./base/time";

/** Time from the start to the first run, which should not compete with the first requests. */
export const FIRST_RUN_MS = 5 * MINUTE_MS;

/** Deletes some rows in one transaction. Returns true if there may be more. */
type Step = (tx: Tx) => boolean;

/**
 * Deletes obsolete data five minutes after the start and then every hour: expired sessions and links, old forms and
 * stored responses, and data past its configured retention. Afterwards the file gives free space back.
 *
 * Each transaction changes a bounded number of rows, and a rest follows it. A run that is interrupted continues with
 * the next one, since what is left is found in the database.
 */
export function startHousekeeping(ctx: Ctx): Timer {
  let isCancelled = false;
  let timer = ctx.clock.after(FIRST_RUN_MS, () => void run());

  function warn(error: unknown): void {
    if (isCancelled) return;
    ctx.log.warn({ err: error }, "what has ended could not be cleared away; trying in an hour");
  }

  /** Runs a step. Returns false if it has failed, so that the others still run, and throws without the database. */
  async function runStep(step: Step): Promise<boolean> {
    try {
      return await ctx.db.write(step);
    } catch (error) {
      if (error instanceof Problem) throw error;
      warn(error);
      return false;
    }
  }

  async function run(): Promise<void> {
    try {
      const steps = stepsOf(ctx);
      await repeatWithRests(ctx.clock, async () => {
        const [step] = steps;
        if (isCancelled || !step) return false;
        if (!(await runStep(step))) steps.shift();
        return true;
      });
    } catch (error) {
      warn(error);
    }
    if (!isCancelled) timer = ctx.clock.after(HOUR_MS, () => void run());
  }

  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/** Returns the steps of one run in order. Each is repeated until it returns false. */
function stepsOf({ clock, config }: Ctx): Step[] {
  const now = clock.now();
  const eventsUntil = now - config.keepEventsDays * DAY_MS;
  const auditsUntil = now - config.keepAuditDays * DAY_MS;
  const addressesUntil = now - config.keepAddressesDays * DAY_MS;
  const kept = {
    now,
    hoursDays: config.keepKeyHoursDays,
    addressesDays: config.keepAddressesDays,
  };
  let key: string | undefined = "";
  return [
    (tx) => sweepAuth(tx, now),
    (tx) => sweepSubmissions(tx, now),
    (tx) => sweepAnswers(tx, now),
    (tx) => trimDeliveries(tx, eventsUntil),
    // The digest of a deleted address is not kept.
    (tx) => deletePausesBefore(tx, { before: now }) > 0,
    (tx) => trimMails(tx, { before: eventsUntil, now }),
    (tx) => deleteOldAudits(tx, auditsUntil),
    (tx) => deleteAuditAddresses(tx, addressesUntil),
    (tx) => sweepSubscribers(tx, { now, addressesUntil }),
    (tx) => sweepUserMails(tx, now),
    (tx) => (key = trimKeyUse(tx, kept, key ?? "")) !== undefined,
    returnFreePages,
  ];
}
