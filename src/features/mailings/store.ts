import { and, asc, desc, eq, lt, sql } from "drizzle-orm";
import { insertInto, mutate, type Reader, selectMany, selectOne } from "../../db/statements";
import { events } from "../../db/tables/events";
import { mailings, mailThreads } from "../../db/tables/mail";

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
export const setProgress = mutate(
  (orm, $: Pick<MailingRow, "id" | "state" | "cursor" | "beginAt">) =>
    orm
      .update(mailings)
      .set({ state: $.state, cursor: $.cursor, beginAt: $.beginAt })
      .where(eq(mailings.id, $.id)),
);

export const findMailing = selectOne((orm, $: { id: string }) =>
  orm.select().from(mailings).where(eq(mailings.id, $.id)),
);

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

export const findThread = selectOne((orm, $: { subjectId: string }) =>
  orm.select().from(mailThreads).where(eq(mailThreads.subjectId, $.subjectId)),
);

export const insertThread = insertInto(mailThreads);

export const setThread = mutate(
  (
    orm,
    $: Pick<ThreadRow, "subjectId" | "domain" | "subject" | "lastBeganAt"> & { reach: string },
  ) =>
    orm
      .update(mailThreads)
      .set({
        domain: $.domain,
        subject: $.subject,
        lastBeganAt: $.lastBeganAt,
        reach: sql`${$.reach}`,
      })
      .where(eq(mailThreads.subjectId, $.subjectId)),
);

export const findEvent = selectOne((orm, $: { id: string }) =>
  orm.select().from(events).where(eq(events.id, $.id)),
);

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
