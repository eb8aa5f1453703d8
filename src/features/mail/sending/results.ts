import { ALERT_TEMPLATE, type MailClass, type MailStatus } from "../../../base/mail-address";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { drawChance, ResultRecorder } from "../../sending/results";
import { type CountedMail, countMails } from "../mail";
import { classifyReply, FailureWindow, retryWaitMs } from "../rules";
import { formatReply, type Reply, withoutAddresses } from "../reply";
import { findMailProgress, type MailProgress, setMailProgress } from "../store";
import { addBounce, addFailure, resetFailures } from "../suppressions";

/** Result of a mail that was begun, without those that only concern the relay. */
export type MailResult =
  /** Last reply of the relay: accepted, refused for now, or refused. */
  | { kind: "reply"; reply: Reply }
  /** The message could not be written. The mail is tried again like one that was refused for now. */
  | { kind: "unwritable" }
  /** Not sent: it is not wanted any more, or its time is over. */
  | { kind: "cancelled" | "expired" };

interface EndedMail {
  mailId: string;
  result: MailResult;
}

/** State of a mail after its result was recorded. */
interface RecordedMail {
  class: MailClass;
  status: MailStatus;
  /** Time of the next try, by the clock that never goes back. */
  nextTryAt: number | null;
}

/** Results of mails that are counted. `retry` is a refusal for now. */
export const MAIL_RESULTS = ["sent", "retry", "bounced", "failed", "cancelled", "expired"] as const;
export type CountedResult = (typeof MAIL_RESULTS)[number];

/** Records results of mails, counts them, and notices when too many mails of mailings fail. */
export class MailResults {
  readonly #counts = new Map<string, number>();
  readonly #ctx: Ctx;
  readonly #recorder: ResultRecorder<EndedMail, RecordedMail | undefined>;
  readonly #failures = new FailureWindow();

  constructor(
    ctx: Ctx,
    steadyNow: () => number,
    /** Called if more than 20 of the last 100 mails of mailings failed, with the time of the oldest result. */
    readonly tooManyFailures: (since: number) => void,
  ) {
    this.#ctx = ctx;
    this.#recorder = new ResultRecorder(ctx, {
      write: (tx, ended) => recordMails(ctx, tx, [ended], steadyNow())[0],
      writeAll: (tx, ended) => recordMails(ctx, tx, ended, steadyNow()),
      describe: ({ mailId }) => ({ mail: mailId }),
      waiting: "mails wait until their results can be recorded",
      lost: "a mail's result cannot be recorded",
    });
  }

  /** True while results cannot be recorded. Nothing should be sent then. */
  get isStuck(): boolean {
    return this.#recorder.isStuck;
  }

  /** Number of results that a crash would lose. */
  get unwritten(): number {
    return this.#recorder.unwritten;
  }

  /** Resolves when the result is recorded, with the time of the next try, if there is one. */
  async add(ended: EndedMail): Promise<number | null> {
    const recorded = await this.#recorder.add(ended);
    if (!recorded) return null;
    const { class: mailClass, status, nextTryAt } = recorded;
    if (status !== "superseded") {
      const result = status === "pending" ? "retry" : status;
      this.#counts.set(`${mailClass} ${result}`, this.count(mailClass, result) + 1);
    }
    const isFailure = status === "failed" || status === "bounced";
    const { clock } = this.#ctx;
    if (mailClass === 3 && (isFailure || status === "sent")) {
      const hasTooMany = this.#failures.add(isFailure, clock.now());
      if (hasTooMany) this.tooManyFailures(this.#failures.since ?? clock.now());
    }
    return nextTryAt;
  }

  /** Number of results since the start. */
  count(mailClass: MailClass, result: CountedResult): number {
    return this.#counts.get(`${mailClass} ${result}`) ?? 0;
  }

  /** Forgets earlier failures, since an admin released all mailings. */
  forgetFailures(): void {
    this.#failures.clear();
  }

  flush(): Promise<void> {
    return this.#recorder.flush();
  }

  /** Discards results that are not written. */
  stop(): void {
    this.#recorder.stop();
  }
}

/**
 * Records results of mails with their consequences for addresses and mailings. `steadyNow` is the start of
 * waits. Returns undefined for a mail that was deleted meanwhile.
 */
function recordMails(
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

/** New state of a mail, with the consequence for its address. */
interface Consequence {
  status: MailStatus;
  waitMs?: number;
  address?: () => void;
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
function retried(ctx: Ctx, mail: MailProgress, fail?: () => void): Consequence {
  if (mail.template === ALERT_TEMPLATE) return { status: "failed" };
  const waitMs = retryWaitMs(mail.tries, drawChance(ctx));
  if (waitMs !== undefined) return { status: "pending", waitMs };
  return { status: "failed", ...(fail && { address: fail }) };
}

const UNWRITABLE = "The message could not be written.";

function replyText(result: MailResult): string | undefined {
  if (result.kind === "unwritable") return UNWRITABLE;
  return result.kind === "reply" ? formatReply(result.reply) : undefined;
}
