/* Verbs of subscribers, for the person, the team and imports: subscribe, change, end, block, send again, erase. */
import { Type } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import { conflict, invalidFields, notFound } from "../../base/errors";
import {
  type ConsentSource,
  type MailAddress,
  maskAddress,
  type SuppressionReason,
} from "../../base/mail-address";
import { Text } from "../../base/schema";
import { plural } from "../../base/text";
import { DAY_MS } from "../../base/time";
import { validate } from "../../base/validation";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { audit } from "../../events/audit";
import { cancelMailsOfSubscriber, enqueueMails } from "../mail/mail";
import { withoutAddresses } from "../mail/reply";
import { eraseReportsAbout } from "../mail/reports";
import {
  listSuppressionsOf,
  removeNotesOfMails,
  type SuppressionRow,
} from "../mail/suppression-store";
import { endByAdmin, findSuppression, suppress, type Undo, undoOf } from "../mail/suppressions";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { findPage, findPageOrDeleted, type PageRow } from "../pages/store";
import { choicesOf } from "./choices";
import { signUpSubject } from "./rules";
import {
  deleteChoices,
  deleteChoicesOfTarget,
  deleteExpiredRequests,
  deleteReportsOf,
  deleteReportsOfSignUps,
  deleteRequestsOfAddress,
  deleteSignUpMails,
  deleteSubscriber,
  findDeletedTarget,
  findLastAudience,
  findLastCopy,
  findLastSeq,
  findMailToResend,
  findSubscriber,
  findSubscriberByAddress,
  insertChoice,
  insertSubscriber,
  listSubscribersByHmac,
  listSubscribersOfAddress,
  listSubscribersOfOldPages,
  mergeSearchIndex,
  removeConsentAddresses,
  removeOldAddresses,
  type SubscriberRow,
  updateSubscriberRow,
  voidConfirmedRequests,
} from "./store";

/** Address that is subscribed to a page, with its choices. They name only what exists. */
interface Enrolment {
  pageId: string;
  address: string;
  addressKey: string;
  choices: RequestedChoices;
}

/** Time, origin, words and client of a consent. */
type Consent = Pick<SubscriberRow, "confirmedAt" | "consentSource" | "consentText" | "consentIp">;

/**
 * Stores a subscription. `current` is what the page has of the address, subscribed or not. New choices of a
 * subscriber are no new consent: its time, words and client stay those of one moment. `isRenewed` is true if the
 * consent ends a suppression, which replaces the earlier one.
 */
export function enrol(
  ctx: Ctx,
  tx: Tx,
  { pageId, address, addressKey, choices }: Enrolment,
  {
    current,
    hmac,
    isRenewed = false,
  }: { current: SubscriberRow | undefined; hmac: string; isRenewed?: boolean },
  consent: Consent,
): SubscriberRow {
  const now = ctx.clock.now();
  const active = current?.status === "active" ? current : undefined;
  const { confirmedAt, consentSource, consentText, consentIp } =
    active && !isRenewed ? active : consent;
  const row: SubscriberRow = {
    id: current?.id ?? ctx.newId("sub"),
    // The audience of a mailing are those confirmed before it.
    seq: active?.seq ?? nextSeq(tx),
    pageId,
    address,
    addressKey,
    addressHmac: hmac,
    domain: address.slice(address.lastIndexOf("@") + 1),
    scope: choices.scope,
    events: choices.events,
    status: "active",
    tokenVersion: current?.tokenVersion ?? 1,
    unsubscribedAt: null,
    confirmedAt,
    consentSource,
    consentText,
    consentIp,
    softFailures: 0,
    softSince: null,
    language: choices.language === undefined ? (active?.language ?? null) : choices.language,
    version: (current?.version ?? 0) + 1,
    createdAt: current?.createdAt ?? now,
    updatedAt: now,
  };
  if (current) updateSubscriberRow(tx, row);
  else insertSubscriber(tx, row);
  storeTargets(tx, row.id, choices.targets);
  return row;
}

/** Returns a number that no subscriber and no audience has had. The last subscriber may have been erased. */
function nextSeq(tx: Tx): number {
  return Math.max(findLastSeq(tx, {})?.seq ?? 0, findLastAudience(tx, {})?.seq ?? 0) + 1;
}

/** Stores the components and groups of a subscriber. */
function storeTargets(tx: Tx, subscriberId: string, targets: readonly string[]): void {
  deleteChoices(tx, { subscriberId });
  for (const targetId of targets) insertChoice(tx, { targetId, subscriberId });
}

