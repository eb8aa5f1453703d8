import { setImmediate } from "node:timers/promises";
import type { Ctx } from "../../context";
import type { Db } from "../../db/database";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { audit, createRunningAudit } from "../../events/audit";
import { plural } from "../../base/text";
import { wakeSender } from "../mail/queue";
import { listHeld } from "./list-store";
import { getMailing } from "./lists";
import { findMailing, findNewestBegun, type MailingRow, setProgress } from "./store";

/** Number of held mailings that one transaction releases. */
const RELEASED_PER_BATCH = 250;

/**
 * Stops a mailing. The sender cancels its mails that have not begun. Throws `not_found`, or `conflict` if it has
 * ended.
 */
export function stopMailing(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
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
export function releaseMailing(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const mailing = getMailing(tx, id);
  requireOpen(mailing);
  if (mailing.state !== "held") throw conflict("The mailing is not held.");
  const now = ctx.clock.now();
  if (now >= mailing.deadlineAt) throw conflict("The time of the mailing is over.");
  if (newestBegunOf(tx, mailing.subjectId) > id)
    throw conflict("A newer mailing about it was sent already.");
  setProgress(tx, { ...mailing, state: "expanding", beginAt: now });
  audit(ctx, tx, actor, "mailing.release", id, `Released the mailing about ${mailing.kind}`);
  tx.afterCommit(() => ctx.signals.mailingsRecorded.emit());
}

/**
 * Releases the held mailings of a page that are neither late nor outdated, some hundred per transaction. The newest
 * go first, since what begins meanwhile contains the texts of older ones. Returns their number.
 */
export async function releaseHeldMailings(
  ctx: Ctx,
  page: { id: string; name: string },
  write: Db["write"],
  actor: Actor,
): Promise<number> {
  const ids = listHeld(ctx.db, { pageId: page.id }).map(({ id }) => id);
  const record = createRunningAudit(ctx, actor, "mailing.release", page.id);
  let released = 0;
  try {
    while (ids.length > 0) {
      const some = ids.splice(0, RELEASED_PER_BATCH);
      released += await write((tx) => {
        const count = releaseSome(ctx, tx, some);
        const all = plural(released + count, "held mailing");
        if (count > 0) record(tx, `Released ${all} of the page “${page.name}”`);
        return count;
      });
      await setImmediate();
    }
  } finally {
    if (released > 0) ctx.signals.mailingsRecorded.emit();
  }
  return released;
}

/** Releases those of some mailings that are held, and neither late nor outdated. Returns their number. */
function releaseSome({ clock }: Ctx, tx: Tx, ids: readonly string[]): number {
  const now = clock.now();
  // A component whose status changes all day is the subject of thousands.
  const newestBegun = new Map<string, string>();
  return ids.filter((id) => {
    const mailing = findMailing(tx, { id });
    if (mailing?.state !== "held" || now >= mailing.deadlineAt) return false;
    const { subjectId } = mailing;
    const newest = newestBegun.get(subjectId) ?? newestBegunOf(tx, subjectId);
    newestBegun.set(subjectId, newest);
    if (newest > id) return false;
    return setProgress(tx, { ...mailing, state: "expanding", beginAt: now }) > 0;
  }).length;
}

/** Returns the id of the newest mailing about an object that has begun; an empty text without one. */
function newestBegunOf(reader: Reader, subjectId: string): string {
  return findNewestBegun(reader, { subjectId })?.id ?? "";
}

function requireOpen({ state }: MailingRow): void {
  if (state === "done" || state === "stopped") throw conflict("The mailing has ended.");
}
