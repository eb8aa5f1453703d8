import { and, asc, eq, isNotNull, lte, sql } from "drizzle-orm";
import { insertInto, mutate, type Reader, selectMany, selectOne, updateById } from "../../db";
import { mailings, subscriberChoices, subscribers } from "../../db/tables/mail";
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

/** Deletes up to `limit` subscribers of pages that were deleted before `until`. */
export const deleteSubscribersOfOldPages = mutate((orm, $: { until: number; limit: number }) =>
  orm.delete(subscribers).where(
    sql`${subscribers.id} IN ${orm
      .select({ id: subscribers.id })
      .from(subscribers)
      .where(
        sql`${subscribers.pageId} IN ${orm
          .select({ id: pages.id })
          .from(pages)
          .where(lte(pages.deletedAt, $.until))}`,
      )
      .limit($.limit)}`,
  ),
);

const countActive = selectOne((orm, _$: Record<string, never>) =>
  // The same text as in the condition of the partial index, so that SQLite uses it.
  orm
    .select({ count: sql<number>`count(*)` })
    .from(subscribers)
    .where(sql`${subscribers.status} = 'active'`),
);

const countAll = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: sql<number>`count(*)` }).from(subscribers),
);

/** Counts the subscribers of all pages by status. */
export function countSubscribers(reader: Reader): Record<SubscriberRow["status"], number> {
  const active = countActive(reader, {})?.count ?? 0;
  return { active, unsubscribed: (countAll(reader, {})?.count ?? 0) - active };
}
