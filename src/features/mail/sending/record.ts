import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { ALERT_TEMPLATE, type MailClass, type MailStatus } from "../../../base/mail-address";
import { type CountedMail, countMails } from "../queue";
import { findMailProgress, type MailProgress, setMailProgress } from "../queue-store";
import { formatReply, type Reply, withoutAddresses } from "../smtp/reply";
import { classifyReply, retryWaitMs } from "../rules";
import { addBounce, addFailure, resetFailures } from "../suppressions";

/** Result of a mail that was begun, without those that only concern the relay. */
export type MailResult =
  /** Last reply of the relay: accepted, refused for now, or refused. */
  | { kind: "reply"; reply: Reply }
  /** The message could not be written. The mail is tried again like one that was refused for now. */
  | { kind: "unwritable" }
  /** Not sent: it is not wanted any more, or its time is over. */
  | { kind: "cancelled" | "expired" };

export interface EndedMail {
  mailId: string;
  result: MailResult;
}

/** State of a mail after its result was recorded. */
export interface RecordedMail {
  class: MailClass;
  status: MailStatus;
  /** Time of the next try, by the clock that never goes back. */
  nextTryAt: number | null;
}

const CHANCE_BYTES = 4;
const UNWRITABLE = "The message could not be written.";

/** New state of a mail, with the consequence for its address. */
interface Consequence {
  status: MailStatus;
  waitMs?: number;
  address?: () => void;
}

/**
 * Records results of mails with their consequences for addresses and mailings. `steadyNow` is the start of
 * waits. Returns undefined for a mail that was deleted meanwhile.
 */
export function recordMails(
  ctx: Ctx,
  tx: Tx,
  ended: readonly EndedMail[],
  steadyNow: number,
): (RecordedMail | undefined)[] {
  const counted: CountedMail[] = [];
  const recorded = ended.map((one) => recordMail(ctx, tx, one, steadyNow, counted));
  countMails(tx, counted);
  return recorded;
}

/** Adds to `counted` what changes the counts of the mailing. */
function recordMail(
  ctx: Ctx,
  tx: Tx,
  { mailId, result }: EndedMail,
  steadyNow: number,
  counted: CountedMail[],
): RecordedMail | undefined {
  const mail = findMailProgress(tx, { id: mailId });
  if (!mail) return undefined;
  if (mail.template === ALERT_TEMPLATE) {
    tx.afterCommit(() => ctx.signals.alertTried.emit(String(mail.params["delivery_id"])));
  }
  // A report came before this result was recorded, and tells more than the relay's reply.
  if (mail.status === "bounced" || mail.status === "failed") {
    return { class: mail.class, status: mail.status, nextTryAt: null };
  }
  const { status, waitMs = 0, address } = consequenceOf(ctx, tx, mail, result);
  address?.();
  // A mail that was cancelled or superseded meanwhile stays so, unless the relay has it.
  const after = mail.status === "pending" || status === "sent" ? status : mail.status;
  const nextTryAt = after === "pending" ? Math.min(steadyNow + waitMs, mail.expiresAt) : null;
  const isTried = result.kind === "reply" || result.kind === "unwritable";
  setMailProgress(tx, {
    id: mailId,
    status: after,
    tries: mail.tries + (isTried ? 1 : 0),
    nextTryAt,
    reply: replyText(result) ?? mail.reply,
    finishedAt: nextTryAt === null ? ctx.clock.now() : null,
  });
  const { mailingId, status: before } = mail;
  if (mailingId !== null && after !== before) {
    if (before !== "pending") counted.push({ mailingId, status: before, by: -1 });
    if (after !== "pending") counted.push({ mailingId, status: after, by: 1 });
  }
  return { class: mail.class, status: after, nextTryAt };
}

function consequenceOf(ctx: Ctx, tx: Tx, mail: MailProgress, result: MailResult): Consequence {
  if (result.kind === "unwritable") return retried(ctx, mail);
  if (result.kind !== "reply") return { status: result.kind };
  const meaning = classifyReply(result.reply);
  // Suppressions outlive the address: erasing a subscriber does not delete them.
  const cause = { mailId: mail.id, note: withoutAddresses(formatReply(result.reply)) };
  const fail = () => addFailure(ctx, tx, mail, cause);
  switch (meaning.result) {
    case "sent":
      return { status: "sent", address: () => resetFailures(tx, mail) };
    case "bounced":
      return {
        status: "bounced",
        address: () => addBounce(ctx, tx, mail, meaning.isCertain, cause),
      };
    case "failed":
      return { status: "failed", address: fail };
    case "retry":
      return retried(ctx, mail, fail);
    case "relay_unavailable":
      throw new Error("a reply that is not about a mail is no result of it");
  }
}

/** Returns the wait for the next try. Without one the mail has failed. */
function retried({ random }: Ctx, mail: MailProgress, fail?: () => void): Consequence {
  if (mail.template === ALERT_TEMPLATE) return { status: "failed" };
  const chance = Buffer.from(random(CHANCE_BYTES)).readUInt32BE() / 2 ** 32;
  const waitMs = retryWaitMs(mail.tries, chance);
  if (waitMs !== undefined) return { status: "pending", waitMs };
  return { status: "failed", ...(fail && { address: fail }) };
}

function replyText(result: MailResult): string | undefined {
  if (result.kind === "unwritable") return UNWRITABLE;
  return result.kind === "reply" ? formatReply(result.reply) : undefined;
}
