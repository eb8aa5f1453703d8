import { and, asc, desc, eq, gt, lt, sql } from "drizzle-orm";
import { NEWEST } from "../../base/ids";
import { findBy, setBy } from "../../db/rows";
import { insertInto, mutate, type Reader, selectMany, selectOne } from "../../db/statements";
import { events } from "../../db/tables/events";
import {
  mailings,
  mails,
  mailThreads,
  subscriberChoices,
  subscriberCounts,
  subscribers,
} from "../../db/tables/mail";

export type MailingRow = typeof mailings.$inferSelect;
export type ThreadRow = typeof mailThreads.$inferSelect;

/** `cursor` of a mailing that has not begun. */
export const NOT_BEGUN = -1;
/** `cursor` of a mailing that never begins: the next one of its subject contains its text. */
export const MERGED = -2;

// The same texts as in the conditions of the partial indexes, so that SQLite uses them.
const isOpen = sql`${mailings.state} IN ('expanding', 'sending', 'held')`;

const isCounted = sql`(${mailings.cursor} >= 0 OR ${mailings.state} = 'expanding')`;

export const insertMailing = insertInto(mailings);

/** Sets the progress of a mailing. Its counts are changed by other statements. */
export const setProgress = setBy(mailings, ["id"], ["state", "cursor", "beginAt"]);

export const findMailing = findBy(mailings, ["id"]);

/** Limit of a subject's mailings that are read. A component whose status changes all day has thousands. */
const OF_SUBJECT_MAX = 200;

const listNewestOfSubject = selectMany((orm, $: { subjectId: string; limit: number }) =>
  orm
    .select()
    .from(mailings)
    .where(eq(mailings.subjectId, $.subjectId))
    .orderBy(desc(mailings.id))
    .limit($.limit),
);

/** Lists the newest mailings of a subject, at most 200, oldest first. */
export function listMailingsOfSubject(
  reader: Reader,
  { subjectId }: Pick<MailingRow, "subjectId">,
): MailingRow[] {
  return listNewestOfSubject(reader, { subjectId, limit: OF_SUBJECT_MAX }).toReversed();
}

/**
 * Counts the mailings of a page and an author that were recorded from `since` to `now` (unix ms) and have begun or will
 * begin, up to `limit`. Held ones and those that never began are left out.
 */
export const countMailings = selectOne(
  (orm, $: Pick<MailingRow, "pageId" | "author"> & { since: number; now: number; limit: number }) =>
    orm.select({ count: sql<number>`count(*)` }).from(
      orm
        .select({ createdAt: mailings.createdAt })
        .from(mailings)
        .where(
          and(
            eq(mailings.pageId, $.pageId),
            eq(mailings.author, $.author),
            sql`${mailings.createdAt} > ${$.since} AND ${mailings.createdAt} <= ${$.now}`,
            isCounted,
          ),
        )
        .limit($.limit)
        .as("counted"),
    ),
);

/** Finds the oldest mailing that has mails to write at `now` (unix ms). */
export const findExpanding = selectOne((orm, $: { now: number }) =>
  orm
    .select()
    .from(mailings)
    .where(and(isOpen, eq(mailings.state, "expanding"), sql`${mailings.beginAt} <= ${$.now}`))
    .orderBy(asc(mailings.id))
    .limit(1),
);

/** Finds the time (unix ms) at which the next mailing begins. */
export const findNextBegin = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ at: sql<number | null>`min(${mailings.beginAt})` })
    .from(mailings)
    .where(and(isOpen, eq(mailings.state, "expanding"))),
);

// Also the held ones whose mails are all written, or whose time is over.
const canEnd = (now: unknown) =>
  sql`(${mailings.state} = 'sending' OR ${mailings.state} = 'held'
    AND (${mailings.deadlineAt} <= ${now} OR ${mailings.cursor} >= ${mailings.maxSeq}))`;

/** Ends mailings without mails that are left to send, and held ones whose time is over. */
export const endFinishedMailings = mutate((orm, $: { now: number }) =>
  orm
    .update(mailings)
    .set({ state: "done" })
    .where(
      sql`${isOpen} AND ${canEnd($.now)} AND NOT EXISTS (SELECT 1 FROM mails
          WHERE class = 3 AND mailing_id = mailings.id AND status = 'pending')`,
    ),
);

/** Stops the open mailings of a subject. */
export const stopMailingsOfSubject = mutate((orm, $: { subjectId: string }) =>
  orm
    .update(mailings)
    .set({ state: "stopped" })
    .where(and(eq(mailings.subjectId, $.subjectId), isOpen)),
);

