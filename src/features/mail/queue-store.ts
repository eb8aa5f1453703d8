import { and, asc, desc, eq, getTableColumns, gt, lte, sql } from "drizzle-orm";
import { insertAllInto, mutate, selectMany, selectOne } from "../../db/statements";
import { mailings, mails, subscribers } from "../../db/tables/mail";
import type { MailClass } from "../../base/mail-address";

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

/** Finds the first batch of a mailing with pending mails. */
export const findFirstBatch = selectOne((orm, $: { mailingId: string }) =>
  orm
    .select({ batch: mails.batch })
    .from(mails)
    .where(isPendingOf($))
    .orderBy(asc(mails.batch))
    .limit(1),
);

/** Finds the last batch of a mailing with pending mails. */
export const findLastBatch = selectOne((orm, $: { mailingId: string }) =>
  orm
    .select({ batch: mails.batch })
    .from(mails)
    .where(isPendingOf($))
    .orderBy(desc(mails.batch))
    .limit(1),
);

export const findMailing = selectOne((orm, $: { id: string }) =>
  orm.select().from(mailings).where(eq(mailings.id, $.id)),
);

/** Finds the first domain after another with pending mails, and the time at which its first one is due. */
export const findNextDomain = selectOne((orm, $: LaneKey & { after: string }) =>
  orm
    .select({ domain: mails.domain, dueAt: mails.nextTryAt })
    .from(mails)
    .where(
      and(
        eq(mails.class, $.class),
        sql`${mails.mailingId} IS ${$.mailingId}`,
        eq(mails.batch, $.batch),
        gt(mails.domain, $.after),
        isPending,
      ),
    )
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
      .where(
        and(
          eq(mails.class, $.class),
          sql`${mails.mailingId} IS ${$.mailingId}`,
          eq(mails.batch, $.batch),
          eq(mails.domain, $.domain),
          lte(mails.nextTryAt, $.now),
          isPending,
        ),
      )
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

export const findMail = selectOne((orm, $: { id: string }) =>
  orm.select().from(mails).where(eq(mails.id, $.id)),
);

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

export const setMailProgress = mutate(
  (
    orm,
    $: Pick<MailRow, "id" | "status" | "tries" | "nextTryAt" | "reply"> & {
      finishedAt: number | null;
    },
  ) =>
    orm
      .update(mails)
      .set({
        status: $.status,
        tries: $.tries,
        nextTryAt: $.nextTryAt,
        reply: $.reply,
        finishedAt: $.finishedAt,
      })
      .where(eq(mails.id, $.id)),
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
