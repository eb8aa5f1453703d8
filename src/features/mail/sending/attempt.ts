import { ALERT_TEMPLATE, type MailClass, type MailStatus } from "../../../base/mail-address";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { ResultRecorder } from "../../outgoing/result-recorder";
import { attemptOnce } from "../../outgoing/waiting-rows";
import { toMessage } from "../compose";
import { type CountedMail, countMails } from "../queue";
import { classifyReply, FailureWindow, relayWaitMs, retryWaitMs } from "../rules";
import type { MailSettings } from "../settings";
import { formatReply, type Reply, withoutAddresses } from "../smtp/reply";
import type { MailEnvelope } from "../smtp/session";
import {
  findForSending,
  findMailProgress,
  type MailProgress,
  type MailRow,
  setMailProgress,
} from "../store";
import { addBounce, addFailure, isSuppressed, resetFailures } from "../suppressions";
import type { Templates } from "../templates";
import { envelopeSender, findMailKey } from "../tokens";
import { ResultCounts } from "./model";
import type { RelayPool } from "./relays";

/** Message that is ready to be sent. */
interface Written {
  envelope: Omit<MailEnvelope, "dsn">;
  message: Uint8Array;
  /** Number of the attempt, from 1. */
  attempt: number;
}

/** Stages at which the relay was about to take the message. */
const BROKEN_OFF: ReadonlySet<string> = new Set(["rcpt", "data", "message"]);

/** Code of a reply after which the relay closes the connection. */
const CONNECTION_ENDS = 421;

/** End of an attempt. */
export type Attempted =
  /** Not sent. `answered`: by the relay; `isRefused` for now. */
  | { outcome: "ended" | "answered"; result: MailResult; isRefused: boolean }
  /** The mail is over already, or its mailing is held or stopped. */
  | { outcome: "gone" }
  /** This node may not be the primary. */
  | { outcome: "not_begun" }
  | RelayUnavailable;

/** `isBrokenOff` if that happened in the middle of the mail. */
export interface RelayUnavailable {
  outcome: "relay_unavailable";
  reply: Reply;
  isBrokenOff: boolean;
}

/** Attempts a mail once, with its current data in the database. */
export async function attemptMail(
  ctx: Ctx,
  deps: { templates: Templates; pool: RelayPool; settings: MailSettings },
  mailId: string,
): Promise<Attempted> {
  if (ctx.waitToSend && !(await ctx.waitToSend(mailId))) return { outcome: "not_begun" };
  const written = await writeMail(ctx, deps, mailId);
  if ("outcome" in written) return written;
  const name = { id: mailId, attempt: written.attempt };
  const send = () => sendOver(deps.pool, written, mailId);
  // A fault of the relay is no result of the mail.
  const reply = await attemptOnce(ctx, name, send, (sent) =>
    classifyReply(sent).result === "relay_unavailable"
      ? undefined
      : { ...sent, text: withoutAddresses(sent.text) },
  );
  const { result } = classifyReply(reply);
  if (result === "relay_unavailable") {
    return { outcome: result, reply, isBrokenOff: BROKEN_OFF.has(reply.stage) };
  }
  return {
    outcome: "answered",
    result: { kind: "reply", reply },
    isRefused: result === "retry",
  };
}

async function writeMail(
  ctx: Ctx,
  { templates, settings }: { templates: Templates; settings: MailSettings },
  mailId: string,
): Promise<Written | Attempted> {
  const mail = findForSending(ctx.db, { id: mailId });
  if (mail?.status !== "pending") return { outcome: "gone" };
  if (mail.mailingState === "held" || mail.mailingState === "stopped") return { outcome: "gone" };
  if (mail.expiresAt <= ctx.clock.now()) return ended("expired");
  if (isSuppressed(ctx.db, mail)) return ended("cancelled");
  try {
    return (await messageOf(ctx, templates, settings, mail)) ?? ended("cancelled");
  } catch (error) {
    ctx.log.error({ err: error, mail: mailId }, "a mail could not be written");
    return ended("unwritable");
  }
}

async function messageOf(
  ctx: Ctx,
  templates: Templates,
  settings: MailSettings,
  mail: MailRow,
): Promise<Written | undefined> {
  const template = templates[mail.template];
  if (!template) throw new Error(`there is no template ${mail.template}`);
  const composed = await template(mail, { ctx, settings });
  if (composed === "unwanted") return undefined;
  const from = envelopeFrom(ctx.db, settings, mail.id);
  return {
    envelope: { from, to: mail.recipient },
    message: toMessage(composed),
    attempt: mail.tries + 1,
  };
}

function envelopeFrom(reader: Reader, settings: MailSettings, mailId: string): string {
  const { bounceAddress, from } = settings;
  if (bounceAddress === null) return from.address;
  const key = findMailKey(reader);
  return key ? envelopeSender(key, bounceAddress, mailId) : bounceAddress;
}

function ended(kind: "expired" | "cancelled" | "unwritable"): Attempted {
  return { outcome: "ended", result: { kind }, isRefused: false };
}

