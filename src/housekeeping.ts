import type { AppContext } from "./context";
import type { Db } from "./db";
import { deleteAuditAddresses, deleteOldAudits } from "./events";
import { sweepAuth } from "./features/auth";
import { sweepAnswers } from "./features/idempotency";
import { trimKeyUse } from "./features/keys";
import { trimMails } from "./features/mail";
import { sweepSubmissions } from "./features/submissions";
import { sweepSubscribers } from "./features/subscribers";
import { sweepUserMails } from "./features/users";
import { trimDeliveries } from "./features/webhooks";
import type { Timer } from "./kernel/clock";
import { DAY_MS, HOUR_MS } from "./kernel/time";

/**
 * Deletes obsolete data once an hour: expired sessions and links, old forms and stored responses,
 * and data past its configured retention. Each run deletes a bounded number of rows, which keeps
 * transactions short.
 */
export function startHousekeeping(ctx: AppContext): Timer {
  return ctx.clock.every(HOUR_MS, () => {
    sweep(ctx).catch((error: unknown) => {
      ctx.log.warn({ err: error }, "what has ended could not be cleared away; trying in an hour");
    });
  });
}

async function sweep({ clock, config, db }: AppContext): Promise<void> {
  const now = clock.now();
  await db.write((tx) => sweepAuth(tx, now));
  // There can be more of these in an hour than one transaction should delete.
  while (await db.write((tx) => sweepSubmissions(tx, now)));
  while (await db.write((tx) => sweepAnswers(tx, now)));
  const eventsUntil = now - config.keepEventsDays * DAY_MS;
  while (await db.write((tx) => trimDeliveries(tx, eventsUntil)));
  while (await db.write((tx) => trimMails(tx, { before: eventsUntil, now })));
  while (await db.write((tx) => deleteOldAudits(tx, now - config.keepAuditDays * DAY_MS)));
  const addressesUntil = now - config.keepAddressesDays * DAY_MS;
  while (await db.write((tx) => deleteAuditAddresses(tx, addressesUntil)));
  while (await db.write((tx) => sweepSubscribers(tx, { now, addressesUntil })));
  while (await db.write((tx) => sweepUserMails(tx, now)));
  const kept = {
    now,
    hoursDays: config.keepKeyHoursDays,
    addressesDays: config.keepAddressesDays,
  };
  let key: string | undefined = "";
  while (key !== undefined) key = await trimNext(db, kept, key);
}

function trimNext(db: Db, kept: Parameters<typeof trimKeyUse>[1], after: string) {
  return db.write((tx) => trimKeyUse(tx, kept, after));
}