/** Changes the choices of a subscriber. */
export function changeChoices(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  { scope, events, targets, language = subscriber.language }: RequestedChoices,
): void {
  updateSubscriberRow(tx, { ...changedRow(ctx, subscriber), scope, events, language });
  storeTargets(tx, subscriber.id, targets);
}

/**
 * Ends the subscription of a subscriber's address to the page, also one that was made later, and cancels its
 * pending mails. Links for managing become invalid. Calling it again changes nothing.
 */
export function unsubscribe(ctx: Ctx, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  for (const row of listSubscribersByHmac(tx, { pageId, addressHmac })) {
    if (row.status !== "active") continue;
    const changed = changedRow(ctx, row);
    updateSubscriberRow(tx, {
      ...changed,
      status: "unsubscribed",
      unsubscribedAt: changed.updatedAt,
      tokenVersion: row.tokenVersion + 1,
    });
    cancelMailsOfSubscriber(ctx, tx, row.id);
    if (row.addressKey !== null) voidConfirmedRequests(tx, { addressKey: row.addressKey, pageId });
    suppress(ctx, tx, { addressHmac, reason: "unsubscribed", pageId });
  }
}

/**
 * Deletes everything that is stored about a subscriber of a page, but for a mark by which a restored backup
 * erases the address again.
 */
export function eraseSubscriber(ctx: Ctx, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  for (const row of listSubscribersByHmac(tx, { pageId, addressHmac })) {
    deleteReportsOf(tx, { subscriberId: row.id });
    // Their mailings count them, and are not done before all of their mails are over.
    cancelMailsOfSubscriber(ctx, tx, row.id);
    if (row.addressKey !== null) {
      deleteRequestsOfAddress(tx, { addressKey: row.addressKey, pageId });
      eraseReportsAbout(tx, row.addressKey);
    }
    deleteSubscriber(tx, { id: row.id });
  }
  eraseSignUpMails(tx, addressHmac, pageId);
  removeNotesOfMails(tx, { addressHmac });
  suppress(ctx, tx, { addressHmac, reason: "erased" });
}

/** Deletes the sign-up mails to an address, and the reports about them: of a page, or of all pages (null). */
function eraseSignUpMails(tx: Tx, hmac: string, pageId: string | null): void {
  const signUps = { subjectId: signUpSubject(hmac), pageId };
  deleteReportsOfSignUps(tx, signUps);
  deleteSignUpMails(tx, signUps);
}

/** Maximum length of an admin's words. */
export const NOTE_MAX = 500;

/** Suppression of a subscriber's address, and the way in which an admin can end it. */
export interface ShownSuppression extends SuppressionRow {
  undo: Undo;
}

type Addressed = Pick<SubscriberRow, "addressHmac" | "pageId">;

/** Lists the suppressions that stop mail to a subscriber. */
export function suppressionsOfSubscriber(
  reader: Reader,
  { addressHmac, pageId }: Addressed,
  now: number,
): ShownSuppression[] {
  return listSuppressionsOf(reader, { addressHmac, pageId })
    .filter(({ reason }) => reason !== "erased")
    .map((row) => ({ ...row, undo: undoOf(reader, row, now) }));
}

/**
 * Ends a suppression of a subscriber's address. `request` are the person's words, needed if the person had
 * declined. Throws `validation_failed`, and `conflict` if an admin cannot end it, or not yet.
 */
export function reactivateSubscriber(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  { reason, request = "" }: { reason: SuppressionReason; request?: string },
  actor: Actor,
): void {
  const now = ctx.clock.now();
  const found = suppressionsOfSubscriber(tx, subscriber, now).find((row) => row.reason === reason);
  if (!found) throw conflict("The address is not suppressed for this reason.");
  const why = endByAdmin(tx, found, { request, now });
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "reactivate",
    summarize: (who) => `Ended the suppression of ${who} ${why}`,
  });
}

/** Stops all mail to a subscriber's address but account mail, on every page. */
export function blockSubscriber(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  note: string,
  actor: Actor,
): void {
  // The suppression and the audit log outlive the address.
  const words = withoutAddresses(note.trim());
  if (words.length > NOTE_MAX) {
    throw invalidFields([
      { pointer: "#/note", detail: `must have at most ${NOTE_MAX} characters` },
    ]);
  }
  const { addressHmac } = subscriber;
  const more = words === "" ? {} : { note: words };
  suppress(ctx, tx, { addressHmac, reason: "blocked", ...more });
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "update",
    summarize: (who) => `Blocked ${who}${words === "" ? "" : `: “${words}”`}`,
  });
}

