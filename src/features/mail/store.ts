import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  isNull,
  lt,
  lte,
  type SQL,
  sql,
} from "drizzle-orm";
import type { MailClass, MailStatus } from "../../base/mail-address";
import { findBy, listBy, setBy } from "../../db/rows";
import { insertAllInto, insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { mailings, mailReports, mails, subscribers } from "../../db/tables/mail";

export type MailRow = typeof mails.$inferSelect;

/** Pending mails that are sent in one order: those of class 1, of class 2, or of a batch of one mailing. */
export interface LaneKey {
  class: MailClass;
  mailingId: string | null;
  batch: number;
}

/** Properties of a due mail that the queue needs. */
export interface DueMail {
  id: string;
  domain: string;
  recipient: string;
  subjectId: string;
}

export const insertMails = insertAllInto(mails);

// The same text as in the condition of the partial indexes, so that SQLite uses them.
const isPending = sql`${mails.status} = 'pending'`;

/** Finds the first mailing with pending mails after an id. */
export const findNextMailing = selectOne((orm, $: { after: string }) =>
  orm
    .select({ id: mails.mailingId })
    .from(mails)
    .where(and(eq(mails.class, 3), gt(mails.mailingId, $.after), isPending))
    .orderBy(asc(mails.mailingId))
    .limit(1),
);

const isPendingOf = ($: { mailingId: string }) =>
  and(eq(mails.class, 3), eq(mails.mailingId, $.mailingId), isPending);

/** Finds the first or last batch of a mailing with pending mails. */
const findBatch = (order: SQL) =>
  selectOne((orm, $: { mailingId: string }) =>
    orm.select({ batch: mails.batch }).from(mails).where(isPendingOf($)).orderBy(order).limit(1),
  );

export const findFirstBatch = findBatch(asc(mails.batch));
export const findLastBatch = findBatch(desc(mails.batch));

export const findMailing = findBy(mailings, ["id"]);

const isInLane = ($: LaneKey) =>
  and(
    eq(mails.class, $.class),
    sql`${mails.mailingId} IS ${$.mailingId}`,
    eq(mails.batch, $.batch),
  );

/** Finds the first domain after another with pending mails, and the time at which its first one is due. */
export const findNextDomain = selectOne((orm, $: LaneKey & { after: string }) =>
  orm
    .select({ domain: mails.domain, dueAt: mails.nextTryAt })
    .from(mails)
    .where(and(isInLane($), gt(mails.domain, $.after), isPending))
    .orderBy(asc(mails.domain), asc(mails.nextTryAt))
    .limit(1),
);

/** Lists the due mails to one domain, the longest due first. */
export const listDue = selectMany(
  (orm, $: LaneKey & { domain: string; now: number; limit: number }) =>
    orm
      .select({
        id: mails.id,
        domain: mails.domain,
        recipient: mails.recipient,
        subjectId: mails.subjectId,
      })
      .from(mails)
      .where(and(isInLane($), eq(mails.domain, $.domain), lte(mails.nextTryAt, $.now), isPending))
      // Rows are numbered in the order of writing.
      .orderBy(asc(mails.nextTryAt), sql`${mails}.rowid`)
      .limit($.limit),
);

/** Lists the lanes and domains of mails of a class that became due after `after`, until `until` (unix ms). */
export const listNewlyDue = selectMany(
  (orm, $: { class: MailClass; after: number; until: number; limit: number }) =>
    orm
      .select({ mailingId: mails.mailingId, batch: mails.batch, domain: mails.domain })
      .from(mails)
      .where(
        and(
          eq(mails.class, $.class),
          gt(mails.nextTryAt, $.after),
          lte(mails.nextTryAt, $.until),
          isPending,
        ),
      )
      .orderBy(asc(mails.nextTryAt), asc(mails.id))
      .limit($.limit),
);

/** Finds the time of the next mail of a class that is due after `now`. */
export const findNextDue = selectOne((orm, $: { class: MailClass; now: number }) =>
  orm
    .select({ at: mails.nextTryAt })
    .from(mails)
    .where(and(eq(mails.class, $.class), gt(mails.nextTryAt, $.now), isPending))
    .orderBy(asc(mails.nextTryAt))
    .limit(1),
);

export const findMail = findBy(mails, ["id"]);

/** Finds everything that an attempt needs: the mail, with state and page of its mailing, if it belongs to one. */
export const findForSending = selectOne((orm, $: { id: string }) =>
  orm
    .select({
      ...getTableColumns(mails),
      mailingState: mailings.state,
      pageId: mailings.pageId,
    })
    .from(mails)
    .leftJoin(mailings, eq(mailings.id, mails.mailingId))
    .where(eq(mails.id, $.id)),
);

/** Finds the properties that decide the consequences of a result. */
export const findMailProgress = selectOne((orm, $: { id: string }) =>
  orm
    .select({
      id: mails.id,
      class: mails.class,
      mailingId: mails.mailingId,
      subscriberId: mails.subscriberId,
      recipient: mails.recipient,
      template: mails.template,
      params: mails.params,
      status: mails.status,
      tries: mails.tries,
      reply: mails.reply,
      expiresAt: mails.expiresAt,
      softFailures: subscribers.softFailures,
    })
    .from(mails)
    .leftJoin(subscribers, eq(subscribers.id, mails.subscriberId))
    .where(eq(mails.id, $.id)),
);

/** A mail with the properties that decide the consequences of its result. */
export type MailProgress = NonNullable<ReturnType<typeof findMailProgress>>;

export const setMailProgress = setBy(
  mails,
  ["id"],
  ["status", "tries", "nextTryAt", "reply", "finishedAt"],
);

/** Numbers of mails by which the counts of a mailing change. */
export interface MailingCounts {
  written: number;
  sent: number;
  bounced: number;
  failed: number;
  superseded: number;
  cancelled: number;
  expired: number;
}

/**
 * Changes the counts of a mailing. Once all of its mails are written and over, the mailing is done, held or not.
 */
export const addToMailing = mutate((orm, $: MailingCounts & { id: string }) => {
  const sent = sql`${mailings.sent} + ${$.sent}`;
  const bounced = sql`${mailings.bounced} + ${$.bounced}`;
  const failed = sql`${mailings.failed} + ${$.failed}`;
  const superseded = sql`${mailings.superseded} + ${$.superseded}`;
  const cancelled = sql`${mailings.cancelled} + ${$.cancelled}`;
  const expired = sql`${mailings.expired} + ${$.expired}`;
  const written = sql`${mailings.written} + ${$.written}`;
  const over = sql`${sent} + ${bounced} + ${failed} + ${superseded} + ${cancelled} + ${expired}`;
  return orm
    .update(mailings)
    .set({
      written,
      sent,
      bounced,
      failed,
      superseded,
      cancelled,
      expired,
      state: sql`CASE WHEN (${mailings.state} = 'sending' OR ${mailings.state} = 'held' AND ${mailings.cursor} >= ${mailings.maxSeq}) AND ${over} >= ${written} THEN 'done' ELSE ${mailings.state} END`,
    })
    .where(eq(mailings.id, $.id));
});

/**
 * Inserts mails of a mailing to subscribers whose addresses are not read. `mails` is a JSON object with the number
 * of a subscriber by the id of its mail, in order. All other columns are the same.
 */
export const insertMailsTo = mutate(
  (
    orm,
    $: Pick<MailRow, "subjectId" | "template" | "batch" | "createdAt" | "expiresAt"> & {
      mails: string;
      mailingId: string;
    },
  ) =>
    orm.insert(mails).select(
      sql`SELECT mail.key, 3, ${$.mailingId}, subscribers.id, 0, subscribers.address, subscribers.domain,
          ${$.batch}, ${$.subjectId}, ${$.template}, '{}', 'pending', 0, ${$.createdAt}, NULL, NULL,
          ${$.createdAt}, ${$.expiresAt}, NULL
        FROM json_each(${$.mails}) AS mail CROSS JOIN subscribers WHERE subscribers.seq = mail.value`,
    ),
);

/**
 * Ends the pending mails of a mailing to some subscribers, each as superseded by the mail of another mailing.
 * `seqs` is a JSON list of the subscribers' numbers.
 */
export const supersedeOfMailing = mutate(
  (orm, $: { mailingId: string; by: string; seqs: string; now: number }) =>
    orm
      .update(mails)
      .set({
        status: "superseded",
        supersededBy: sql`(SELECT newer.id FROM mails AS newer WHERE newer.mailing_id = ${$.by}
          AND newer.subscriber_id = mails.subscriber_id AND newer.copy = 0)`,
        nextTryAt: null,
        finishedAt: $.now,
      })
      .where(
        and(
          eq(mails.mailingId, $.mailingId),
          sql`${mails.subscriberId} IN (SELECT id FROM subscribers
            WHERE seq IN (SELECT value FROM json_each(${$.seqs})))`,
          // Not by an index of all pending mails.
          sql`+${mails.status} = 'pending'`,
        ),
      ),
);

const ofMailing = (mailingId: unknown, limit: unknown) =>
  sql`${mails.id} IN (SELECT id FROM mails WHERE status = 'pending' AND class = 3 AND mailing_id = ${mailingId} LIMIT ${limit})`;

/** Ends at most `limit` pending mails of a mailing as cancelled. */
export const cancelOfMailing = mutate((orm, $: { mailingId: string; now: number; limit: number }) =>
  orm
    .update(mails)
    .set({ status: "cancelled", nextTryAt: null, finishedAt: $.now })
    .where(ofMailing($.mailingId, $.limit)),
);

export const listPendingOfSubscriber = selectMany((orm, $: { subscriberId: string }) =>
  orm
    .select({ id: mails.id, mailingId: mails.mailingId })
    .from(mails)
    .where(and(eq(mails.subscriberId, $.subscriberId), isPending))
    .orderBy(asc(mails.id)),
);

/** Ends one pending mail. Returns 0 if it has ended already. */
export const endMail = mutate((orm, $: { id: string; status: MailStatus; now: number }) =>
  orm
    .update(mails)
    .set({ status: $.status, nextTryAt: null, finishedAt: $.now })
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

/** Counts the pending mails of mailings, at most up to `limit`. */
export const countPendingOfMailings = selectOne((orm, $: { limit: number }) => {
  const some = orm
    .select({ id: mails.id })
    .from(mails)
    .where(and(eq(mails.class, 3), isPending))
    .limit($.limit)
    .as("some");
  return orm.select({ count: sql<number>`COUNT(*)` }).from(some);
});

/** Adds up the mails of open mailings that are written and not over. */
export const sumOfOpenMailings = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({
      count: sql<number>`COALESCE(SUM(${mailings.written} - ${mailings.sent} - ${mailings.bounced} - ${mailings.failed}
        - ${mailings.superseded} - ${mailings.cancelled} - ${mailings.expired}), 0)`,
    })
    .from(mailings)
    .where(sql`${mailings.state} IN ('expanding', 'sending', 'held')`),
);

/** Finds the time at which one of the pending mails of a mailing was queued. They are queued within seconds. */
export const findPendingOfMailing = selectOne((orm, $: { mailingId: string }) =>
  orm
    .select({ createdAt: mails.createdAt })
    .from(mails)
    .where(and(eq(mails.class, 3), eq(mails.mailingId, $.mailingId), isPending))
    .limit(1),
);

/** Counts the pending mails of a class, with the id of the oldest. */
export const countWaiting = selectOne((orm, $: { class: MailClass }) =>
  orm
    .select({ count: sql<number>`COUNT(*)`, oldestId: sql<string | null>`MIN(${mails.id})` })
    .from(mails)
    .where(and(eq(mails.class, $.class), isPending)),
);

/** Deletes those among the `limit` oldest mails that ended and were queued before `before` (unix ms). */
export const deleteMailsBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm.delete(mails).where(
    sql`${mails.id} IN (SELECT id FROM mails ORDER BY id LIMIT ${$.limit})
        AND ${mails.createdAt} < ${$.before} AND ${mails.status} <> 'pending'`,
  ),
);

