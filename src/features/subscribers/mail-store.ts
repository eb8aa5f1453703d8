import { and, desc, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { events } from "../../db/tables/events";
import { mailings, mailReports, mails, mailThreads } from "../../db/tables/mail";

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

/** Finds a mail to a subscriber, with the state of its mailing. `eventId` is null once the event is deleted. */
export const findMailToResend = selectOne((orm, $: { id: string; subscriberId: string }) =>
  orm
    .select({
      mailingId: mails.mailingId,
      subjectId: mails.subjectId,
      template: mails.template,
      params: mails.params,
      status: mails.status,
      mailingState: mailings.state,
      eventId: events.id,
    })
    .from(mails)
    .leftJoin(mailings, eq(mailings.id, mails.mailingId))
    .leftJoin(events, eq(events.id, mailings.eventId))
    .where(and(eq(mails.id, $.id), eq(mails.subscriberId, $.subscriberId))),
);

/** Finds the last copy of a mailing's mail to a subscriber. */
export const findLastCopy = selectOne((orm, $: { mailingId: string; subscriberId: string }) =>
  orm
    .select({ copy: mails.copy, status: mails.status })
    .from(mails)
    .where(and(eq(mails.mailingId, $.mailingId), eq(mails.subscriberId, $.subscriberId)))
    .orderBy(desc(mails.copy))
    .limit(1),
);

const listed = {
  id: mails.id,
  template: mails.template,
  mailingId: mails.mailingId,
  subjectId: mails.subjectId,
  copy: mails.copy,
  status: mails.status,
  tries: mails.tries,
  nextTryAt: mails.nextTryAt,
  reply: mails.reply,
  createdAt: mails.createdAt,
  finishedAt: mails.finishedAt,
};

/** Lists the mails to a subscriber below an id, newest first, with event and subject line of their mailings. */
export const listMailsOfSubscriber = selectMany(
  (orm, $: { subscriberId: string; before: string; limit: number }) =>
    orm
      .select({ ...listed, kind: mailings.kind, subject: mailThreads.subject })
      .from(mails)
      .leftJoin(mailings, eq(mailings.id, mails.mailingId))
      .leftJoin(mailThreads, eq(mailThreads.subjectId, mails.subjectId))
      .where(and(eq(mails.subscriberId, $.subscriberId), lt(mails.id, $.before)))
      .orderBy(desc(mails.id))
      .limit($.limit),
);

/** Condition of the sign-up mails to an address: of a page, or of all pages if `pageId` is null. */
const isSignUpMail = ($: { subjectId: string; pageId: string | null }) =>
  and(
    eq(mails.subjectId, $.subjectId),
    isNull(mails.mailingId),
    sql`(${$.pageId} IS NULL OR json_extract(${mails.params}, '$.page') = ${$.pageId})`,
  );

/** Lists the sign-up mails of a page to an address below an id, newest first. */
export const listSignUpMailsOfPage = selectMany(
  (orm, $: { subjectId: string; pageId: string; before: string; limit: number }) =>
    orm
      .select({ ...listed, kind: sql<string | null>`NULL`, subject: sql<string | null>`NULL` })
      .from(mails)
      .where(and(isSignUpMail($), lt(mails.id, $.before)))
      .orderBy(desc(mails.id))
      .limit($.limit),
);

/** Deletes the sign-up mails of a page, or of all pages, to an address. */
export const deleteSignUpMails = mutate((orm, $: { subjectId: string; pageId: string | null }) =>
  orm.delete(mails).where(isSignUpMail($)),
);

/** Deletes the reports about sign-up mails of a page, or of all pages, to an address. */
export const deleteReportsOfSignUps = mutate(
  (orm, $: { subjectId: string; pageId: string | null }) =>
    orm
      .delete(mailReports)
      .where(
        sql`${mailReports.mailId} IN ${orm.select({ id: mails.id }).from(mails).where(isSignUpMail($))}`,
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
