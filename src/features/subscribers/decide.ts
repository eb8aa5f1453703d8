import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type MailAddress, parseMailAddress } from "../../base/mail-address";
import { DAY_MS } from "../../base/time";
import { addressHmac, ensureMailKey, type MailKey } from "../mail/tokens";
import { enqueueMails, type NewMail } from "../mail/queue";
import { listSuppressionsOf } from "../mail/suppression-store";
import { findPage } from "../pages/store";
import { takesSubscribers } from "../pages/mail";
import { listSignUpMails } from "./mail-store";
import {
  listSentToRecipient,
  listWaitingRequests,
  type RequestRow,
  setRequestState,
} from "./request-store";
import { decideSignUp, LONGEST_WAIT_MS, type SignUpFacts, type SignUpMail } from "./rules";
import { findSubscriberByAddress, type SubscriberRow } from "./store";

/** Sign-ups that one transaction decides about. */
const REQUESTS_PER_BATCH = 50;
/** Sign-up mails to one recipient and to one address that are read: more than the limits allow. */
const RECENT_MAX = 10;
const EARLIER_MAX = 200;

/** Results of the decision about a sign-up: the queued mail, or none. */
export const SIGN_UP_RESULTS = ["confirmation", "already_subscribed", "none"] as const;
export type SignUpResult = (typeof SIGN_UP_RESULTS)[number];

/**
 * Decides which mails the oldest waiting sign-ups get, and queues them. Returns the result of each.
 */
export function decideSignUps(ctx: Ctx, tx: Tx): SignUpResult[] {
  const waiting = listWaitingRequests(tx, { limit: REQUESTS_PER_BATCH });
  if (waiting.length === 0) return [];
  const key = ensureMailKey(ctx, tx);
  const now = ctx.clock.now();
  return waiting.map((request) => {
    const mail = mailFor(tx, request, key, now);
    // Stored before the next decision, which counts it.
    setRequestState(tx, { id: request.id, state: mail ? "sent" : "unsent" });
    if (mail) enqueueMails(ctx, tx, [mail.queued]);
    return mail?.result ?? "none";
  });
}

function mailFor(
  reader: Reader,
  request: RequestRow,
  key: MailKey,
  now: number,
): { result: SignUpMail; queued: NewMail } | undefined {
  const page = findPage(reader, { id: request.pageId });
  const recipient = parseMailAddress(request.address, { allowUtf8Local: true });
  if (!page || !takesSubscribers(page) || "error" in recipient || now >= request.expiresAt) {
    return undefined;
  }
  const hmac = addressHmac(key, request.addressKey);
  const { subscriber, facts } = readSignUpFacts(reader, request, hmac, now);
  const template = decideSignUp(facts, { pageId: page.id, now });
  if (!template) return undefined;
  return {
    result: template,
    queued: signUpMail(request, recipient, template, { hmac, subscriber }),
  };
}

/** Reads what decides about the mail that a sign-up of an address gets, with the subscriber on the page. */
export function readSignUpFacts(
  reader: Reader,
  { pageId, addressKey, throttleKey }: Pick<RequestRow, "pageId" | "addressKey" | "throttleKey">,
  hmac: string,
  now: number,
): { subscriber: SubscriberRow | undefined; facts: SignUpFacts } {
  const subscriber = findSubscriberByAddress(reader, { pageId, addressKey });
  const suppressions = listSuppressionsOf(reader, { addressHmac: hmac, pageId });
  const since = now - LONGEST_WAIT_MS;
  const subjectId = signUpSubject(hmac);
  const earlier = listSignUpMails(reader, { subjectId, since, limit: EARLIER_MAX });
  const reminder = earlier.find(
    (mail) => mail.template === "already_subscribed" && mail.pageId === pageId,
  );
  // Erasing deletes the mails, of which the last may have been sent just before.
  const erased = suppressions.find(({ reason }) => reason === "erased");
  const lastMailAt = Math.max(earlier[0]?.at ?? -1, erased?.at ?? -1);
  const recipientQuery = { throttleKey, since: now - DAY_MS, limit: RECENT_MAX };
  const facts = {
    isSubscribed: subscriber?.status === "active",
    suppressions: suppressions.map(({ reason }) => reason),
    recent: listSentToRecipient(reader, recipientQuery),
    lastMailAt: lastMailAt < 0 ? undefined : lastMailAt,
    lastReminderAt: reminder?.at,
  };
  return { subscriber, facts };
}

/** Returns the mail that answers a sign-up. */
export function signUpMail(
  { id, pageId, expiresAt }: Pick<RequestRow, "id" | "pageId" | "expiresAt">,
  recipient: Pick<MailAddress, "address" | "domain">,
  template: SignUpMail,
  { hmac, subscriber }: { hmac: string; subscriber: SubscriberRow | undefined },
): NewMail {
  return {
    class: 1,
    recipient,
    subjectId: signUpSubject(hmac),
    template,
    params: { request: id, page: pageId },
    ...(template === "already_subscribed" && subscriber ? { subscriberId: subscriber.id } : {}),
    expiresAt,
  };
}

/** Returns the subject of all sign-up mails to an address, by its mark. */
export function signUpSubject(hmac: string): string {
  return `signup_${hmac}`;
}