/** Deletes those among the `limit` oldest mailings that are over, without mails, and from before `before`. */
export const deleteMailingsBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm.delete(mailings).where(
    sql`${mailings.id} IN (SELECT id FROM mailings ORDER BY id LIMIT ${$.limit})
        AND ${mailings.createdAt} < ${$.before} AND ${mailings.state} IN ('done', 'stopped')
        AND NOT EXISTS (SELECT 1 FROM mails WHERE mailing_id = ${mailings.id})`,
  ),
);

/** Deletes at most `limit` reports from before `before` (unix ms). */
export const deleteReportsBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .delete(mailReports)
    .where(
      sql`${mailReports.id} IN (SELECT id FROM mail_reports WHERE at < ${$.before} LIMIT ${$.limit})`,
    ),
);

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

export type ReportRow = typeof mailReports.$inferSelect;

export const insertReport = insertInto(mailReports);

export const findReport = selectOne((orm, $: { id: string }) =>
  orm.select().from(mailReports).where(eq(mailReports.id, $.id)),
);

export const listReportsOfMail = listBy(mailReports, ["mailId"]);

// The same text as in the condition of the partial index, so that SQLite uses it.
const isUnmatched = isNull(mailReports.mailId);

/** Lists unmatched reports from before an id, newest first. */
export const listUnmatched = selectMany((orm, $: { before: string; limit: number }) =>
  orm
    .select({
      id: mailReports.id,
      at: mailReports.at,
      kind: mailReports.kind,
      status: mailReports.status,
      beginning: sql<string>`substr(${mailReports.excerpt}, 1, 4000)`,
    })
    .from(mailReports)
    .where(and(isUnmatched, sql`${mailReports.id} < ${$.before}`))
    .orderBy(desc(mailReports.id))
    .limit($.limit),
);

