import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { mutate, selectMany } from "../../db";
import { mailReports, mails, suppressions } from "../../db/tables/mail";
import type { SuppressionReason } from "../../domain/mail";

/*
 * Mails of sign-ups and suppressions of addresses, as far as subscribing reads and changes them.
 */

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

/** Deletes the sign-up mails of a page to an address. */
export const deleteSignUpMails = mutate((orm, $: { subjectId: string; pageId: string }) =>
  orm
    .delete(mails)
    .where(
      and(
        eq(mails.subjectId, $.subjectId),
        isNull(mails.mailingId),
        sql`json_extract(${mails.params}, '$.page') = ${$.pageId}`,
      ),
    ),
);

/** Cancels the mails of a subscriber that were not sent yet. */
export const cancelPendingMails = mutate((orm, $: { subscriberId: string; now: number }) =>
  orm
    .update(mails)
    .set({ status: "cancelled", nextTryAt: null, finishedAt: $.now })
    .where(and(eq(mails.subscriberId, $.subscriberId), sql`${mails.status} = 'pending'`)),
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

/** Lists the reasons for which an address gets no mail of a page or of any. */
export const listSuppressions = selectMany((orm, $: { addressHmac: string; pageId: string }) =>
  orm
    .select({ reason: suppressions.reason, at: suppressions.at })
    .from(suppressions)
    .where(
      and(
        eq(suppressions.addressHmac, $.addressHmac),
        sql`${suppressions.pageId} IN ('', ${$.pageId})`,
      ),
    ),
);

/** Suppresses an address: on one page, or on all with an empty `pageId`. */
export const putSuppression = mutate(
  (orm, $: { addressHmac: string; pageId: string; reason: SuppressionReason; at: number }) =>
    orm
      .insert(suppressions)
      .values({
        addressHmac: $.addressHmac,
        pageId: $.pageId,
        reason: $.reason,
        mailId: null,
        note: null,
        at: $.at,
      })
      .onConflictDoUpdate({
        target: [suppressions.addressHmac, suppressions.pageId, suppressions.reason],
        set: { at: sql`excluded.at` },
      }),
);

/** Ends the suppressions that a person ends by confirming: of failures, and of leaving the page. */
export const endSuppressions = mutate((orm, $: { addressHmac: string; pageId: string }) =>
  orm.delete(suppressions).where(
    and(
      eq(suppressions.addressHmac, $.addressHmac),
      sql`((${suppressions.pageId} = '' AND ${suppressions.reason} IN ('bounced', 'soft', 'complained'))
          OR (${suppressions.pageId} = ${$.pageId} AND ${suppressions.reason} = 'unsubscribed'))`,
    ),
  ),
);
