import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db";
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

/** Lists the newest mails about a subject that belong to no mailing. */
export const listNewestAbout = selectMany((orm, $: { subjectId: string; limit: number }) =>
  orm
    .select({ recipient: mails.recipient, createdAt: mails.createdAt })
    .from(mails)
    .where(and(eq(mails.subjectId, $.subjectId), isNull(mails.mailingId)))
    .orderBy(desc(mails.id))
    .limit($.limit),
);