export const countUnmatched = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ count: sql<number>`COUNT(*)` })
    .from(mailReports)
    .where(isUnmatched),
);

/** Deletes all unmatched reports but the `kept` newest. */
export const deleteUnmatchedBeyond = mutate((orm, $: { kept: number }) =>
  orm
    .delete(mailReports)
    .where(
      sql`${mailReports.id} IN (SELECT id FROM mail_reports WHERE mail_id IS NULL ORDER BY id DESC LIMIT 100 OFFSET ${$.kept})`,
    ),
);

/** Deletes unmatched reports from before `before` (unix ms). Their number is limited. */
export const deleteUnmatchedBefore = mutate((orm, $: { before: number }) =>
  orm.delete(mailReports).where(and(isUnmatched, sql`${mailReports.at} < ${$.before}`)),
);

/**
 * Deletes unmatched reports that contain a text in any case. Their number is limited. `pattern` matches a short
 * part of the text: LIKE reads all of them ten times as fast as `lower`.
 */
export const deleteUnmatchedAbout = mutate((orm, $: { text: string; pattern: string }) =>
  orm
    .delete(mailReports)
    .where(
      and(
        isUnmatched,
        sql`${mailReports.excerpt} LIKE ${$.pattern} ESCAPE '\\' AND instr(lower(${mailReports.excerpt}), lower(${$.text})) > 0`,
      ),
    ),
);

