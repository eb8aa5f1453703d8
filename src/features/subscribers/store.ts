import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  type SQL,
  sql,
} from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { deleteBy, findBy, listBy, setBy } from "../../db/rows";
import {
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { events } from "../../db/tables/events";
import {
  mailings,
  mailReports,
  mailRequests,
  mails,
  mailThreads,
  subscriberChoices,
  subscriberCounts,
  subscribers,
  suppressions,
} from "../../db/tables/mail";
import { pages } from "../../db/tables/pages";

export type SubscriberRow = typeof subscribers.$inferSelect;

export const insertSubscriber = insertInto(subscribers);
export const updateSubscriberRow = updateById(subscribers);
export const insertChoice = insertInto(subscriberChoices);

export const findSubscriber = findBy(subscribers, ["id"]);

/** Finds the subscriber with an address on a page, active or not. */
export const findSubscriberByAddress = findBy(subscribers, ["pageId", "addressKey"]);

/** Lists the subscribers of a page with the mark of an address: several if one lost its address. */
export const listSubscribersByHmac = listBy(subscribers, ["addressHmac", "pageId"]);

/** Lists the subscribers with the mark of an address, on all pages. */
export const listSubscribersOfAddress = listBy(subscribers, ["addressHmac"]);

/** Lists active subscribers of a page after a number. */
export const listActiveAfter = selectMany(
  (orm, $: { pageId: string; after: number; limit: number }) =>
    orm
      .select()
      .from(subscribers)
      .where(
        // The same text as in the condition of the partial index, so that SQLite uses it.
        and(
          eq(subscribers.pageId, $.pageId),
          gt(subscribers.seq, $.after),
          sql`${subscribers.status} = 'active'`,
        ),
      )
      .orderBy(asc(subscribers.seq))
      .limit($.limit),
);

/** Position in the list of suppressions. */
export type SuppressionCursor = Pick<
  typeof suppressions.$inferSelect,
  "addressHmac" | "pageId" | "reason"
>;

/** Lists suppressions after a position, in the order of their key. */
export const listSuppressionsAfter = selectMany((orm, $: SuppressionCursor & { limit: number }) =>
  orm
    .select()
    .from(suppressions)
    .where(
      sql`(${suppressions.addressHmac}, ${suppressions.pageId}, ${suppressions.reason})
        > (${$.addressHmac}, ${$.pageId}, ${$.reason})`,
    )
    .orderBy(asc(suppressions.addressHmac), asc(suppressions.pageId), asc(suppressions.reason))
    .limit($.limit),
);

export const findLastSeq = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ seq: sql<number | null>`max(${subscribers.seq})` }).from(subscribers),
);

/** Finds the greatest number of a subscriber in the audience of any mailing. */
export const findLastAudience = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ seq: sql<number | null>`max(${mailings.maxSeq})` }).from(mailings),
);

export const listChoices = selectMany((orm, $: { subscriberId: string }) =>
  orm
    .select({ targetId: subscriberChoices.targetId })
    .from(subscriberChoices)
    .where(eq(subscriberChoices.subscriberId, $.subscriberId))
    .orderBy(asc(subscriberChoices.targetId)),
);

export const deleteChoices = deleteBy(subscriberChoices, ["subscriberId"]);

/** Deletes a subscriber with choices and mails. */
export const deleteSubscriber = deleteBy(subscribers, ["id"]);

/** Removes the addresses of up to `limit` subscribers that unsubscribed before `until`. */
export const removeOldAddresses = mutate((orm, $: { until: number; limit: number }) =>
  orm
    .update(subscribers)
    .set({ address: null, addressKey: null, consentIp: null })
    .where(
      sql`${subscribers.id} IN ${orm
        .select({ id: subscribers.id })
        .from(subscribers)
        .where(
          and(
            eq(subscribers.status, "unsubscribed"),
            lte(subscribers.unsubscribedAt, $.until),
            isNotNull(subscribers.addressKey),
          ),
        )
        .limit($.limit)}`,
    ),
);

/** Removes the client addresses of up to `limit` consents from before `until`. */
export const removeConsentAddresses = mutate((orm, $: { until: number; limit: number }) =>
  orm
    .update(subscribers)
    .set({ consentIp: null })
    .where(
      sql`${subscribers.id} IN ${orm
        .select({ id: subscribers.id })
        .from(subscribers)
        .where(and(lte(subscribers.confirmedAt, $.until), isNotNull(subscribers.consentIp)))
        .limit($.limit)}`,
    ),
);

/** Lists up to `limit` subscribers of pages that were deleted before `until`. */
export const listSubscribersOfOldPages = selectMany((orm, $: { until: number; limit: number }) =>
  orm
    .select({
      id: subscribers.id,
      pageId: subscribers.pageId,
      addressHmac: subscribers.addressHmac,
    })
    .from(subscribers)
    .where(
      sql`${subscribers.pageId} IN ${orm
        .select({ id: pages.id })
        .from(pages)
        .where(lte(pages.deletedAt, $.until))}`,
    )
    .limit($.limit),
);