/** Time within which a mail that is sent again must begin. */
const RESENT_WITHIN_MS = DAY_MS;

/**
 * Queues a new mail of the mailing to which a subscriber's mail belongs, and returns its id. Receivers drop
 * repeated ones, so it has a `Message-ID` of its own. Throws `conflict` if it would not be sent.
 */
export function resendMail(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  mailId: string,
  actor: Actor,
): string {
  const { id: subscriberId, pageId, address, domain, addressHmac } = subscriber;
  const mail = findMailToResend(tx, { id: mailId, subscriberId });
  if (!mail) throw notFound("mail");
  const { mailingId, subjectId, template, params } = mail;
  if (mailingId === null) {
    throw conflict("Only messages about events can be sent again.");
  }
  if (subscriber.status !== "active" || address === null) {
    throw conflict("The subscription has ended, so nothing is sent.");
  }
  const stop = findSuppression(tx, { addressHmac, pageId, kind: "mailing" });
  if (stop) throw conflict("The address is suppressed, so nothing is sent.");
  if (findPage(tx, { id: pageId })?.visibility !== "public") {
    throw conflict("The page is not public, so nothing is sent.");
  }
  if (mail.mailingState === "held" || mail.mailingState === "stopped") {
    throw conflict(`The mailing is ${mail.mailingState}, so nothing of it is sent.`);
  }
  if (mail.status === "superseded") {
    throw conflict("A newer message contains what this one said.");
  }
  if (mail.eventId === null) {
    throw conflict("The event of the message is no longer stored.");
  }
  const last = findLastCopy(tx, { mailingId, subscriberId });
  if (mail.status === "pending" || last?.status === "pending") {
    throw conflict("The message is already waiting to be sent.");
  }
  const [id = ""] = enqueueMails(ctx, tx, [
    {
      class: 3,
      recipient: { address, domain },
      subjectId,
      template,
      params,
      subscriberId,
      mailingId,
      copy: (last?.copy ?? 0) + 1,
      expiresAt: ctx.clock.now() + RESENT_WITHIN_MS,
    },
  ]);
  const summary = `Sent a message to ${maskAddress(address)} again`;
  audit(ctx, tx, actor, "mailing.resend", mailingId, summary);
  return id;
}

interface Erasure {
  /** Number of subscriptions that were erased, one for a page. */
  subscriptions: number;
  /** Number of sign-ups that were erased. */
  requests: number;
}

/**
 * Deletes everything about an address: subscriptions, sign-ups, mails and the relay's replies, of one page or
 * of all. A mark is left, by which a restored backup erases the address again. Suppressions stay: they are
 * kept without the address.
 */
