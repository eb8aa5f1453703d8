import { and, eq, sql } from "drizzle-orm";
import { selectOne } from "../../db/statements";
import { mailings, mails } from "../../db/tables/mail";
import type { MailClass } from "../../base/mail-address";

// The same text as in the condition of the partial indexes, so that SQLite uses them.
const isPending = sql`${mails.status} = 'pending'`;

/** Counts the pending mails of mailings, at most up to `limit`. */
export const countPendingOfMailings = selectOne((orm, $: { limit: number }) => {
  const some = orm
    .select({ id: mails.id })
    .from(mails)
    .where(and(eq(mails.class, 3), isPending))
    .limit($.limit)
    .as("some");
  return orm.select({ count: sql<number>`COUNT(*)` }).from(some);
});

/** Adds up the mails of open mailings that are written and not over. */
export const sumOfOpenMailings = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({
      count: sql<number>`COALESCE(SUM(${mailings.written} - ${mailings.sent} - ${mailings.bounced} - ${mailings.failed}
        - ${mailings.superseded} - ${mailings.cancelled} - ${mailings.expired}), 0)`,
    })
    .from(mailings)
    .where(sql`${mailings.state} IN ('expanding', 'sending', 'held')`),
);

/** Finds the time at which one of the pending mails of a mailing was queued. They are queued within seconds. */
export const findPendingOfMailing = selectOne((orm, $: { mailingId: string }) =>
  orm
    .select({ createdAt: mails.createdAt })
    .from(mails)
    .where(and(eq(mails.class, 3), eq(mails.mailingId, $.mailingId), isPending))
    .limit(1),
);

/** Counts the pending mails of a class, with the id of the oldest. */
export const countWaiting = selectOne((orm, $: { class: MailClass }) =>
  orm
    .select({ count: sql<number>`COUNT(*)`, oldestId: sql<string | null>`MIN(${mails.id})` })
    .from(mails)
    .where(and(eq(mails.class, $.class), isPending)),
);