/** Finds the first chosen component or group that was deleted. Reads one row for each that was chosen. */
export const findDeletedTarget = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ targetId: sql<string>`chosen.id` })
    .from(
      sql`(WITH RECURSIVE targets (id) AS (
        SELECT min(target_id) FROM subscriber_choices
        UNION ALL
        SELECT (SELECT min(target_id) FROM subscriber_choices WHERE target_id > targets.id)
        FROM targets WHERE targets.id IS NOT NULL
      ) SELECT id FROM targets WHERE id IS NOT NULL) AS chosen`,
    )
    .where(
      sql`NOT EXISTS (SELECT 1 FROM components WHERE id = chosen.id AND deleted_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM component_groups WHERE id = chosen.id AND deleted_at IS NULL)`,
    )
    .limit(1),
);

/** Removes a component or group from up to `limit` selections. */
export const deleteChoicesOfTarget = mutate((orm, $: { targetId: string; limit: number }) =>
  orm.delete(subscriberChoices).where(
    sql`(target_id, subscriber_id) IN (SELECT target_id, subscriber_id FROM subscriber_choices
        WHERE target_id = ${$.targetId} LIMIT ${$.limit})`,
  ),
);

/** Index by which addresses are searched, with the columns for its commands. */
const subscriberSearch = sqliteTable("subscriber_search", {
  command: text("subscriber_search").notNull(),
  rank: integer().notNull(),
});

/**
 * Rewrites up to `pages` pages of the search index, which removes what was deleted. Once it is in one piece,
 * nothing is rewritten.
 */
export const mergeSearchIndex = mutate((orm, $: { pages: number }) =>
  orm.insert(subscriberSearch).values({ command: "merge", rank: sql`-${$.pages}` }),
);

type Counts = Record<SubscriberRow["status"], number>;

const sumOf = (status: SubscriberRow["status"]) =>
  sql<number>`coalesce(sum(iif(${subscriberCounts.status} = ${sql.raw(`'${status}'`)}, ${subscriberCounts.subscribers}, 0)), 0)`;

const SUMS = { active: sumOf("active"), unsubscribed: sumOf("unsubscribed") };

const sumCountsOfPage = selectOne((orm, $: { pageId: string }) =>
  orm.select(SUMS).from(subscriberCounts).where(eq(subscriberCounts.pageId, $.pageId)),
);

const sumCounts = selectOne((orm, _$: Record<string, never>) =>
  orm.select(SUMS).from(subscriberCounts),
);

/** Counts the subscribers of a page by status, also those who get no mail because of a suppression. */
export function countStatusesOfPage(reader: Reader, pageId: string): Counts {
  return sumCountsOfPage(reader, { pageId }) ?? { active: 0, unsubscribed: 0 };
}

/** Counts the subscribers of all pages by status. */
export function countSubscribers(reader: Reader): Counts {
  return sumCounts(reader, {}) ?? { active: 0, unsubscribed: 0 };
}

export type RequestRow = typeof mailRequests.$inferSelect;

export const insertRequest = insertInto(mailRequests);

export const findRequest = findBy(mailRequests, ["id"]);

/** Lists sign-ups that wait for a decision, oldest first. */
export const listWaitingRequests = selectMany((orm, $: { limit: number }) =>
  orm
    .select()
    .from(mailRequests)
    .where(sql`${mailRequests.state} = 'waiting'`)
    .orderBy(mailRequests.id)
    .limit($.limit),
);

export const setRequestState = setBy(mailRequests, ["id"], ["state"]);

