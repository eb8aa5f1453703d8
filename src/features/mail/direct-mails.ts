import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { queueMailAgain } from "./direct-store";
import { type NewMail, wakeSender } from "./queue";
import { findMail, insertMails } from "./queue-store";

/** Mail whose id is known before it is queued. */
interface DirectMail extends Omit<NewMail, "mailingId" | "subscriberId" | "copy"> {
  id: string;
}

/** Queues a mail with a known id. One that has ended is queued again and keeps its `Message-ID`. */
export function queueDirectly(ctx: Ctx, tx: Tx, { recipient, ...mail }: DirectMail): void {
  const now = ctx.clock.now();
  if (findMail(tx, mail)) queueMailAgain(tx, { ...mail, now });
  else {
    const row = {
      ...mail,
      recipient: recipient.address,
      domain: recipient.domain,
      mailingId: null,
      subscriberId: null,
      copy: 0,
      batch: 0,
      status: "pending" as const,
      tries: 0,
      nextTryAt: now,
      supersededBy: null,
      reply: null,
      createdAt: now,
      finishedAt: null,
    };
    insertMails(tx, [row]);
  }
  wakeSender(ctx, tx);
}