export function eraseAddress(
  ctx: Ctx,
  tx: Tx,
  { address, key }: Pick<MailAddress, "address" | "key">,
  page: PageRow | undefined,
  actor: Actor,
): Erasure {
  const hmac = addressHmac(ensureMailKey(ctx, tx), key);
  const rows = listSubscribersOfAddress(tx, { addressHmac: hmac }).filter(
    ({ pageId }) => page === undefined || pageId === page.id,
  );
  const pageId = page?.id ?? null;
  const requests = deleteRequestsOfAddress(tx, { addressKey: key, pageId });
  for (const row of rows) eraseSubscriber(ctx, tx, row);
  eraseSignUpMails(tx, hmac, pageId);
  // Unmatched reports name addresses that never subscribed, too.
  eraseReportsAbout(tx, key);
  removeNotesOfMails(tx, { addressHmac: hmac });
  suppress(ctx, tx, { addressHmac: hmac, reason: "erased" });
  const counts = `${plural(rows.length, "subscription")}, ${plural(requests, "sign-up")}`;
  const who = `${maskAddress(address)} from ${page?.name ?? "all pages"}`;
  audit(ctx, tx, actor, "subscriber.erase", page?.id ?? "subscribers", `Erased ${who}: ${counts}`);
  return { subscriptions: rows.length, requests };
}

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
    Bun.deepEquals(current.events.toSorted(), choices.events.toSorted()) &&
    (choices.language === undefined || choices.language === subscriber.language);
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
  const { addressKey, pageId, tokenVersion } = subscriber;
  updateSubscriberRow(tx, { ...changedRow(ctx, subscriber), tokenVersion: tokenVersion + 1 });
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
function auditSubscriber(
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

/** Maximum length of the words of a consent, in code points. */
export const CONSENT_MAX = 1_000;

/** Address whose owner has already consented, by the team's word. */
interface ConsentedAddress {
  pageId: string;
  address: MailAddress;
  /** Choices that name only what exists. */
  choices: RequestedChoices;
  source: Exclude<ConsentSource, "form">;
  /** Words by which the consent is documented. */
  consent: string;
}

type ConsentResult =
  | { result: "added"; subscriber: SubscriberRow }
  /** Is a subscriber already, whose choices stay. */
  | { result: "subscribed"; subscriber: SubscriberRow }
  /** Only the person can begin a subscription that ended, by confirming. */
  | { result: "suppressed"; reason: SuppressionReason };

/**
 * Subscribes an address without a mail. A person who unsubscribed, declined, complained, bounced or is blocked is
 * not brought back. `actor` is null for an import, which has an audit entry of its own.
 */
export function addConsentedSubscriber(
  ctx: Ctx,
  tx: Tx,
  { pageId, address, choices, source, consent }: ConsentedAddress,
  actor: Actor | null,
): ConsentResult {
  const { key: addressKey } = address;
  const current = findSubscriberByAddress(tx, { pageId, addressKey });
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  // A mark of an erased address stops nothing.
  const stop = listSuppressionsOf(tx, { addressHmac: hmac, pageId }).find(
    ({ reason }) => reason !== "erased",
  );
  if (stop) return { result: "suppressed", reason: stop.reason };
  if (current?.status === "active") return { result: "subscribed", subscriber: current };
  if (current) return { result: "suppressed", reason: "unsubscribed" };
  const enrolment = { pageId, address: address.address, addressKey, choices };
  const subscriber = enrol(
    ctx,
    tx,
    enrolment,
    { current, hmac },
    {
      confirmedAt: ctx.clock.now(),
      consentSource: source,
      consentText: consent,
      consentIp: null,
    },
  );
  if (actor) {
    auditSubscriber(ctx, tx, actor, subscriber, {
      action: "add",
      summarize: (who, page) => `Subscribed ${who} to ${page} by an earlier consent`,
    });
  }
  return { result: "added", subscriber };
}

const ConsentBody = Type.Object({ consent: Text({ minLength: 1, maxLength: CONSENT_MAX }) });

/** Returns the words of a consent, trimmed. Throws `validation_failed` for `consent`. */
export function readConsent(text: string): string {
  return validate(ConsentBody, { consent: text.trim() }).consent;
}

/** Time for which the address of an unsubscribed person, and subscribers of a deleted page, are kept. */
const KEPT_MS = 30 * DAY_MS;

/** Limits of one transaction. Deleting a subscriber deletes mails as well. */
const ROWS_PER_RUN = 500;

const SUBSCRIBERS_PER_RUN = 50;

/** Pages of the search index, of 4 KB each, that one transaction rewrites. */
const PAGES_PER_RUN = 100;

/**
 * Deletes expired sign-ups, addresses of people who unsubscribed, subscribers of deleted pages, deleted
 * components in selections, and client addresses of consents from before `addressesUntil`. Times are unix ms. Returns true if more may be left.
 */
export function sweepSubscribers(
  tx: Tx,
  { now, addressesUntil }: { now: number; addressesUntil: number },
): boolean {
  const limit = ROWS_PER_RUN;
  const counts = [
    deleteExpiredRequests(tx, { now, limit }),
    removeOldAddresses(tx, { until: now - KEPT_MS, limit }),
    removeConsentAddresses(tx, { until: addressesUntil, limit }),
  ];
  const deleted = findDeletedTarget(tx, {});
  if (deleted) counts.push(deleteChoicesOfTarget(tx, { ...deleted, limit }));
  mergeSearchIndex(tx, { pages: PAGES_PER_RUN });
  const until = now - KEPT_MS;
  const ofOldPages = listSubscribersOfOldPages(tx, { until, limit: SUBSCRIBERS_PER_RUN });
  for (const { id, pageId, addressHmac } of ofOldPages) {
    deleteReportsOf(tx, { subscriberId: id });
    eraseSignUpMails(tx, addressHmac, pageId);
    deleteSubscriber(tx, { id });
  }
  return counts.includes(limit) || ofOldPages.length === SUBSCRIBERS_PER_RUN || !!deleted;
}
