import { and, asc, eq, gt, isNotNull, lte, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import {
  mailings,
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

export const findSubscriber = selectOne((orm, $: { id: string }) =>
  orm.select().from(subscribers).where(eq(subscribers.id, $.id)),
);

/** Finds the subscriber with an address on a page, active or not. */
export const findSubscriberByAddress = selectOne((orm, $: { pageId: string; addressKey: string }) =>
  orm
    .select()
    .from(subscribers)
    .where(and(eq(subscribers.pageId, $.pageId), eq(subscribers.addressKey, $.addressKey))),
);

/** Lists the subscribers of a page with the mark of an address: several if one lost its address. */
export const listSubscribersByHmac = selectMany((orm, $: { pageId: string; addressHmac: string }) =>
  orm
    .select()
    .from(subscribers)
    .where(and(eq(subscribers.addressHmac, $.addressHmac), eq(subscribers.pageId, $.pageId))),
);

/** Lists the subscribers with the mark of an address, on all pages. */
export const listSubscribersOfAddress = selectMany((orm, $: { addressHmac: string }) =>
  orm.select().from(subscribers).where(eq(subscribers.addressHmac, $.addressHmac)),
);

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

export const deleteChoices = mutate((orm, $: { subscriberId: string }) =>
  orm.delete(subscriberChoices).where(eq(subscriberChoices.subscriberId, $.subscriberId)),
);

/** Deletes a subscriber with choices and mails. */
export const deleteSubscriber = mutate((orm, $: { id: string }) =>
  orm.delete(subscribers).where(eq(subscribers.id, $.id)),
);

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
