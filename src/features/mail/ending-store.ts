import { and, asc, eq, lte, sql } from "drizzle-orm";
import { mutate, selectMany } from "../../db/statements";
import { mails } from "../../db/tables/mail";
import type { MailClass, MailStatus } from "../../base/mail-address";

// The same text as in the condition of the partial indexes, so that SQLite uses them.
const isPending = sql`${mails.status} = 'pending'`;

const ofMailing = (mailingId: unknown, limit: unknown) =>
  sql`${mails.id} IN (SELECT id FROM mails WHERE status = 'pending' AND class = 3 AND mailing_id = ${mailingId} LIMIT ${limit})`;

/** Ends at most `limit` pending mails of a mailing as cancelled. */
export const cancelOfMailing = mutate((orm, $: { mailingId: string; now: number; limit: number }) =>
  orm
    .update(mails)
    .set({ status: "cancelled", nextTryAt: null, finishedAt: $.now })
    .where(ofMailing($.mailingId, $.limit)),
);

/** Lists the pending mails of a subscriber; of one subject unless that is null. */
export const listPendingOfSubscriber = selectMany(
  (orm, $: { subscriberId: string; subjectId: string | null }) =>
    orm
      .select({ id: mails.id, mailingId: mails.mailingId })
      .from(mails)
      .where(
        and(
          eq(mails.subscriberId, $.subscriberId),
          sql`(${$.subjectId} IS NULL OR ${mails.subjectId} = ${$.subjectId})`,
          isPending,
        ),
      )
      .orderBy(asc(mails.id)),
);

/** Ends one pending mail. Returns 0 if it has ended already. */
export const endMail = mutate(
  (orm, $: { id: string; status: MailStatus; supersededBy: string | null; now: number }) =>
    orm
      .update(mails)
      .set({
        status: $.status,
        supersededBy: $.supersededBy,
        nextTryAt: null,
        finishedAt: $.now,
      })
      .where(and(eq(mails.id, $.id), isPending)),
);

/** Lists mails of classes 1 and 2 that must not be sent any more. */
export const listExpired = selectMany((orm, $: { class: MailClass; now: number; limit: number }) =>
  orm
    .select({ id: mails.id, mailingId: mails.mailingId })
    .from(mails)
    .where(
      and(
        // The partial index has these conditions.
        sql`${mails.class} < 3`,
        isPending,
        eq(mails.class, $.class),
        lte(mails.expiresAt, $.now),
      ),
    )
    .limit($.limit),
);

/** Lists mails of a mailing that must not be sent any more. */
export const listExpiredOfMailing = selectMany(
  (orm, $: { mailingId: string; now: number; limit: number }) =>
    orm
      .select({ id: mails.id, mailingId: mails.mailingId })
      .from(mails)
      .where(
        and(
          eq(mails.class, 3),
          eq(mails.mailingId, $.mailingId),
          lte(mails.expiresAt, $.now),
          isPending,
        ),
      )
      .limit($.limit),
);

/**
 * Makes mails due at `now` that wait longer than any retry, or were queued later, which happens if the clock was
 * set back. A first try may be planned for later.
 */
export const capDueTimesAfter = mutate(
  (orm, $: { class: MailClass; now: number; latest: number; limit: number }) =>
    orm
      .update(mails)
      .set({ nextTryAt: $.now })
      .where(
        sql`${mails.id} IN (SELECT id FROM mails WHERE status = 'pending' AND class = ${$.class}
          AND next_try_at > ${$.now}
          AND (created_at > ${$.now} OR (tries > 0 AND next_try_at > ${$.latest})) LIMIT ${$.limit})`,
      ),
);
