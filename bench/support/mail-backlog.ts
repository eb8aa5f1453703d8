import { insertAllInto, insertInto } from "../../src/db";
import { mailings, subscribers } from "../../src/db/tables/mail";
import { CLI_ACTOR } from "../../src/domain/actor";
import { enqueueMails } from "../../src/features/mail";
import { createPage } from "../../src/features/pages";
import { DAY_MS } from "../../src/kernel/time";
import { openData } from "./open-data";

const AT_ONCE = 500;
const DOMAINS = 400;

const insertMailing = insertInto(mailings);
const insertSubscribers = insertAllInto(subscribers);

/** Queues the mails of one mailing in a new data directory: a quarter to one domain, the rest to 400. */
export async function queueMails(dataDir: string, count: number): Promise<void> {
  const { ctx, close } = openData(dataDir, { canCreate: true });
  const now = ctx.clock.now();
  const mailingId = ctx.newId("mlg");
  const pageId = await ctx.db.write((tx) => {
    const page = createPage(ctx, tx, { slug: "northwind", name: "Northwind" }, CLI_ACTOR);
    insertMailing(tx, {
      id: mailingId,
      eventId: ctx.newId("evt"),
      pageId: page.id,
      subjectId: "inc_bench",
      kind: "incident.created",
      state: "sending",
      cursor: count,
      maxSeq: count,
      beginAt: now,
      deadlineAt: now + DAY_MS,
      written: 0,
      sent: 0,
      bounced: 0,
      failed: 0,
      superseded: 0,
      cancelled: 0,
      expired: 0,
      createdAt: now,
    });
    return page.id;
  });
  for (let from = 0; from < count; from += AT_ONCE) {
    await ctx.db.write((tx) => {
      const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => {
        const seq = from + index + 1;
        const domain = seq % 4 === 0 ? "large.test" : `d${seq % DOMAINS}.test`;
        const address = `person${seq}@${domain}`;
        return { id: ctx.newId("sub"), seq, domain, address };
      });
      insertSubscribers(
        tx,
        rows.map(({ id, seq, domain, address }) => ({
          id,
          seq,
          pageId,
          address,
          addressKey: address,
          addressHmac: Bun.SHA256.hash(address, "base64"),
          domain,
          scope: "page" as const,
          events: ["incidents" as const],
          status: "active" as const,
          tokenVersion: 1,
          confirmedAt: now,
          unsubscribedAt: null,
          consentSource: "form" as const,
          consentText: null,
          consentIp: null,
          softFailures: 0,
          softSince: null,
          reactivatedAt: null,
          version: 1,
          createdAt: now,
          updatedAt: now,
        })),
      );
      enqueueMails(
        ctx,
        tx,
        rows.map(({ id, domain, address }) => ({
          class: 3 as const,
          mailingId,
          subscriberId: id,
          recipient: { address, domain },
          subjectId: "inc_bench",
          template: "bench",
          params: {},
          expiresAt: now + DAY_MS,
        })),
      );
    });
  }
  close();
}
