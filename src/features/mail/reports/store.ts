import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../../db/statements";
import { mailReports, mails, subscribers } from "../../../db/tables/mail";

export type ReportRow = typeof mailReports.$inferSelect;

export const insertReport = insertInto(mailReports);

export const findReport = selectOne((orm, $: { id: string }) =>
  orm.select().from(mailReports).where(eq(mailReports.id, $.id)),
);

export const listReportsOfMail = selectMany((orm, $: { mailId: string }) =>
  orm.select().from(mailReports).where(eq(mailReports.mailId, $.mailId)),
);

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
