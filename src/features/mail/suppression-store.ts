import { and, desc, eq, getTableColumns, isNotNull, sql } from "drizzle-orm";
import type { SuppressionReason } from "../../base/mail-address";
import { deleteBy, setBy } from "../../db/rows";
import { replaceIn } from "../../db/replace";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { mails, subscribers, suppressions, suppressionUndos } from "../../db/tables/mail";

export type SuppressionRow = typeof suppressions.$inferSelect;

/** Adds a suppression, or renews the time and cause of an existing one. */
export const putSuppression = replaceIn(suppressions, ["addressHmac", "pageId", "reason"]);

/** Deletes a suppression. Returns 0 if there was none. */
export const deleteSuppression = deleteBy(suppressions, ["addressHmac", "pageId", "reason"]);

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
export const setFailures = setBy(subscribers, ["addressHmac"], ["softFailures", "softSince"]);

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

// Columns of `suppressions` are written out here: in a list of columns, drizzle names them without their table, and
// the nearest table would have them.

/** A subscriber's address, or that of the mail that was the cause; null if neither is stored any more. */
const address = sql<string | null>`COALESCE(
  (SELECT s.address FROM subscribers AS s WHERE s.address_hmac = suppressions.address_hmac AND s.address IS NOT NULL LIMIT 1),
  (SELECT m.recipient FROM mails AS m WHERE m.id = suppressions.mail_id))`;
const subscriberId = sql<string | null>`(
  SELECT s.id FROM subscribers AS s WHERE s.address_hmac = suppressions.address_hmac LIMIT 1)`;

const columns = {
  addressHmac: suppressions.addressHmac,
  pageId: suppressions.pageId,
  reason: suppressions.reason,
  mailId: suppressions.mailId,
  note: suppressions.note,
  at: suppressions.at,
  address,
  subscriberId,
};

/** Suppression with the address, where it is stored. */
export type KnownSuppression = ReturnType<typeof listOfReason>[number];

/** Lists suppressions of one reason after a position, newest first. */
export const listOfReason = selectMany(
  (orm, $: { reason: SuppressionReason; beforeAt: number; beforeHmac: string; limit: number }) =>
    orm
      .select(columns)
      .from(suppressions)
      .where(
        sql`${suppressions.reason} = ${$.reason}
          AND (${suppressions.at}, ${suppressions.addressHmac}) < (${$.beforeAt}, ${$.beforeHmac})`,
      )
      .orderBy(sql`${suppressions.at} DESC, ${suppressions.addressHmac} DESC`)
      .limit($.limit),
);

/** Lists all suppressions of an address, on all pages. */
export const listOfAddress = selectMany((orm, $: { addressHmac: string }) =>
  orm
    .select(columns)
    .from(suppressions)
    .where(sql`${suppressions.addressHmac} = ${$.addressHmac}`),
);

/** Finds one suppression. An empty page stands for those that count for the installation. */
export const findOfAddress = selectOne(
  (orm, $: { addressHmac: string; pageId: string; reason: SuppressionReason }) =>
    orm
      .select(columns)
      .from(suppressions)
      .where(
        sql`${suppressions.addressHmac} = ${$.addressHmac} AND ${suppressions.pageId} = ${$.pageId}
          AND ${suppressions.reason} = ${$.reason}`,
      ),
);

/** Finds the time at which an admin last ended the suppression of an address to which mails had failed. */
export const findUndo = selectOne((orm, $: { addressHmac: string }) =>
  orm
    .select({ at: suppressionUndos.at })
    .from(suppressionUndos)
    .where(eq(suppressionUndos.addressHmac, $.addressHmac)),
);

/** Notes that an admin ended the suppression of an address to which mails had failed. */
export const putUndo = replaceIn(suppressionUndos, ["addressHmac"]);

/** Deletes at most `limit` notes from before `before` (unix ms). */
export const deleteUndosBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .delete(suppressionUndos)
    .where(
      sql`${suppressionUndos.addressHmac} IN (SELECT address_hmac FROM suppression_undos WHERE at < ${$.before} LIMIT ${$.limit})`,
    ),
);
