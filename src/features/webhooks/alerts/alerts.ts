import { ALERT_TEMPLATE } from "../../../base/mail-address";
import { DAY_MS, MINUTE_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { queueDirectly } from "../../mail/mail";
import { withoutAddresses } from "../../mail/reply";
import { findRelayRecord } from "../../mail/settings";
import { deleteCancelledMail, findMail, type MailRow } from "../../mail/store";
import { findSuppression } from "../../mail/suppressions";
import { addressHmac, findMailKey } from "../../mail/tokens";
import { tryWrite } from "../../sending/loop";
import type { Begun } from "../deliver/delivery-queue";
import { type NoTry, type Outgoing, type TryResult, writeMessage } from "../deliver/message";
import { type DeliveryRow, findForTry } from "../delivery-store";
import { isOpenToEvents, parseMailto, recipientKeyOf } from "../recipient";
import { groupOf } from "../rules";
import type { WebhookRow } from "../store";

/** Time after which an alert that could not be sent is given up. */
const LIFE_MS = DAY_MS;

/** Time for which all alerts must have failed before an uncertain refusal of the address disables its endpoint. */
const UNCERTAIN_MS = DAY_MS;

const REPLY = /^(\d{3})(?: ([245]\.\d{1,3}\.\d{1,3})(?= |$))?/;

/** Parts of a result without an answer of the relay. */
const NO_ANSWER = { statusCode: null, answer: null };

/** Delivery to an address, with its parts. */
interface MailDelivery extends Outgoing {
  delivery: DeliveryRow;
  webhook: WebhookRow;
}

/**
 * Creates the function that attempts deliveries by mail. It queues a mail and returns `awaits_mail`. Once that
 * has ended, the next call returns its result.
 */
export function createMailAttempt(
  ctx: Ctx,
): (outgoing: MailDelivery) => Promise<TryResult | NoTry> {
  return async (outgoing) => {
    const { delivery, event, gathered, webhook } = outgoing;
    if (!isOpenToEvents(ctx.db, webhook)) return "no_message";
    const id = alertMailId(delivery);
    const groupId = groupOf(delivery);
    const mail = findMail(ctx.db, { id });
    if (mail?.status === "pending") return "awaits_mail";
    const recipient = parseMailto(webhook.url);
    const isForFormerAddress =
      mail?.status === "cancelled" &&
      !("error" in recipient) &&
      mail.recipient !== recipient.address;
    if (mail && !isForFormerAddress && mail.params["try"] === delivery.tries) {
      return resultOf(ctx.db, webhook, mail);
    }
    const at = ctx.clock.now();
    try {
      if ("error" in recipient || !writeMessage(ctx, outgoing)) return "no_message";
    } catch (error) {
      ctx.log.error({ err: error, delivery: delivery.id }, "an alert could not be written");
      return { ...NO_ANSWER, at, latencyMs: 0, error: "The message could not be written." };
    }
    const queue = (tx: Tx) => {
      if (isForFormerAddress) deleteCancelledMail(tx, { id });
      queueDirectly(ctx, tx, {
        id,
        class: 2,
        recipient,
        // Mails about one object are a thread.
        subjectId: gathered ? (groupId ?? delivery.id) : event.subjectId,
        template: ALERT_TEMPLATE,
        params: { delivery_id: delivery.id, group_id: groupId, try: delivery.tries, at },
        expiresAt: at + LIFE_MS,
      });
      return true;
    };
    const isQueued = await tryWrite(ctx, queue, "an alert could not be queued");
    return isQueued === true ? "awaits_mail" : "local_fault";
  };
}

/** Returns the result of a mail that has ended. */
function resultOf(reader: Reader, webhook: WebhookRow, mail: MailRow): TryResult | NoTry {
  const begunAt = Number(mail.params["at"]);
  const latencyMs = Math.max(0, (mail.finishedAt ?? begunAt) - begunAt);
  const result = { at: begunAt, latencyMs, answer: null };
  const words = mail.reply ?? "";
  const [, code, enhanced] = REPLY.exec(words) ?? [];
  const statusCode = code === undefined ? null : Number(code);
  switch (mail.status) {
    case "sent":
      return { ...result, statusCode, error: null, answer: words };
    case "failed":
    case "bounced": {
      const isFinal = statusCode !== null && statusCode >= 500;
      const isBounced = mail.status === "bounced";
      const isCertain =
        enhanced !== undefined ||
        (webhook.failingSince !== null && begunAt - webhook.failingSince >= UNCERTAIN_MS);
      const reason = `The relay refused the address: ${withoutAddresses(words)}`;
      return {
        ...result,
        statusCode,
        error: words,
        ...(isFinal && { permanent: isBounced && isCertain ? { reason } : {} }),
      };
    }
    case "expired": {
      const error = "The mail could not be sent within 24 hours.";
      return { ...result, statusCode: null, error, permanent: {} };
    }
    default: {
      const reason = suppressionOf(reader, webhook);
      if (reason === undefined) return "no_message";
      return { ...result, statusCode: null, error: reason, permanent: { reason } };
    }
  }
}

/** Returns the reason for which an address gets no alerts, as a sentence. */
function suppressionOf(reader: Reader, { url }: WebhookRow): string | undefined {
  const key = findMailKey(reader);
  if (!key) return undefined;
  const hmac = addressHmac(key, recipientKeyOf(url));
  const found = findSuppression(reader, { addressHmac: hmac, pageId: null, kind: "alert" });
  return found && `Mail to the address is suppressed (${found.reason}).`;
}

/** Time for which a delivery keeps its place while its mail is not sent, such as one at which the relay breaks off. */
const PLACE_KEPT_MS = MINUTE_MS;

/** Number of deliveries that one check reads: some milliseconds. */
const CHECKED = 256;

interface Waiting {
  begun: Begun;
  /** Time (monotonic ms) since which it waits. */
  since: number;
  /** True once later deliveries may start before it. */
  hasGivenUpPlace: boolean;
}

/** Deliveries whose mails are queued or being sent. */
export class AwaitedMails {
  readonly #ctx: Ctx;
  readonly #begun = new Map<string, Waiting>();
  readonly #release: (begun: Begun) => void;
  readonly stop: () => void;

  /** `release` is called for each delivery whose mail has ended. */
  constructor(ctx: Ctx, release: (begun: Begun) => void) {
    this.#ctx = ctx;
    this.#release = release;
    this.stop = ctx.signals.alertTried.on((id) => this.#end(id));
  }

  add(begun: Begun): void {
    const since = this.#ctx.clock.monotonic();
    this.#begun.set(begun.due.id, { begun, since, hasGivenUpPlace: false });
  }

  /**
   * Releases the deliveries whose mails ended without a signal, such as by their time, and lets others pass those that
   * have waited for long: some at each call.
   */
  check(): void {
    const isAvailable = findRelayRecord(this.#ctx.db)?.isAvailable !== false;
    for (const [id, waiting] of [...this.#begun].slice(0, CHECKED)) {
      if (this.#isStuck(waiting, isAvailable)) {
        waiting.hasGivenUpPlace = true;
        waiting.begun.queue.giveUpPlace(waiting.begun.due);
      }
      const row = findForTry(this.#ctx.db, { id });
      const mail = row && findMail(this.#ctx.db, { id: alertMailId(row.delivery) });
      if (mail?.status !== "pending" || row?.delivery.status !== "pending") this.#end(id);
      else {
        // Moved to the end, so that the next call looks at others.
        this.#begun.delete(id);
        this.#begun.set(id, waiting);
      }
    }
  }

  /**
   * True for a mail that may wait because of itself. While the relay seems to be unavailable, one of each endpoint is taken
   * for such a mail, since the relay may only break off at it.
   */
  #isStuck({ begun: { queue }, since }: Waiting, isAvailable: boolean): boolean {
    if (this.#ctx.clock.monotonic() - since < PLACE_KEPT_MS) return false;
    const isOther = (other: Waiting) => other.hasGivenUpPlace && other.begun.queue === queue;
    return isAvailable || !this.#begun.values().some(isOther);
  }

  #end(id: string): void {
    const waiting = this.#begun.get(id);
    if (!waiting) return;
    this.#begun.delete(id);
    this.#release(waiting.begun);
  }
}

/** Number of characters of an id that hold its time. */
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/**
 * Returns the id of the mail of a delivery or of its group, the same for all of its retries. A delivery that is queued
 * again by a person gets another one, since receivers drop mails with an id that they have seen.
 */
export function alertMailId(delivery: Pick<DeliveryRow, "id" | "groupId" | "triesBefore">): string {
  const { triesBefore } = delivery;
  const id = groupOf(delivery) ?? delivery.id;
  const own = id.slice(id.indexOf("_") + 1);
  if (triesBefore === 0) return `eml_${own}`;
  const hash = new Bun.CryptoHasher("sha256").update(`${id}\n${triesBefore}`).digest("hex");
  return `eml_${own.slice(0, TIME_LENGTH)}${hash.slice(0, RANDOM_LENGTH)}`;
}
