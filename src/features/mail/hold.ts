import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { MAIL_HOLDS_SETTING, type MailHold, maskAddress } from "../../base/mail-address";
import { audit, recordAudits } from "../../events/audit";
import { findSetting, putSetting } from "../settings/store";
import { wakeSender } from "./mail";
import { type CausedSuppression, listSuppressionsByMails } from "./suppression-store";
import { endByAdmin, UNDO_WAIT_MS } from "./suppressions";

/** Number of holds that are kept. */
const HOLDS_MAX = 10;
/** Limit of suppressions of one hold. It begins after a hundred results. */
const SUPPRESSIONS_MAX = 500;

/** Lists the last holds of all mailings, oldest first. */
export function listMailHolds(reader: Reader): MailHold[] {
  return (findSetting(reader, { name: MAIL_HOLDS_SETTING })?.value as MailHold[] | undefined) ?? [];
}

/** Returns the hold of all mailings; undefined if they are sent. */
export function findMailHold(reader: Reader): MailHold | undefined {
  return listMailHolds(reader).findLast(({ endedAt }) => endedAt === null);
}

/** Holds all mailings until an admin releases them. Returns false if they are held already. */
export function holdAllMailings(
  ctx: Ctx,
  tx: Tx,
  { reason, since }: Pick<MailHold, "reason" | "since">,
): boolean {
  if (findMailHold(tx)) return false;
  const at = ctx.clock.now();
  const holds = [...listMailHolds(tx), { reason, at, since, endedAt: null }];
  putSetting(tx, { name: MAIL_HOLDS_SETTING, value: holds.slice(-HOLDS_MAX), now: at });
  wakeSender(ctx, tx);
  return true;
}

/** Releases all mailings. Returns false if they were not held. */
export function releaseAllMailings(ctx: Ctx, tx: Tx, actor: Actor): boolean {
  if (!findMailHold(tx)) return false;
  const now = ctx.clock.now();
  const value = listMailHolds(tx).map((hold) => ({ ...hold, endedAt: hold.endedAt ?? now }));
  putSetting(tx, { name: MAIL_HOLDS_SETTING, value, now });
  audit(ctx, tx, actor, "mailing.release", MAIL_HOLDS_SETTING, "Released all mailings");
  wakeSender(ctx, tx);
  return true;
}

/** Lists suppressions that mails caused before and during a hold, and that an admin can end now, newest first. */
export function suppressionsOfHold(
  reader: Reader,
  { since, endedAt }: MailHold,
  now: number,
): CausedSuppression[] {
  const until = endedAt ?? Number.MAX_SAFE_INTEGER;
  const undoneSince = now - UNDO_WAIT_MS;
  return listSuppressionsByMails(reader, { since, until, undoneSince, limit: SUPPRESSIONS_MAX });
}

/**
 * Ends those suppressions of a hold that the mails with these ids caused, also after the hold. Returns the number
 * of addresses.
 */
export function undoSuppressions(
  ctx: Ctx,
  tx: Tx,
  hold: MailHold,
  mailIds: ReadonlySet<string>,
  actor: Actor,
): number {
  const at = ctx.clock.now();
  const chosen = suppressionsOfHold(tx, hold, at).filter(({ mailId }) => mailIds.has(mailId ?? ""));
  const byAddress = new Map(chosen.map((one) => [one.addressHmac, one]));
  recordAudits(
    tx,
    Array.from(byAddress.values(), (one) => {
      const { mailId, subscriberId, recipient } = one;
      const who = recipient === null ? "an erased address" : maskAddress(recipient);
      const why = endByAdmin(tx, one, { request: "", now: at });
      return {
        actor,
        action: "subscriber.reactivate",
        targetId: subscriberId ?? mailId ?? "",
        summary: `Ended the suppression of ${who} ${why}`,
        at,
      };
    }),
  );
  return byAddress.size;
}
