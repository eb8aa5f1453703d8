import { sql } from "drizzle-orm";
import { mutate } from "../../db/statements";
import { mailings, mailReports, mails } from "../../db/tables/mail";

/** Deletes those among the `limit` oldest mails that ended and were queued before `before` (unix ms). */
export const deleteMailsBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm.delete(mails).where(
    sql`${mails.id} IN (SELECT id FROM mails ORDER BY id LIMIT ${$.limit})
        AND ${mails.createdAt} < ${$.before} AND ${mails.status} <> 'pending'`,
  ),
);

/** Deletes those among the `limit` oldest mailings that are over, without mails, and from before `before`. */
export const deleteMailingsBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm.delete(mailings).where(
    sql`${mailings.id} IN (SELECT id FROM mailings ORDER BY id LIMIT ${$.limit})
        AND ${mailings.createdAt} < ${$.before} AND ${mailings.state} IN ('done', 'stopped')
        AND NOT EXISTS (SELECT 1 FROM mails WHERE mailing_id = ${mailings.id})`,
  ),
);

/** Deletes at most `limit` reports from before `before` (unix ms). */
export const deleteReportsBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .delete(mailReports)
    .where(
      sql`${mailReports.id} IN (SELECT id FROM mail_reports WHERE at < ${$.before} LIMIT ${$.limit})`,
    ),
);
