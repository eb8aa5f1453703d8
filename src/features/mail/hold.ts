import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { audit } from "../../events";
import { findSetting, putSetting } from "../settings";
import { wakeSender } from "./queue";
import { listSuppressionsByMails, type SuppressionRow } from "./suppression-store";

const MAIL_HOLD = "mail_hold";

/** Stop of all mailings, since too many of their mails failed. Other mails are sent. */
export interface MailHold {
  /** Start in unix ms. */
  at: number;
  /** Time of the oldest result that led to it (unix ms). */
  since: number;
}

/** Returns the stop of all mailings; undefined if they are sent. */
export function findMailHold(reader: Reader): MailHold | undefined {
  const value = findSetting(reader, { name: MAIL_HOLD })?.value as MailHold | false | undefined;
  return value === false ? undefined : value;
}

/** Stops all mailings until an admin goes on. Returns false if they are stopped already. */
export function holdAllMailings(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  since: number,
): boolean {
  if (findMailHold(tx)) return false;
  const now = ctx.clock.now();
  putSetting(tx, { name: MAIL_HOLD, value: { at: now, since } satisfies MailHold, now });
  wakeSender(ctx, tx);
  return true;
}

/** Goes on with all mailings. Returns false if they were not stopped. */
export function releaseAllMailings(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  actor: Actor,
): boolean {
  if (!findMailHold(tx)) return false;
  putSetting(tx, { name: MAIL_HOLD, value: false, now: ctx.clock.now() });
  audit(ctx, tx, actor, "mailing.release", MAIL_HOLD, "Released all mailings");
  wakeSender(ctx, tx);
  return true;
}

/** Lists suppressions that the mails of a stop caused, newest first, for undoing. */
export function suppressionsOfHold(
  reader: Reader,
  hold: MailHold,
  limit: number,
): SuppressionRow[] {
  return listSuppressionsByMails(reader, { since: hold.since, limit });
}
