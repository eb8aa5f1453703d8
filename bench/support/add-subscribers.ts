import type { AppContext } from "../../src/context";
import { insertAllInto } from "../../src/db";
import { subscriberChoices, subscribers } from "../../src/db/tables/mail";
import { addressHmac, ensureMailKey } from "../../src/features/mail";

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
  ctx: AppContext,
  { pageId, count, componentIds = [], name = "person", after = 0 }: NewSubscribers,
): Promise<void> {
  const now = ctx.clock.now();
  const key = await ctx.db.write((tx) => ensureMailKey(ctx, tx));
  for (let from = 0; from < count; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => {
      const seq = after + from + index + 1;
      const domain = seq % 4 === 0 ? "large.test" : `d${(seq * 7919) % DOMAINS}.test`;
      const address = `${name}${seq}@${domain}`;
      return {
        id: ctx.newId("sub"),
        seq,
        pageId,
        address,
        addressKey: address,
        addressHmac: addressHmac(key, address),
        domain,
        scope:
          seq % 2 === 0 && componentIds.length > 0 ? ("selection" as const) : ("page" as const),
        events: ["incidents" as const, "maintenance" as const],
        status: "active" as const,
        tokenVersion: 1,
        confirmedAt: now,
        unsubscribedAt: null,
        consentSource: "form" as const,
        consentText: null,
        consentIp: null,
        softFailures: 0,
        softSince: null,
        version: 1,
        createdAt: now,
        updatedAt: now,
      };
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
