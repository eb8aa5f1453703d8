import { and, asc, desc, eq, gt, lt, sql } from "drizzle-orm";
import { selectMany } from "../../db/statements";
import { mailings, mails } from "../../db/tables/mail";

// The same texts as in the conditions of the partial indexes, so that SQLite uses them. The plus keeps it from using
// indexes that hold all mailings.
const isOpen = sql`${mailings.state} IN ('expanding', 'sending', 'held')`;
const hasFailed = sql`${mails.status} IN ('bounced', 'failed')`;

/** Lists mailings of all pages that are older than the one with the id `before`, newest first. */
export const listNewest = selectMany((orm, $: { before: string; limit: number }) =>
  orm
    .select()
    .from(mailings)
    .where(lt(mailings.id, $.before))
    .orderBy(desc(mailings.id))
    .limit($.limit),
);

/** Lists mailings of one page that are older than the one with the id `before`, newest first. */
export const listNewestOfPage = selectMany(
  (orm, $: { pageId: string; before: string; limit: number }) =>
    orm
      .select()
      .from(mailings)
      .where(and(eq(mailings.pageId, $.pageId), lt(mailings.id, $.before)))
      .orderBy(desc(mailings.id))
      .limit($.limit),
);

/** Lists the ids of a page's held mailings, newest first. */
export const listHeld = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({ id: mailings.id })
    .from(mailings)
    .where(and(isOpen, eq(mailings.state, "held"), sql`+${mailings.pageId} = ${$.pageId}`))
    .orderBy(sql`+${mailings.id} DESC`),
);

/** Counts the held mailings of each page. */
export const countHeldByPage = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ pageId: mailings.pageId, count: sql<number>`count(*)` })
    .from(mailings)
    .where(and(isOpen, eq(mailings.state, "held")))
    .groupBy(sql`+${mailings.pageId}`),
);

/** Lists mails of a mailing that failed or bounced, after the one with the id `after`. */
export const listFailedMails = selectMany(
  (orm, $: { mailingId: string; after: string; limit: number }) =>
    orm
      .select({
        id: mails.id,
        subscriberId: mails.subscriberId,
        recipient: mails.recipient,
        status: mails.status,
        tries: mails.tries,
        reply: mails.reply,
        finishedAt: mails.finishedAt,
      })
      .from(mails)
      .where(and(eq(mails.mailingId, $.mailingId), gt(mails.id, $.after), hasFailed))
      .orderBy(asc(mails.id))
      .limit($.limit),
);