/** Declares a query for the times of the latest sign-ups that meet a condition, newest first. */
const listTimes = <Facts>(condition: ($: Facts) => SQL | undefined) =>
  selectMany((orm, $: Facts & { limit: number }) =>
    orm
      .select({ at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(condition($))
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
  );

/** Lists the times of a client's latest sign-ups after `since`, newest first. */
export const listTimesOfClient = listTimes<{ clientKey: string; since: number }>(($) =>
  and(eq(mailRequests.clientKey, $.clientKey), gt(mailRequests.requestedAt, $.since)),
);

/** Lists the times of the latest sign-ups of a site's clients after `since`, newest first. */
export const listTimesOfSite = listTimes<{ above: string; below: string; since: number }>(($) =>
  and(
    gt(mailRequests.clientKey, $.above),
    lt(mailRequests.clientKey, $.below),
    gt(mailRequests.requestedAt, $.since),
  ),
);

/** Declares a query for the sign-up that meets a condition and has `skipped` newer ones. */
const findNth = <Facts>(condition: ($: Facts) => SQL | undefined) =>
  selectOne((orm, $: Facts & { skipped: number }) =>
    orm
      .select({ at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(condition($))
      .orderBy(desc(mailRequests.requestedAt))
      .limit(1)
      .offset($.skipped),
  );

/** Sign-ups by the form with a mail: those sent, and those that are still to be decided. */
const hasMail = () => sql`${mailRequests.state} <> 'unsent' AND ${mailRequests.source} = 'form'`;

/** Finds the sign-up of a page after `since` that has `skipped` newer ones. */
export const findNthOfPage = findNth<{ pageId: string; since: number }>(($) =>
  and(eq(mailRequests.pageId, $.pageId), gt(mailRequests.requestedAt, $.since), hasMail()),
);

/** Finds the stored sign-up of no import after `since` that has `skipped` newer ones, with a mail or without. */
export const findNthStored = findNth<{ since: number }>(($) =>
  // The same text as in the condition of the partial index, so that SQLite uses it.
  and(gt(mailRequests.requestedAt, $.since), sql`${mailRequests.source} <> 'import'`),
);

/** Finds the sign-up of any page after `since` that has `skipped` newer ones. */
export const findNthOfAll = findNth<{ since: number }>(($) =>
  and(gt(mailRequests.requestedAt, $.since), hasMail()),
);

/** Lists the pages with at least `count` sign-ups with a mail after `since`. */
export const listBusyPages = selectMany((orm, $: { since: number; count: number }) =>
  orm
    .select({ pageId: mailRequests.pageId })
    .from(mailRequests)
    .where(and(gt(mailRequests.requestedAt, $.since), hasMail()))
    // Not by the index of pages, all of which would be read.
    .groupBy(sql`+${mailRequests.pageId}`)
    .having(sql`count(*) >= ${$.count}`),
);

/** Declares a query for the states of the latest sign-ups that meet a condition. */
const listStates = <Facts>(condition: ($: Facts) => SQL | undefined) =>
  selectMany((orm, $: Facts & { limit: number }) =>
    orm
      .select({ state: mailRequests.state })
      .from(mailRequests)
      .where(condition($))
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
  );

/** Lists the states of a page's latest sign-ups with a mail before `until`. */
export const listStatesOfPage = listStates<{ pageId: string; until: number }>(($) =>
  and(eq(mailRequests.pageId, $.pageId), lt(mailRequests.requestedAt, $.until), hasMail()),
);

/** Lists the states of the latest sign-ups with a mail on any page before `until`. */
export const listStatesOfAll = listStates<{ until: number }>(($) =>
  and(lt(mailRequests.requestedAt, $.until), hasMail()),
);

/** Lists sign-ups after `since` for which a mail was sent to a recipient, newest first. */
export const listSentToRecipient = selectMany(
  (orm, $: { throttleKey: string; since: number; limit: number }) =>
    orm
      .select({ pageId: mailRequests.pageId, at: mailRequests.requestedAt })
      .from(mailRequests)
      .where(
        and(
          eq(mailRequests.throttleKey, $.throttleKey),
          gt(mailRequests.requestedAt, $.since),
          // The same text as in the condition of the partial index, so that SQLite uses it.
          sql`${mailRequests.state} IN ('sent', 'confirmed', 'void', 'declined')`,
        ),
      )
      .orderBy(desc(mailRequests.requestedAt))
      .limit($.limit),
);

/** Ends the sign-ups of an address on a page that are not confirmed, except one. */
export const voidOpenRequests = mutate(
  (orm, $: { addressKey: string; pageId: string; except: string }) =>
    orm
      .update(mailRequests)
      .set({ state: "void" })
      .where(
        and(
          eq(mailRequests.addressKey, $.addressKey),
          eq(mailRequests.pageId, $.pageId),
          ne(mailRequests.id, $.except),
          inArray(mailRequests.state, ["waiting", "sent"]),
        ),
      ),
);

/** Ends all sign-ups of an address that are not confirmed, on every page, as declined. */
export const declineRequestsOfAddress = mutate((orm, $: { addressKey: string }) =>
  orm
    .update(mailRequests)
    .set({ state: "declined" })
    .where(
      and(
        eq(mailRequests.addressKey, $.addressKey),
        inArray(mailRequests.state, ["waiting", "sent"]),
      ),
    ),
);

/** Ends the links of confirmed sign-ups of an address on a page, which lead to its choices. */
export const voidConfirmedRequests = mutate((orm, $: { addressKey: string; pageId: string }) =>
  orm
    .update(mailRequests)
    .set({ state: "void" })
    .where(
      and(
        eq(mailRequests.addressKey, $.addressKey),
        eq(mailRequests.pageId, $.pageId),
        eq(mailRequests.state, "confirmed"),
      ),
    ),
);

/** Deletes the sign-ups of an address, on a page or on all pages if `pageId` is null. */
export const deleteRequestsOfAddress = mutate(
  (orm, $: { addressKey: string; pageId: string | null }) =>
    orm
      .delete(mailRequests)
      .where(
        and(
          eq(mailRequests.addressKey, $.addressKey),
          sql`(${$.pageId} IS NULL OR ${mailRequests.pageId} = ${$.pageId})`,
        ),
      ),
);

/** Deletes up to `limit` sign-ups that cannot be confirmed any more. `now` is unix ms. */
export const deleteExpiredRequests = mutate((orm, $: { now: number; limit: number }) =>
  orm
    .delete(mailRequests)
    .where(
      sql`${mailRequests.id} IN (SELECT id FROM mail_requests WHERE expires_at <= ${$.now} LIMIT ${$.limit})`,
    ),
);

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
