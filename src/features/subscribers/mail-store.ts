import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { mutate, selectMany } from "../../db";
import { mailReports, mails } from "../../db/tables/mail";

/** Lists sign-up mails to an address after `since`, newest first. `subjectId` is that of the address. */
export const listSignUpMails = selectMany(
  (orm, $: { subjectId: string; since: number; limit: number }) =>
    orm
      .select({
        template: mails.template,
        pageId: sql<string>`json_extract(${mails.params}, '$.page')`,
        at: mails.createdAt,
      })
      .from(mails)
      .where(
        and(
          eq(mails.subjectId, $.subjectId),
          isNull(mails.mailingId),
          gt(mails.createdAt, $.since),
        ),
      )
      .orderBy(desc(mails.id))
      .limit($.limit),
);

/** Deletes the sign-up mails of a page to an address. */
export const deleteSignUpMails = mutate((orm, $: { subjectId: string; pageId: string }) =>
  orm
    .delete(mails)
    .where(
      and(
        eq(mails.subjectId, $.subjectId),
        isNull(mails.mailingId),
        sql`json_extract(${mails.params}, '$.page') = ${$.pageId}`,
      ),
    ),
);

/** Deletes the reports about sign-up mails of a page to an address. */
export const deleteReportsOfSignUps = mutate((orm, $: { subjectId: string; pageId: string }) =>
  orm.delete(mailReports).where(
    sql`${mailReports.mailId} IN ${orm
      .select({ id: mails.id })
      .from(mails)
      .where(
        and(
          eq(mails.subjectId, $.subjectId),
          isNull(mails.mailingId),
          sql`json_extract(${mails.params}, '$.page') = ${$.pageId}`,
        ),
      )}`,
  ),
);

/** Deletes the reports about mails to a subscriber. */
export const deleteReportsOf = mutate((orm, $: { subscriberId: string }) =>
  orm
    .delete(mailReports)
    .where(
      sql`${mailReports.mailId} IN ${orm
        .select({ id: mails.id })
        .from(mails)
        .where(eq(mails.subscriberId, $.subscriberId))}`,
    ),
);
