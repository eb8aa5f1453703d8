import type { Ctx } from "../../src/context";
import { insertAllInto } from "../../src/db/statements";
import { subscriberChoices, subscribers } from "../../src/db/tables/mail";
import { addressHmac, ensureMailKey } from "../../src/features/mail/tokens";
import { subscriberRow } from "../../test/support/mail-rows";

const AT_ONCE = 500;
const DOMAINS = 400;

const insertSubscribers = insertAllInto(subscribers);
const insertChoices = insertAllInto(subscriberChoices);

/** Subscribers to be added to a page. */
export interface NewSubscribers {
  pageId: string;
  count: number;
  /** Components that half of the subscribers choose; without them all are subscribed to the page. */
  componentIds?: readonly string[];
  /** Part before the number in each address. */
  name?: string;
  /** Number of subscribers that there are already. */
  after?: number;
}

/** Adds subscribers of incidents and maintenance: a quarter at one domain, the rest at 400. */
export async function addSubscribers(
  ctx: Ctx,
  { pageId, count, componentIds = [], name = "person", after = 0 }: NewSubscribers,
): Promise<void> {
  const now = ctx.clock.now();
  const key = await ctx.db.write((tx) => ensureMailKey(ctx, tx));
  for (let from = 0; from < count; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => {
      const seq = after + from + index + 1;
      const domain = seq % 4 === 0 ? "large.test" : `d${(seq * 7919) % DOMAINS}.test`;
      const address = `${name}${seq}@${domain}`;
      return subscriberRow({
        id: ctx.newId("sub"),
        seq,
        pageId,
        address,
        addressHmac: addressHmac(key, address),
        scope: seq % 2 === 0 && componentIds.length > 0 ? "selection" : "page",
        confirmedAt: now,
      });
    });
    await ctx.db.write((tx) => {
      insertSubscribers(tx, rows);
      const choices = rows
        .filter(({ scope }) => scope === "selection")
        .flatMap(({ id }) => componentIds.map((targetId) => ({ targetId, subscriberId: id })));
      insertChoices(tx, choices);
    });
  }
}
