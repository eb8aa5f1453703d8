import { and, desc, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { mails } from "../../db/tables/mail";
import type { MailRow } from "./queue-store";

/** Makes a mail that has ended pending again, due at `now`. */
export const queueMailAgain = mutate(
  (orm, $: Pick<MailRow, "id" | "params" | "expiresAt"> & { now: number }) =>
    orm
      .update(mails)
      .set({
        params: $.params,
        status: "pending",
        nextTryAt: $.now,
        expiresAt: $.expiresAt,
        finishedAt: null,
      })
      .where(eq(mails.id, $.id)),
);

/** Deletes a mail that was cancelled. */
export const deleteCancelledMail = mutate((orm, $: { id: string }) =>
  orm.delete(mails).where(and(eq(mails.id, $.id), eq(mails.status, "cancelled"))),
);

/** Finds an earlier mail to a recipient about a subject, of those that belong to no mailing. */
export const findEarlierMail = selectOne(
  (orm, $: { subjectId: string; recipient: string; before: string }) =>
    orm
      .select({ id: mails.id })
      .from(mails)
      .where(
        and(
          eq(mails.subjectId, $.subjectId),
          isNull(mails.mailingId),
          lt(mails.id, $.before),
          eq(mails.recipient, $.recipient),
        ),
      )
      .limit(1),
);

/**
 * Lists the mails about an object that were queued after `since`, newest first, without those of mailings. An
 * empty `template` stands for all.
 */
export const listMailsAbout = selectMany(
  (orm, $: { subjectId: string; template: string; since: number; limit: number }) =>
    orm
      .select({
        id: mails.id,
        class: mails.class,
        template: mails.template,
        status: mails.status,
        recipient: mails.recipient,
        tries: mails.tries,
        reply: mails.reply,
        createdAt: mails.createdAt,
        finishedAt: mails.finishedAt,
      })
      .from(mails)
      .where(
        and(
          eq(mails.subjectId, $.subjectId),
          sql`${mails.mailingId} IS NULL`,
          sql`(${$.template} = '' OR ${mails.template} = ${$.template})`,
          gt(mails.createdAt, $.since),
        ),
      )
      .orderBy(desc(mails.id))
      .limit($.limit),
);
