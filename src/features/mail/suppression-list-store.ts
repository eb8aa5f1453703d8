import { sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { suppressions } from "../../db/tables/mail";
import type { SuppressionReason } from "../../base/mail-address";

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
