import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import type { SubscriberEvent } from "../../domain/mail";
import { conflict, notFound } from "../../errors";
import { audit } from "../../events";
import { wakeSender } from "../mail";
import { targetsOf } from "./reach";
import { findMailing, listMailingsOfSubject, type MailingRow, setProgress } from "./store";
import { countSubscribers } from "./subscriber-store";

type Services = Pick<AppContext, "clock" | "signals">;

/**
 * Stops a mailing. The sender cancels its mails that have not begun. Throws `not_found`, or `conflict` if it has
 * ended.
 */
export function stopMailing(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const mailing = getMailing(tx, id);
  requireOpen(mailing);
  setProgress(tx, { ...mailing, state: "stopped" });
  audit(ctx, tx, actor, "mailing.stop", id, `Stopped the mailing about ${mailing.kind}`);
  wakeSender(ctx, tx);
}

/**
 * Releases a held mailing. Throws `not_found`, or `conflict` if it is not held, if its time is over, or if a newer
 * mailing about the same object has begun, which it would contradict.
 */
export function releaseMailing(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const mailing = getMailing(tx, id);
  requireOpen(mailing);
  if (mailing.state !== "held") throw conflict("The mailing is not held.");
  const now = ctx.clock.now();
  if (now >= mailing.deadlineAt) throw conflict("The time of the mailing is over.");
  const isOutdated = listMailingsOfSubject(tx, mailing).some(
    (other) => other.id > id && other.cursor >= 0,
  );
  if (isOutdated) throw conflict("A newer mailing about it was sent already.");
  setProgress(tx, { ...mailing, state: "expanding", beginAt: now });
  audit(ctx, tx, actor, "mailing.release", id, `Released the mailing about ${mailing.kind}`);
  tx.afterCommit(() => ctx.signals.mailingsRecorded.emit());
}

/** Returns the number of a page's active subscribers, and of those that a mailing about components reaches. */
export function countAudience(
  reader: Reader,
  audience: { pageId: string; choice: SubscriberEvent; componentIds: readonly string[] },
): { reached: number; total: number } {
  const { pageId, choice, componentIds } = audience;
  const counts = countSubscribers(reader, {
    pageId,
    choice: JSON.stringify(choice),
    targets: JSON.stringify(targetsOf(reader, { pageId }, componentIds)),
  });
  return { reached: counts?.reached ?? 0, total: counts?.total ?? 0 };
}

function getMailing(reader: Reader, id: string): MailingRow {
  const mailing = findMailing(reader, { id });
  if (!mailing) throw notFound("mailing");
  return mailing;
}

function requireOpen({ state }: MailingRow): void {
  if (state === "done" || state === "stopped") throw conflict("The mailing has ended.");
}
