import type { Actor } from "../../base/actor";
import { conflict, type FieldError, invalidFields, notFound, Problem } from "../../base/errors";
import {
  type ConsentSource,
  type MailAddress,
  maskAddress,
  parseMailAddress,
  SUBSCRIBER_EVENTS,
  type SubscriberEvent,
  type SuppressionReason,
} from "../../base/mail-address";
import { plural } from "../../base/text";
import { DAY_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { audit } from "../../events/audit";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import { cancelMailsOfSubscriber, enqueueMails, type NewMail } from "../mail/mail";
import { eraseReportsAbout } from "../mail/reports";
import { withoutAddresses } from "../mail/reply";
import {
  listSuppressionsOf,
  removeNotesOfMails,
  type SuppressionRow,
} from "../mail/suppression-store";
import { endByAdmin, findSuppression, suppress, type Undo, undoOf } from "../mail/suppressions";
import { addressHmac, ensureMailKey, type MailKey } from "../mail/tokens";
import { takesSubscribers } from "../pages/mail";
import { getPage } from "../pages/pages";
import { findPage, findPageBySlug, findPageOrDeleted, type PageRow } from "../pages/store";
import {
  decideSignUp,
  LONGEST_WAIT_MS,
  REQUEST_LIFETIME_MS,
  type SignUpFacts,
  type SignUpMail,
} from "./rules";
import {
  deleteChoices,
  deleteReportsOf,
  deleteReportsOfSignUps,
  deleteRequestsOfAddress,
  deleteSignUpMails,
  deleteSubscriber,
  findLastAudience,
  findLastCopy,
  findLastSeq,
  findMailToResend,
  findSubscriber,
  findSubscriberByAddress,
  insertChoice,
  insertRequest,
  insertSubscriber,
  listChoices,
  listSentToRecipient,
  listSignUpMails,
  listSubscribersByHmac,
  listSubscribersOfAddress,
  listWaitingRequests,
  type RequestRow,
  setRequestState,
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

/** Events of a subscription for which none are named. */
const DEFAULT_EVENTS: readonly SubscriberEvent[] = ["incidents", "maintenance"];

/** Choices as a form sends them. */
export interface TypedChoices {
  scope: string;
  components: readonly string[];
  groups: readonly string[];
  events: readonly string[];
}

/** Components and groups of a page that can be chosen. */
export interface Choosable {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export function readChoosable(reader: Reader, pageId: string): Choosable {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}

/**
 * Returns the choices of a form, or its errors. `needsEvents` is true where a form without any event is an
 * error, and not one that leaves the choice to the default.
 */
export function parseChoices(
  typed: TypedChoices,
  { components, groups }: Choosable,
  { needsEvents }: { needsEvents: boolean },
): { choices: RequestedChoices } | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const { scope } = typed;
  if (scope !== "page" && scope !== "selection") {
    errors.push({ pointer: "#/scope", detail: "Choose everything or a selection." });
  }
  const targets = scope === "selection" ? [...typed.groups, ...typed.components] : [];
  const known = new Set([...components, ...groups].map(({ id }) => id));
  if (targets.some((id) => !known.has(id))) {
    const detail = "A component that you chose no longer exists. Check the selection.";
    errors.push({ pointer: "#/component", detail });
  } else if (scope === "selection" && targets.length === 0) {
    errors.push({ pointer: "#/component", detail: "Choose at least one component." });
  }
  const events = SUBSCRIBER_EVENTS.filter((event) => typed.events.includes(event));
  const hasUnknown = typed.events.some((event) => !(events as string[]).includes(event));
  if (hasUnknown || (needsEvents && events.length === 0)) {
    errors.push({ pointer: "#/events", detail: "Choose at least one kind of message." });
  }
  if (errors.length > 0) return { errors };
  return {
    choices: {
      scope: scope as RequestedChoices["scope"],
      targets: [...new Set(targets)],
      events: events.length > 0 ? events : [...DEFAULT_EVENTS],
    },
  };
}

/** Returns the choices without components and groups that no longer exist. */
export function existingChoices(
  choices: RequestedChoices,
  { components, groups }: Choosable,
): RequestedChoices {
  const known = new Set([...components, ...groups].map(({ id }) => id));
  return { ...choices, targets: choices.targets.filter((id) => known.has(id)) };
}

/** Returns the names of chosen groups and components, in the order of the page. */
export function namesOfTargets(
  targets: readonly string[],
  { components, groups }: Choosable,
): string[] {
  const chosen = new Set(targets);
  return [...groups, ...components].filter(({ id }) => chosen.has(id)).map(({ name }) => name);
}

/** Returns the current choices of a subscriber. */
export function choicesOf(
  reader: Reader,
  { id, scope, events }: Pick<SubscriberRow, "id" | "scope" | "events">,
): RequestedChoices {
  const targets = listChoices(reader, { subscriberId: id }).map(({ targetId }) => targetId);
  return { scope, targets, events };
}

/** Stores the components and groups of a subscriber. */
function storeTargets(tx: Tx, subscriberId: string, targets: readonly string[]): void {
  deleteChoices(tx, { subscriberId });
  for (const targetId of targets) insertChoice(tx, { targetId, subscriberId });
}

/** Changes the choices of a subscriber. */
export function changeChoices(
  { clock }: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  { scope, events, targets }: RequestedChoices,
): void {
  const { version } = subscriber;
  const updatedAt = clock.now();
  updateSubscriberRow(tx, { ...subscriber, scope, events, version: version + 1, updatedAt });
  storeTargets(tx, subscriber.id, targets);
}

/**
 * Ends the subscription of a subscriber's address to the page, also one that was made later, and cancels its
 * pending mails. Links for managing become invalid. Calling it again changes nothing.
 */
export function unsubscribe(ctx: Ctx, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  const now = ctx.clock.now();
  for (const row of listSubscribersByHmac(tx, { pageId, addressHmac })) {
    if (row.status !== "active") continue;
    updateSubscriberRow(tx, {
      ...row,
      status: "unsubscribed",
      unsubscribedAt: now,
      tokenVersion: row.tokenVersion + 1,
      version: row.version + 1,
      updatedAt: now,
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
  const subjectId = signUpSubject(addressHmac);
  deleteReportsOfSignUps(tx, { subjectId, pageId });
  deleteSignUpMails(tx, { subjectId, pageId });
  removeNotesOfMails(tx, { addressHmac });
  suppress(ctx, tx, { addressHmac, reason: "erased" });
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
    throw new Problem("conflict", "Only messages about events can be sent again.");
  }
  if (subscriber.status !== "active" || address === null) {
    throw new Problem("conflict", "The subscription has ended, so nothing is sent.");
  }
  const stop = findSuppression(tx, { addressHmac, pageId, kind: "mailing" });
  if (stop) throw new Problem("conflict", "The address is suppressed, so nothing is sent.");
  if (findPage(tx, { id: pageId })?.visibility !== "public") {
    throw new Problem("conflict", "The page is not public, so nothing is sent.");
  }
  if (mail.mailingState === "held" || mail.mailingState === "stopped") {
    throw new Problem("conflict", `The mailing is ${mail.mailingState}, so nothing of it is sent.`);
  }
  if (mail.status === "superseded") {
    throw new Problem("conflict", "A newer message contains what this one said.");
  }
  if (mail.eventId === null) {
    throw new Problem("conflict", "The event of the message is no longer stored.");
  }
  const last = findLastCopy(tx, { mailingId, subscriberId });
  if (mail.status === "pending" || last?.status === "pending") {
    throw new Problem("conflict", "The message is already waiting to be sent.");
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
  const subjectId = signUpSubject(hmac);
  const rows = listSubscribersOfAddress(tx, { addressHmac: hmac }).filter(
    ({ pageId }) => page === undefined || pageId === page.id,
  );
  const pageId = page?.id ?? null;
  const requests = deleteRequestsOfAddress(tx, { addressKey: key, pageId });
  for (const row of rows) eraseSubscriber(ctx, tx, row);
  deleteReportsOfSignUps(tx, { subjectId, pageId });
  deleteSignUpMails(tx, { subjectId, pageId });
  // Unmatched reports name addresses that never subscribed, too.
  eraseReportsAbout(tx, key);
  removeNotesOfMails(tx, { addressHmac: hmac });
  suppress(ctx, tx, { addressHmac: hmac, reason: "erased" });
  const counts = `${plural(rows.length, "subscription")}, ${plural(requests, "sign-up")}`;
  const who = `${maskAddress(address)} from ${page?.name ?? "all pages"}`;
  audit(ctx, tx, actor, "subscriber.erase", page?.id ?? "subscribers", `Erased ${who}: ${counts}`);
  return { subscriptions: rows.length, requests };
}

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
function readSignUpFacts(
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

/** Maximum length of a text that an error repeats. */
const SHOWN_MAX = 63;
/** Slugs of a file that are remembered. They are those of few pages. */
const SLUGS_MAX = 1_000;

/** Choices as people write them: refs, with or without the page's slug, and kinds of events. */
interface WrittenChoices {
  components: readonly string[];
  groups: readonly string[];
  events: readonly string[];
}

/** Reads choices of one page. */
interface ChoicesReader {
  /** Returns true for the page's slug, and for an earlier one. */
  isPage(slug: string): boolean;
  /** Returns the choices, or the reason why they are none. Without components and groups they are for the page. */
  read(written: WrittenChoices): RequestedChoices | string;
}

/** Returns a reader of choices, with the page's components and groups as they are now. */
export function createChoicesReader(reader: Reader, page: PageRow): ChoicesReader {
  const { id: pageId } = page;
  const components = new Map(
    listComponentsOfPage(reader, { pageId }).map((row) => [row.ref, row.id]),
  );
  const groups = new Map(listGroups(reader, { pageId }).map((row) => [row.ref, row.id]));
  const slugs = new Map<string, boolean>();

  function isPage(slug: string): boolean {
    if (slug === page.slug) return true;
    const isKnown = slugs.get(slug) ?? findPageBySlug(reader, { slug })?.id === pageId;
    if (slugs.size < SLUGS_MAX) slugs.set(slug, isKnown);
    return isKnown;
  }

  /** Returns the ids of refs, or the first ref that is unknown. */
  function resolve(
    refs: readonly string[],
    ids: ReadonlyMap<string, string>,
  ): { ids: string[] } | { unknown: string } {
    const found: string[] = [];
    for (const name of refs) {
      const [, slug, ref = ""] = /^(?:([^/:]*)[/:])?(.*)$/s.exec(name) ?? [];
      const id = slug === undefined || isPage(slug) ? ids.get(ref) : undefined;
      if (id === undefined) return { unknown: name };
      found.push(id);
    }
    return { ids: found };
  }

  return {
    isPage,
    read(written) {
      const ofComponents = resolve(written.components, components);
      if ("unknown" in ofComponents)
        return `components: there is no ${shown(ofComponents.unknown)}`;
      const ofGroups = resolve(written.groups, groups);
      if ("unknown" in ofGroups) return `groups: there is no ${shown(ofGroups.unknown)}`;
      const unknown = written.events.find((event) => !isEvent(event));
      if (unknown !== undefined) {
        return `events: ${shown(unknown)} is none of ${SUBSCRIBER_EVENTS.join(", ")}`;
      }
      const targets = [...new Set([...ofGroups.ids, ...ofComponents.ids])];
      const events = SUBSCRIBER_EVENTS.filter((event) => written.events.includes(event));
      return {
        scope: targets.length > 0 ? "selection" : "page",
        targets,
        events: events.length > 0 ? events : [...DEFAULT_EVENTS],
      };
    },
  };
}

function isEvent(text: string): text is SubscriberEvent {
  return (SUBSCRIBER_EVENTS as readonly string[]).includes(text);
}

/** Returns the beginning of a text, for an error. */
export function shown(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** Refs of a page's components and groups by their ids. */
export interface RefsOfPage {
  components: ReadonlyMap<string, string>;
  groups: ReadonlyMap<string, string>;
}

export function readRefs(reader: Reader, pageId: string): RefsOfPage {
  return {
    components: new Map(listComponentsOfPage(reader, { pageId }).map(({ id, ref }) => [id, ref])),
    groups: new Map(listGroups(reader, { pageId }).map(({ id, ref }) => [id, ref])),
  };
}

/** Returns the refs of chosen components and groups. */
export function refsOf(
  targets: readonly string[],
  { components, groups }: RefsOfPage,
): { components: string[]; groups: string[] } {
  return {
    components: targets.flatMap((id) => components.get(id) ?? []),
    groups: targets.flatMap((id) => groups.get(id) ?? []),
  };
}