/** Sends a message and leaves the connection ready for the next one, or closed. Returns the decisive reply. */
async function sendOver(
  pool: RelayPool,
  { envelope, message }: Written,
  envid: string,
): Promise<Reply> {
  for (;;) {
    const connection = await pool.take();
    if ("reply" in connection) return connection.reply;
    const isFirst = connection.sent === 0;
    const dsn = connection.extensions.has("DSN") ? { envid } : undefined;
    const reply = await connection.send({ envelope: { ...envelope, dsn }, message });
    const { result } = classifyReply(reply);
    if (result === "relay_unavailable") {
      pool.discard(connection);
      // The relay ended the connection after an earlier mail, such as the last that it takes over one. Nothing was sent.
      const isEnded = reply.code === null || reply.code === CONNECTION_ENDS;
      if (!isFirst && reply.stage === "mail" && isEnded) continue;
      return reply;
    }
    if (result !== "sent") await connection.reset();
    pool.give(connection);
    return reply;
  }
}

/** Number of mails, and of domains, beyond which the oldest are forgotten. */
const KEPT_MAX = 1_000;

/** A mail, or the mails to one domain, at which the relay broke off. */
interface BrokenOff {
  count: number;
  /** Time of the last break-off. */
  at: number;
  /** Time of the next try. */
  until: number;
}

/** Meaning of a break-off for all mails. */
export type RelaySuspicion =
  /** Only the mail waits, or the mails to its domain. */
  | "none"
  /** The relay answered no mail since an earlier break-off, but other domains were not tried. */
  | "unanswered"
  /** The relay broke off at mails to two domains, and answered none between. */
  | "anywhere";

/**
 * Mails at which the relay broke off, and their domains. Each such mail waits, twice as long after each try. The
 * first try of a mail tells also about its domain, and about the relay: a domain gets one connection until the relay
 * answers a mail to it, and waits if there is a second break-off before. Later tries of the mail tell nothing new.
 * Times are steady unix ms.
 */
export class BreakOffs {
  /** By id, the oldest first. */
  readonly #mails = new Map<string, BrokenOff>();
  /** Domains without an answer since a first break-off, the oldest first. */
  readonly #domains = new Map<string, BrokenOff>();
  /** Domains with first break-offs since the last answer to any mail. */
  readonly #inRow = new Set<string>();
  #lastAnswer = Number.NEGATIVE_INFINITY;

  /** Number of mails that wait, or have waited and are to be tried again. */
  get size(): number {
    return this.#mails.size;
  }

  /** Adds a break-off that happened now. Those while a domain waits share its wait. */
  add({ id, domain }: { id: string; domain: string }, now: number): RelaySuspicion {
    const earlier = this.#mails.get(id);
    put(this.#mails, id, afterNext(earlier, now, 0));
    if (earlier) return this.#isUnanswered(earlier) ? "unanswered" : "none";
    const before = this.#domains.get(domain);
    if (!before || now >= before.until) put(this.#domains, domain, afterNext(before, now, 1));
    this.#inRow.add(domain);
    if (this.#inRow.size > 1) return "anywhere";
    return before && this.#isUnanswered(before) ? "unanswered" : "none";
  }

  #isUnanswered({ at }: BrokenOff): boolean {
    return this.#lastAnswer < at;
  }

  /** Records that the relay answered a mail to a domain. One that began before a break-off proves nothing about it. */
  answer(domain: string, begunAt: number): void {
    this.#lastAnswer = Math.max(this.#lastAnswer, begunAt);
    this.#inRow.clear();
    const at = this.#domains.get(domain)?.at;
    if (at !== undefined && at <= begunAt) this.#domains.delete(domain);
  }

  isSetBack(id: string): boolean {
    return this.#mails.has(id);
  }

  isWaiting(id: string, now: number): boolean {
    return (this.#mails.get(id)?.until ?? 0) > now;
  }

  /** True if a domain gets one connection. */
  isInDoubt(domain: string): boolean {
    return this.#domains.has(domain);
  }

  /** True if no mail to a domain may start. */
  isDomainWaiting(domain: string, now: number): boolean {
    return (this.#domains.get(domain)?.until ?? 0) > now;
  }

  /** Returns the time at which the next mail or domain has waited; infinity without one. */
  nextAfter(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of [this.#mails, this.#domains]) {
      for (const { until } of waiting.values()) if (until > now) next = Math.min(next, until);
    }
    return next;
  }

  /** Forgets a mail whose result is recorded. */
  delete(id: string): void {
    this.#mails.delete(id);
  }

  clear(): void {
    this.#mails.clear();
    this.#domains.clear();
    this.#inRow.clear();
  }
}

/** Returns the entry after one more break-off. The first `free` ones cause no wait. */
function afterNext(before: BrokenOff | undefined, now: number, free: number): BrokenOff {
  const count = (before?.count ?? 0) + 1;
  return { count, at: now, until: count > free ? now + relayWaitMs(count - free - 1) : now };
}

/** Sets an entry and moves it to the end. */
function put(entries: Map<string, BrokenOff>, key: string, entry: BrokenOff): void {
  entries.delete(key);
  for (const oldest of entries.keys()) {
    if (entries.size < KEPT_MAX) break;
    entries.delete(oldest);
  }
  entries.set(key, entry);
}

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

/** Records results of mails, counts them, and notices when too many mails of mailings fail. */
export class MailResults {
  readonly counts = new ResultCounts();
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
      this.counts.add(mailClass, status === "pending" ? "retry" : status);
    }
    const isFailure = status === "failed" || status === "bounced";
    const { clock } = this.#ctx;
    if (mailClass === 3 && (isFailure || status === "sent")) {
      const hasTooMany = this.#failures.add(isFailure, clock.now());
      if (hasTooMany) this.tooManyFailures(this.#failures.since ?? clock.now());
    }
    return nextTryAt;
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