/** Lists the last mails to a subscriber that ended with an answer, queued since `since` (unix ms), newest first. */
export const listOutcomes = selectMany(
  (orm, $: { subscriberId: string; since: number; limit: number }) =>
    orm
      .select({ id: mails.id, status: mails.status, createdAt: mails.createdAt })
      .from(mails)
      .where(
        sql`${mails.subscriberId} = ${$.subscriberId} AND ${mails.createdAt} >= ${$.since}
          AND ${mails.status} IN ('sent', 'bounced', 'failed')`,
      )
      .orderBy(desc(mails.id))
      .limit($.limit),
);

/** Finds the mark of a subscriber's address, and the time from which failures in a row are counted. */
export const findReported = selectOne((orm, $: { subscriberId: string }) =>
  orm
    .select({ addressHmac: subscribers.addressHmac, updatedAt: subscribers.updatedAt })
    .from(subscribers)
    .where(eq(subscribers.id, $.subscriberId)),
);

/** Finds the last mail that was sent to an address as a subscriber; null without one. */
export const findLastSentTo = selectOne((orm, $: { addressHmac: string }) =>
  orm
    .select({
      id: sql<string | null>`MAX((SELECT m.id FROM mails AS m
        WHERE m.subscriber_id = subscribers.id AND m.status = 'sent' ORDER BY m.id DESC LIMIT 1))`,
    })
    .from(subscribers)
    .where(eq(subscribers.addressHmac, $.addressHmac)),
);