/** Stops the open mailings of pages that became private or were deleted. Returns their number. */
export const stopMailingsOfHiddenPages = mutate((orm, _$: Record<string, never>) =>
  orm
    .update(mailings)
    .set({ state: "stopped" })
    .where(
      sql`${isOpen} AND EXISTS (SELECT 1 FROM pages WHERE pages.id = ${mailings.pageId}
        AND (visibility = 'private' OR deleted_at IS NOT NULL))`,
    ),
);

/** Finds a mailing that has mails to write or to send, or that can end. Others that are held wait for an admin. */
export const findUnfinished = selectOne((orm, $: { now: number }) =>
  orm
    .select({ id: mailings.id })
    .from(mailings)
    .where(sql`${isOpen} AND (${mailings.state} = 'expanding' OR ${canEnd($.now)})`)
    .limit(1),
);

/** Finds the time (unix ms) at which the next held mailing ends. */
export const findNextHeldEnd = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ at: sql<number | null>`min(${mailings.deadlineAt})` })
    .from(mailings)
    .where(and(isOpen, eq(mailings.state, "held"))),
);

export const findThread = findBy(mailThreads, ["subjectId"]);

export const insertThread = insertInto(mailThreads);

export const setThread = mutate(
  (
    orm,
    $: Pick<ThreadRow, "subjectId" | "domain" | "subject" | "lastBeganAt"> & {
      reach: string;
      subjects: string;
    },
  ) =>
    orm
      .update(mailThreads)
      .set({
        domain: $.domain,
        subject: $.subject,
        lastBeganAt: $.lastBeganAt,
        reach: sql`${$.reach}`,
        subjects: sql`${$.subjects}`,
      })
      .where(eq(mailThreads.subjectId, $.subjectId)),
);

export const findEvent = findBy(events, ["id"]);

/** Lists the events of a page's incidents and maintenance since a time (unix ms). */
export const listNamingEvents = selectMany((orm, $: { pageId: string; since: number }) =>
  orm
    .select()
    .from(events)
    .where(
      and(
        sql`${events.at} >= ${$.since}`,
        eq(events.pageId, $.pageId),
        sql`(${events.type} LIKE 'incident.%' OR ${events.type} LIKE 'maintenance.%')`,
      ),
    ),
);

/** Finds the oldest mailing of a subject that began. */
export const findFirstBegun = selectOne((orm, $: { subjectId: string }) =>
  orm
    .select({ id: mailings.id })
    .from(mailings)
    .where(and(eq(mailings.subjectId, $.subjectId), sql`${mailings.cursor} >= 0`))
    .orderBy(asc(mailings.id))
    .limit(1),
);

/** Finds the newest mailing of a subject that began. */
export const findNewestBegun = selectOne((orm, $: { subjectId: string }) =>
  orm
    .select({ id: mailings.id })
    .from(mailings)
    .where(and(eq(mailings.subjectId, $.subjectId), sql`${mailings.cursor} >= 0`))
    .orderBy(desc(mailings.id))
    .limit(1),
);

/** Lists the open mailings of a subject that began before another one. Mails of stopped ones are cancelled instead. */
export const listOpenBefore = selectMany((orm, $: { subjectId: string; id: string }) =>
  orm
    .select({ id: mailings.id })
    .from(mailings)
    .where(
      and(
        eq(mailings.subjectId, $.subjectId),
        lt(mailings.id, $.id),
        sql`${mailings.cursor} >= 0`,
        sql`${mailings.state} NOT IN ('done', 'stopped')`,
      ),
    ),
);

const hasFailed = sql`${mails.status} IN ('bounced', 'failed')`;

/** Builds the list of one page's mailings or of all, in the order of an index. */
const listStatement = (isOfPage: boolean, isOldestFirst: boolean) =>
  selectMany((orm, $: { pageId: string | undefined; before: string; limit: number }) =>
    orm
      .select()
      .from(mailings)
      .where(
        and(
          isOfPage ? sql`${mailings.pageId} = ${$.pageId}` : undefined,
          (isOldestFirst ? gt : lt)(mailings.id, $.before),
        ),
      )
      .orderBy((isOldestFirst ? asc : desc)(mailings.id))
      .limit($.limit),
  );

const NEWEST_FIRST = { ofAll: listStatement(false, false), ofPage: listStatement(true, false) };
const OLDEST_FIRST = { ofAll: listStatement(false, true), ofPage: listStatement(true, true) };

/** Query of the list of mailings; without a page for all pages. */
interface MailingQuery {
  pageId: string | undefined;
  isOldestFirst: boolean;
  /** Id of the last mailing before this part of the list. */
  before: string | undefined;
  limit: number;
}

/** Lists mailings, newest or oldest first. */
export function listMailings(reader: Reader, query: MailingQuery): MailingRow[] {
  const { pageId, isOldestFirst, before = isOldestFirst ? "" : NEWEST, limit } = query;
  const lists = isOldestFirst ? OLDEST_FIRST : NEWEST_FIRST;
  const list = pageId === undefined ? lists.ofAll : lists.ofPage;
  return list(reader, { pageId, before, limit });
}

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

