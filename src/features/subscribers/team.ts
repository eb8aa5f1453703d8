import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import type { Actor } from "../../base/actor";
import { type ConsentSource, type MailAddress, maskAddress } from "../../base/mail-address";
import { notFound } from "../../base/errors";
import { audit } from "../../events/audit";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { enqueueMails } from "../mail/queue";
import { findPageOrDeleted } from "../pages/store";
import { getPage } from "../pages/pages";
import { choicesOf } from "./choices";
import { readSignUpFacts, signUpMail } from "./decide";
import { changeChoices, eraseSubscriber, unsubscribe } from "./manage";
import { insertRequest, voidConfirmedRequests } from "./request-store";
import { decideSignUp, REQUEST_LIFETIME_MS } from "./rules";
import { findSubscriber, type SubscriberRow, updateSubscriberRow } from "./store";

/** Address that a member of the team proposes for a page. The person must confirm. */
interface Invitation {
  pageId: string;
  address: MailAddress;
  choices: RequestedChoices;
  source: Exclude<ConsentSource, "form">;
  /** Time (unix ms) before which the mail is not sent; now if omitted. */
  dueAt?: number;
}

export type InvitationResult =
  /** A mail with a link to confirm was queued. */
  | { result: "invited"; requestId: string }
  | { result: "subscribed"; subscriber: SubscriberRow }
  /** The person declined such mails, or an admin blocked the address. */
  | { result: "suppressed"; reason: "declined" | "blocked" }
  /** The person got as many of these mails as the limits allow for now. */
  | { result: "limited" };

/**
 * Queues a mail by which a person confirms a subscription. The limits of mails to one recipient hold, those of
 * clients, pages and the installation do not. `actor` is null for an import, which has an audit entry of its own.
 */
export function inviteSubscriber(
  ctx: Ctx,
  tx: Tx,
  { pageId, address, choices, source, dueAt }: Invitation,
  actor: Actor | null,
): InvitationResult {
  const now = ctx.clock.now();
  const { key: addressKey, throttleKey } = address;
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  const { subscriber, facts } = readSignUpFacts(tx, { pageId, addressKey, throttleKey }, hmac, now);
  const stop = facts.suppressions.find((reason) => reason === "declined" || reason === "blocked");
  if (stop === "declined" || stop === "blocked") return { result: "suppressed", reason: stop };
  const isReached = !facts.suppressions.some((reason) => CONFIRMED_AGAIN.has(reason));
  if (subscriber?.status === "active" && isReached) return { result: "subscribed", subscriber };
  // A subscriber who gets no mail confirms again, like everybody else.
  const template = decideSignUp({ ...facts, isSubscribed: false }, { pageId, now });
  if (!template) return { result: "limited" };
  const requestId = ctx.newId("mrq");
  // A link can be used for as long, whenever its mail is sent.
  const expiresAt = (dueAt ?? now) + REQUEST_LIFETIME_MS;
  const request = { id: requestId, pageId, expiresAt };
  insertRequest(tx, {
    ...request,
    address: address.address,
    addressKey,
    throttleKey,
    choices,
    source,
    ip: null,
    clientKey: null,
    requestedAt: now,
    state: "sent",
  });
  const mail = signUpMail(request, address, template, { hmac, subscriber });
  enqueueMails(ctx, tx, [dueAt === undefined ? mail : { ...mail, dueAt }]);
  if (actor) {
    const { name } = getPage(tx, pageId);
    const who = maskAddress(address.address);
    audit(ctx, tx, actor, "subscriber.add", pageId, `Asked ${who} to subscribe to ${name}`);
  }
  return { result: "invited", requestId };
}

/** Suppressions that end when the person confirms again. */
const CONFIRMED_AGAIN: ReadonlySet<string> = new Set(["bounced", "soft", "complained"]);

/** Returns a subscriber. Throws `not_found`. */
export function getSubscriber(reader: Reader, id: string): SubscriberRow {
  const row = findSubscriber(reader, { id });
  if (!row) throw notFound("subscriber");
  return row;
}

/** Changes the choices of a subscriber. Returns false if they are as before. */
export function updateSubscriber(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  choices: RequestedChoices,
  actor: Actor,
): boolean {
  const current = choicesOf(tx, subscriber);
  const isSame =
    current.scope === choices.scope &&
    Bun.deepEquals(current.targets.toSorted(), choices.targets.toSorted()) &&
    Bun.deepEquals(current.events.toSorted(), choices.events.toSorted());
  if (isSame) return false;
  changeChoices(ctx, tx, subscriber, choices);
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "update",
    summarize: (who, page) => `Changed the choices of ${who} on ${page}`,
  });
  return true;
}

/**
 * Ends a subscription, as the person can: only the person can begin it again, by confirming. With `erase`,
 * everything about the subscriber is deleted.
 */
export function removeSubscriber(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  { erase }: { erase: boolean },
  actor: Actor,
): void {
  if (erase) eraseSubscriber(ctx, tx, subscriber);
  else unsubscribe(ctx, tx, subscriber);
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: erase ? "erase" : "remove",
    summarize: (who, page) => `${erase ? "Erased" : "Removed"} ${who} from ${page}`,
  });
}

/**
 * Makes all links to manage a subscription invalid that were sent so far, also those of confirmed sign-ups.
 * Links to unsubscribe stay valid.
 */
export function invalidateLinks(ctx: Ctx, tx: Tx, subscriber: SubscriberRow, actor: Actor): void {
  const { addressKey, pageId, tokenVersion, version } = subscriber;
  updateSubscriberRow(tx, {
    ...subscriber,
    tokenVersion: tokenVersion + 1,
    version: version + 1,
    updatedAt: ctx.clock.now(),
  });
  if (addressKey !== null) voidConfirmedRequests(tx, { addressKey, pageId });
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "update",
    summarize: (who, page) => `Made the links of ${who} on ${page} invalid`,
  });
}

/** Returns the address of a subscriber for the audit log, in which only its first character is shown. */
function masked({ address }: Pick<SubscriberRow, "address">): string {
  return address === null ? "a former subscriber" : maskAddress(address);
}

/** Writes the audit entry of a change to a subscriber. */
export function auditSubscriber(
  ctx: Ctx,
  tx: Tx,
  actor: Actor,
  subscriber: Pick<SubscriberRow, "id" | "address" | "pageId">,
  entry: { action: string; summarize(who: string, page: string): string },
): void {
  const page = findPageOrDeleted(tx, { id: subscriber.pageId });
  const summary = entry.summarize(masked(subscriber), page?.name ?? "a deleted page");
  audit(ctx, tx, actor, `subscriber.${entry.action}`, subscriber.id, summary);
}
