import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { conflict } from "../../errors";
import { audit } from "../../events";
import { plural } from "../../kernel/text";
import { wakeSender } from "../mail";
import { listHeld } from "./list-store";
import { getMailing } from "./lists";
import { listMailingsOfSubject, type MailingRow, setProgress } from "./store";

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
  if (isOutdated(tx, mailing)) throw conflict("A newer mailing about it was sent already.");
  setProgress(tx, { ...mailing, state: "expanding", beginAt: now });
  audit(ctx, tx, actor, "mailing.release", id, `Released the mailing about ${mailing.kind}`);
  tx.afterCommit(() => ctx.signals.mailingsRecorded.emit());
}

/**
 * Releases the held mailings of a page that are neither late nor outdated, oldest first. Returns their number.
 */
export function releaseHeldMailings(
  ctx: Services,
  tx: Tx,
  page: { id: string; name: string },
  actor: Actor,
): number {
  const now = ctx.clock.now();
  const released = listHeld(tx, { pageId: page.id }).filter(
    (mailing) => now < mailing.deadlineAt && !isOutdated(tx, mailing),
  );
  for (const mailing of released) setProgress(tx, { ...mailing, state: "expanding", beginAt: now });
  if (released.length === 0) return 0;
  const count = plural(released.length, "held mailing");
  audit(ctx, tx, actor, "mailing.release", page.id, `Released ${count} of the page “${page.name}”`);
  tx.afterCommit(() => ctx.signals.mailingsRecorded.emit());
  return released.length;
}

/** True if a newer mailing about the same object has begun. */
function isOutdated(reader: Reader, mailing: MailingRow): boolean {
  return listMailingsOfSubject(reader, mailing).some(
    ({ id, cursor }) => id > mailing.id && cursor >= 0,
  );
}

function requireOpen({ state }: MailingRow): void {
  if (state === "done" || state === "stopped") throw conflict("The mailing has ended.");
}