/** Finds the greatest number of a page's active subscribers. */
export const findLastSubscriber = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ seq: subscribers.seq })
    .from(subscribers)
    .where(and(eq(subscribers.pageId, $.pageId), sql`${subscribers.status} = 'active'`))
    .orderBy(desc(subscribers.seq))
    .limit(1),
);

/**
 * Condition: a subscriber chose a kind of event, and the whole page or one of the targets. The column is named
 * with its table, since `json_each` has an `id` too.
 */
const isIncluded = ($: { choice: string; targets: string }) =>
  sql<number>`instr(${subscribers.events}, ${$.choice}) > 0
    AND (${subscribers.scope} = 'page' OR EXISTS (
      SELECT 1 FROM subscriber_choices AS choice
      WHERE choice.subscriber_id = subscribers.id
        AND choice.target_id IN (SELECT value FROM json_each(${$.targets}))))`;

/** Lists the numbers of a page's active subscribers by their choices. */
export const listSubscriberCounts = selectMany((orm, $: { pageId: string }) =>
  orm
    .select()
    .from(subscriberCounts)
    .where(and(eq(subscriberCounts.pageId, $.pageId), eq(subscriberCounts.status, "active"))),
);

const isTarget = ($: { targets: string }) =>
  sql`${subscriberChoices.targetId} IN (SELECT value FROM json_each(${$.targets}))`;

/** Counts the choices of components and groups in a JSON list, up to `limit`. */
export const countChoices = selectOne((orm, $: { targets: string; limit: number }) => {
  const chosen = orm
    .select({ targetId: subscriberChoices.targetId })
    .from(subscriberChoices)
    .where(isTarget($))
    .limit($.limit)
    .as("chosen");
  return orm.select({ count: sql<number>`count(*)` }).from(chosen);
});

/** Counts the active subscribers who chose a kind of event, and one of the components and groups. */
export const countChosen = selectOne((orm, $: { targets: string; choice: string }) =>
  orm
    .select({ count: sql<number>`count(DISTINCT ${subscribers.id})` })
    .from(subscriberChoices)
    .innerJoin(subscribers, eq(subscribers.id, subscriberChoices.subscriberId))
    .where(
      and(
        isTarget($),
        eq(subscribers.status, "active"),
        eq(subscribers.scope, "selection"),
        sql`instr(${subscribers.events}, ${$.choice}) > 0`,
      ),
    ),
);

/**
 * Lists the next active subscribers of a page by number. `targets` is a JSON list of the components and groups
 * that a mailing reaches.
 */
export const listCandidates = selectMany(
  (
    orm,
    $: {
      pageId: string;
      after: number;
      until: number;
      choice: string;
      targets: string;
      limit: number;
    },
  ) =>
    orm
      .select({
        seq: subscribers.seq,
        isIncluded: sql<number>`${subscribers.address} IS NOT NULL AND ${isIncluded($)}`,
      })
      .from(subscribers)
      .where(
        and(
          eq(subscribers.pageId, $.pageId),
          sql`${subscribers.status} = 'active'`,
          gt(subscribers.seq, $.after),
          sql`${subscribers.seq} <= ${$.until}`,
        ),
      )
      .orderBy(asc(subscribers.seq))
      .limit($.limit),
);

export const findSubscriber = findBy(subscribers, ["id"]);

/** Finds one of the components and groups in a JSON list that a subscriber chose. */
export const findChoice = selectOne((orm, $: { subscriberId: string; targets: string }) =>
  orm
    .select({ targetId: subscriberChoices.targetId })
    .from(subscriberChoices)
    .where(
      sql`${subscriberChoices.subscriberId} = ${$.subscriberId}
        AND ${subscriberChoices.targetId} IN (SELECT value FROM json_each(${$.targets}))`,
    )
    .limit(1),
);

/** Lists a subscriber's superseded mails about a subject. */
export const listSuperseded = selectMany((orm, $: { subscriberId: string; subjectId: string }) =>
  orm
    .select({ id: mails.id, mailingId: mails.mailingId, supersededBy: mails.supersededBy })
    .from(mails)
    .where(
      and(
        eq(mails.subscriberId, $.subscriberId),
        eq(mails.subjectId, $.subjectId),
        eq(mails.status, "superseded"),
      ),
    ),
);

/** Lists the mails of a mailing to a subscriber: the first, and those that were sent again. */
export const listCopies = selectMany(
  (orm, $: { mailingId: string | null; subscriberId: string | null }) =>
    orm
      .select({ id: mails.id })
      .from(mails)
      .where(
        sql`${mails.mailingId} = ${$.mailingId} AND ${mails.subscriberId} = ${$.subscriberId}`,
      ),
);
