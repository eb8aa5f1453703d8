import { and, asc, eq, gt, sql } from "drizzle-orm";
import { selectMany } from "../../db";
import { subscribers, suppressions } from "../../db/tables/mail";

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
