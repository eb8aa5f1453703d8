import { and, desc, eq, getTableColumns, isNotNull, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { mails, subscribers, suppressions } from "../../db/tables/mail";

export type SuppressionRow = typeof suppressions.$inferSelect;

/** Adds a suppression, or renews the time and cause of an existing one. */
export const putSuppression = mutate((orm, $: SuppressionRow) =>
  orm
    .insert(suppressions)
    .values({
      addressHmac: $.addressHmac,
      pageId: $.pageId,
      reason: $.reason,
      mailId: $.mailId,
      note: $.note,
      at: $.at,
    })
    .onConflictDoUpdate({
      target: [suppressions.addressHmac, suppressions.pageId, suppressions.reason],
      set: { mailId: sql`excluded.mail_id`, note: sql`excluded.note`, at: sql`excluded.at` },
    }),
);

/** Deletes a suppression. Returns 0 if there was none. */
export const deleteSuppression = mutate(
  (orm, $: Pick<SuppressionRow, "addressHmac" | "pageId" | "reason">) =>
    orm
      .delete(suppressions)
      .where(
        and(
          eq(suppressions.addressHmac, $.addressHmac),
          eq(suppressions.pageId, $.pageId),
          eq(suppressions.reason, $.reason),
        ),
      ),
);

/** Lists the suppressions of an address for the installation and for one page; null for no page. */
export const listSuppressionsOf = selectMany(
  (orm, $: { addressHmac: string; pageId: string | null }) =>
    orm
      .select()
      .from(suppressions)
      .where(
        sql`${suppressions.addressHmac} = ${$.addressHmac} AND ${suppressions.pageId} IN ('', ${$.pageId})`,
      ),
);

/** Removes the words of the relay or of a report from the suppressions of an address: the address is often in them. */
export const removeNotesOfMails = mutate((orm, $: { addressHmac: string }) =>
  orm
    .update(suppressions)
    .set({ note: null })
    .where(and(eq(suppressions.addressHmac, $.addressHmac), isNotNull(suppressions.mailId))),
);

/** Suppression that a mail caused, with its recipient; null once the mail is deleted. */
export type CausedSuppression = ReturnType<typeof listSuppressionsByMails>[number];

/**
 * Lists suppressions after failures that mails caused from `since` until `until`, and that no admin has ended after
 * `undoneSince` (unix ms), newest first.
 */
export const listSuppressionsByMails = selectMany(
  (orm, $: { since: number; until: number; undoneSince: number; limit: number }) =>
    orm
      .select({
        ...getTableColumns(suppressions),
        recipient: mails.recipient,
        subscriberId: mails.subscriberId,
      })
      .from(suppressions)
      .leftJoin(mails, eq(mails.id, suppressions.mailId))
      .where(
        and(
          sql`${suppressions.at} BETWEEN ${$.since} AND ${$.until}`,
          isNotNull(suppressions.mailId),
          // With the plus, SQLite keeps to the index by time, which is in order.
          sql`+${suppressions.reason} IN ('bounced', 'soft')`,
          sql`NOT EXISTS (SELECT 1 FROM suppression_undos AS u
            WHERE u.address_hmac = ${suppressions.addressHmac} AND u.at > ${$.undoneSince})`,
        ),
      )
      .orderBy(desc(suppressions.at))
      .limit($.limit),
);

export const countSuppressions = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ reason: suppressions.reason, count: sql<number>`COUNT(*)` })
    .from(suppressions)
    .groupBy(suppressions.reason),
);

/** Finds the mark of a subscriber's address and the failures of its mails. */
export const findFailuresOf = selectOne((orm, $: { subscriberId: string }) =>
  orm
    .select({
      addressHmac: subscribers.addressHmac,
      softFailures: subscribers.softFailures,
      softSince: subscribers.softSince,
    })
    .from(subscribers)
    .where(eq(subscribers.id, $.subscriberId)),
);

/**
 * Finds the time at which a person last confirmed a subscription of an address, on any page; null if only the team
 * has subscribed it, which happens once for each row.
 */
export const findLastConfirmation = selectOne((orm, $: { addressHmac: string }) =>
  orm
    .select({ at: sql<number | null>`MAX(${subscribers.confirmedAt})` })
    .from(subscribers)
    .where(
      sql`${subscribers.addressHmac} = ${$.addressHmac}
        AND (${subscribers.consentSource} = 'form' OR ${subscribers.confirmedAt} > ${subscribers.createdAt})`,
    ),
);

/** Sets the failures of an address, on all pages. */
export const setFailures = mutate(
  (orm, $: { addressHmac: string; softFailures: number; softSince: number | null }) =>
    orm
      .update(subscribers)
      .set({ softFailures: $.softFailures, softSince: $.softSince })
      .where(eq(subscribers.addressHmac, $.addressHmac)),
);

/** Finds the time of a subscriber's first bounce since its last success, and since `since` (unix ms). */
export const findFirstBounce = selectOne((orm, $: { subscriberId: string; since: number }) =>
  orm
    .select({ at: sql<number | null>`MIN(${mails.finishedAt})` })
    .from(mails)
    .where(
      sql`${mails.subscriberId} = ${$.subscriberId} AND ${mails.status} = 'bounced'
        AND ${mails.finishedAt} >= MAX(${$.since}, COALESCE((SELECT MAX(finished_at) FROM mails
          WHERE subscriber_id = ${$.subscriberId} AND status = 'sent'), 0))`,
    ),
);

/** Lists the suppressions of a subscriber's address for the installation and for one page. */
export const listSuppressionsOfSubscriber = selectMany(
  (orm, $: { subscriberId: string; pageId: string | null }) =>
    orm
      .select({ reason: suppressions.reason })
      .from(suppressions)
      .where(
        sql`${suppressions.addressHmac} = (SELECT address_hmac FROM subscribers WHERE id = ${$.subscriberId})
          AND ${suppressions.pageId} IN ('', ${$.pageId})`,
      ),
);
