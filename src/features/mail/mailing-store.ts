import { and, eq, sql } from "drizzle-orm";
import { mutate } from "../../db/statements";
import { mails } from "../../db/tables/mail";
import type { MailRow } from "./queue-store";

/**
 * Inserts mails of a mailing to subscribers whose addresses are not read. `mails` is a JSON object with the number
 * of a subscriber by the id of its mail, in order. All other columns are the same.
 */
export const insertMailsTo = mutate(
  (
    orm,
    $: Pick<MailRow, "subjectId" | "template" | "batch" | "createdAt" | "expiresAt"> & {
      mails: string;
      mailingId: string;
    },
  ) =>
    orm.insert(mails).select(
      sql`SELECT mail.key, 3, ${$.mailingId}, subscribers.id, 0, subscribers.address, subscribers.domain,
          ${$.batch}, ${$.subjectId}, ${$.template}, '{}', 'pending', 0, ${$.createdAt}, NULL, NULL,
          ${$.createdAt}, ${$.expiresAt}, NULL
        FROM json_each(${$.mails}) AS mail CROSS JOIN subscribers WHERE subscribers.seq = mail.value`,
    ),
);

/**
 * Ends the pending mails of a mailing to some subscribers, each as superseded by the mail of another mailing.
 * `seqs` is a JSON list of the subscribers' numbers.
 */
export const supersedeOfMailing = mutate(
  (orm, $: { mailingId: string; by: string; seqs: string; now: number }) =>
    orm
      .update(mails)
      .set({
        status: "superseded",
        supersededBy: sql`(SELECT newer.id FROM mails AS newer WHERE newer.mailing_id = ${$.by}
          AND newer.subscriber_id = mails.subscriber_id AND newer.copy = 0)`,
        nextTryAt: null,
        finishedAt: $.now,
      })
      .where(
        and(
          eq(mails.mailingId, $.mailingId),
          sql`${mails.subscriberId} IN (SELECT id FROM subscribers
            WHERE seq IN (SELECT value FROM json_each(${$.seqs})))`,
          // Not by an index of all pending mails.
          sql`+${mails.status} = 'pending'`,
        ),
      ),
);
