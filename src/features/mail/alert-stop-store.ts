import { and, eq } from "drizzle-orm";
import { type Reader, selectOne } from "../../db/statements";
import { suppressions } from "../../db/tables/mail";

/** Stands for alerts in the place of a page: their owner can stop them without ending subscriptions. */
export const ALERTS_AS_PAGE = "alerts";

/*
 * Apart from the other statements about suppressions: it is loaded with the queue of webhooks, which a server
 * needs before it is ready.
 */
const findStop = selectOne((orm, $: { addressHmac: string; pageId: string }) =>
  orm
    .select({ reason: suppressions.reason })
    .from(suppressions)
    .where(and(eq(suppressions.addressHmac, $.addressHmac), eq(suppressions.pageId, $.pageId))),
);

/** Returns true if the owner of an address stopped alerts to it. */
export function hasStoppedAlerts(reader: Reader, addressHmac: string): boolean {
  return findStop(reader, { addressHmac, pageId: ALERTS_AS_PAGE }) !== undefined;
}
