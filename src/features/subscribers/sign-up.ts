/*
 * Sign-ups: a person asks on a page, or the team asks the person. A request stores the sign-up, the worker decides a
 * moment later which mail it gets, so that the answer tells nothing about the address, and the link of the mail confirms.
 */
import type { Actor } from "../../base/actor";
import { type ClientAddress, networksOfSite } from "../../base/client-address";
import type { Timer } from "../../base/clock";
import { Problem } from "../../base/errors";
import {
  type ConsentSource,
  type MailAddress,
  maskAddress,
  parseMailAddress,
} from "../../base/mail-address";
import { plural } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { audit } from "../../events/audit";
import { type MessageKey, wordsOf } from "../../languages/words";
import { enqueueMails, type NewMail } from "../mail/mail";
import { ENDED_BY_CONFIRMING } from "../mail/rules";
import { listSuppressionsOf } from "../mail/suppression-store";
import { endSuppressions, findSuppression, suppress } from "../mail/suppressions";
import { addressHmac, ensureMailKey, type MailKey } from "../mail/tokens";
import { startWaitingRows } from "../sending/waiting-rows";
import { takesSubscribers } from "../pages/mail";
import { getPage } from "../pages/pages";
import { languageFor } from "../pages/rules";
import { findPage, type PageRow } from "../pages/store";
import { existingChoices, readChoosable } from "./choices";
import { deadLink, type RequestLink } from "./links";
import {
  CLIENT_LIMITS,
  clientWait,
  decideSignUp,
  HOURLY_LIMITS,
  hourlyLimit,
  LONGEST_WAIT_MS,
  REQUEST_LIFETIME_MS,
  SAMPLE_SIZE,
  type SignUpFacts,
  type SignUpMail,
  signUpSubject,
  SITE_LIMITS,
  STORED_HOURLY,
} from "./rules";
import {
  declineRequestsOfAddress,
  findNthOfAll,
  findNthOfPage,
  findNthStored,
  findSubscriberByAddress,
  insertRequest,
  listBusyPages,
  listSentToRecipient,
  listSignUpMails,
  listStatesOfAll,
  listStatesOfPage,
  listTimesOfClient,
  listTimesOfSite,
  listWaitingRequests,
  type RequestRow,
  setRequestState,
  type SubscriberRow,
  voidOpenRequests,
} from "./store";
import { enrol } from "./subscribers";

interface SignUp {
  pageId: string;
  address: MailAddress;
  choices: RequestedChoices;
  client: ClientAddress;
  /** True if a program filled in the field that people do not see. It gets no mail. */
  isByProgram: boolean;
}

/**
 * Stores a sign-up, about which `decideSignUps` decides later. The statements are the same whatever is known
 * of the address. Throws `rate_limited`.
 */
export function requestSubscription(
  ctx: Ctx,
  tx: Tx,
  { pageId, address, choices, client, isByProgram }: SignUp,
): void {
  const now = ctx.clock.now();
  requireRoomForClient(tx, client, now);
  const waitMs = Math.max(signUpWait(tx, pageId, now), storageWait(tx, now));
  if (waitMs > 0) throw tooMany("Too many people are signing up.", waitMs, "failure.crowded");
  insertRequest(tx, {
    id: ctx.newId("mrq"),
    pageId,
    address: address.address,
    addressKey: address.key,
    throttleKey: address.throttleKey,
    choices,
    source: "form",
    ip: client.ip,
    clientKey: client.network,
    requestedAt: now,
    expiresAt: now + REQUEST_LIFETIME_MS,
    state: isByProgram ? "unsent" : "waiting",
  });
  tx.afterCommit(() => ctx.signals.signUpsRequested.emit());
}

function requireRoomForClient(tx: Tx, client: ClientAddress, now: number): void {
  const since = now - DAY_MS;
  const ofClient = listTimesOfClient(tx, {
    clientKey: client.network,
    since,
    limit: longestOf(CLIENT_LIMITS),
  });
  const site = networksOfSite(client);
  const ofSite = site ? listTimesOfSite(tx, { ...site, since, limit: longestOf(SITE_LIMITS) }) : [];
  const wait =
    clientWait(CLIENT_LIMITS, timesOf(ofClient), now) ??
    clientWait(SITE_LIMITS, timesOf(ofSite), now);
  if (wait) throw tooMany(`The limit of ${wait.text} is used up.`, wait.waitMs);
}

function longestOf(limits: typeof CLIENT_LIMITS): number {
  return Math.max(...limits.map(({ count }) => count));
}

function timesOf(rows: readonly { at: number }[]): number[] {
  return rows.map(({ at }) => at);
}

/**
 * Returns the milliseconds until a page takes sign-ups again; 0 if it does now. The limits of an hour, for the
 * page and the installation, are lower while hardly any earlier sign-up was confirmed.
 */
function signUpWait(reader: Reader, pageId: string, now: number): number {
  const since = now - HOUR_MS;
  const sample = { until: since, limit: SAMPLE_SIZE };
  const forPage = hourlyLimit(
    HOURLY_LIMITS.page,
    sampleOf(listStatesOfPage(reader, { ...sample, pageId })),
  );
  const forAll = hourlyLimit(HOURLY_LIMITS.installation, sampleOf(listStatesOfAll(reader, sample)));
  const oldest = [
    findNthOfPage(reader, { pageId, since, skipped: forPage - 1 }),
    findNthOfAll(reader, { since, skipped: forAll - 1 }),
  ];
  return Math.max(0, ...oldest.map((row) => (row ? row.at + HOUR_MS - now : 0)));
}

/**
 * Returns the milliseconds until another sign-up can be stored; 0 if it can now. Sign-ups that get no mail
 * count as well: there could be any number of them from many clients.
 */
function storageWait(reader: Reader, now: number): number {
  const oldest = findNthStored(reader, { since: now - HOUR_MS, skipped: STORED_HOURLY - 1 });
  return oldest ? oldest.at + HOUR_MS - now : 0;
}

/** Returns the ids of pages that take no sign-ups now, since too many people sign up. */
export function listCrowdedPages(reader: Reader, now: number): string[] {
  const { reduced } = HOURLY_LIMITS.page;
  // With fewer sign-ups, no limit of the page is used up; that of the installation counts for all.
  return listBusyPages(reader, { since: now - HOUR_MS, count: reduced })
    .map(({ pageId }) => pageId)
    .filter((pageId) => signUpWait(reader, pageId, now) > 0);
}

/** Counts the confirmed sign-ups. Those that another of the same address made void count, declined ones do not. */
function sampleOf(rows: readonly { state: string }[]) {
  const confirmed = rows.filter(({ state }) => state === "confirmed" || state === "void");
  return { sampled: rows.length, confirmed: confirmed.length };
}

function tooMany(reason: string, waitMs: number, said?: MessageKey): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  const wait =
    waitMs < MINUTE_MS
      ? plural(seconds, "second")
      : plural(Math.ceil(waitMs / MINUTE_MS), "minute");
  return new Problem("rate_limited", `${reason} Try again in ${wait}.`, {
    headers: { "Retry-After": String(seconds) },
    ...(said && { said }),
  });
}

/** Returns the text to which a person agrees by confirming, as it is shown and stored. */
export function consentText(
  page: Pick<PageRow, "name" | "locale" | "languages">,
  language: string | null | undefined,
): string {
  return wordsOf(languageFor(page, language)).t("confirm.consent", { page: page.name });
}

/**
 * Subscribes the address of a sign-up with the choices of it, and makes the address's other sign-ups on the
 * page void. A sign-up that was confirmed already changes nothing. Throws `not_found` if that subscription
 * has ended, or if the address gets no mail.
 */
export function confirmSignUp(
  ctx: Ctx,
  tx: Tx,
  { request, page }: RequestLink,
  ip: string,
): SubscriberRow {
  const { pageId, addressKey } = request;
  const current = findSubscriberByAddress(tx, { pageId, addressKey });
  if (request.state === "confirmed") {
    if (current?.status !== "active") throw deadLink(page, request.choices.language);
    return current;
  }
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  if (findSuppression(tx, { addressHmac: hmac, pageId, kind: "confirmation" })) throw deadLink();
  const isRenewed = endSuppressions(tx, hmac, ENDED_BY_CONFIRMING, pageId) > 0;
  const choices = existingChoices(request.choices, readChoosable(tx, pageId));
  const { address, source } = request;
  const enrolment = { pageId, address, addressKey, choices };
  const subscriber = enrol(
    ctx,
    tx,
    enrolment,
    { current, hmac, isRenewed },
    {
      confirmedAt: ctx.clock.now(),
      consentSource: source,
      consentText: consentText(page, choices.language),
      consentIp: ip,
    },
  );
  setRequestState(tx, { id: request.id, state: "confirmed" });
  voidOpenRequests(tx, { addressKey, pageId, except: request.id });
  return subscriber;
}

/** Stops all sign-up mails to the address of a sign-up, for every page, and ends its open sign-ups. */
export function declineSignUps(
  ctx: Ctx,
  tx: Tx,
  { addressKey }: Pick<RequestRow, "addressKey">,
): void {
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  suppress(ctx, tx, { addressHmac: hmac, reason: "declined" });
  declineRequestsOfAddress(tx, { addressKey });
}

/** Counters of the sign-ups since the start. */
export interface SignUpFigures {
  decided(result: SignUpResult): number;
}

/** Decides about sign-ups a moment after they arrive, and about those that an earlier process left. */
export function startSignUps(ctx: Ctx): Timer & SignUpFigures {
  const counts = new Map<SignUpResult, number>();
  const worker = startWaitingRows(ctx, {
    signal: ctx.signals.signUpsRequested,
    hasWaiting: () => listWaitingRequests(ctx.db, { limit: 1 }).length > 0,
    work(tx) {
      const results = decideSignUps(ctx, tx);
      tx.afterCommit(() => {
        for (const result of results) counts.set(result, (counts.get(result) ?? 0) + 1);
      });
    },
    failed: "sign-ups wait for the database",
  });
  return { decided: (result) => counts.get(result) ?? 0, cancel: () => worker.cancel() };
}

/** Sign-ups that one transaction decides about. */
const REQUESTS_PER_BATCH = 50;

/** Sign-up mails to one recipient and to one address that are read: more than the limits allow. */
const RECENT_MAX = 10;

const EARLIER_MAX = 200;

/** Results of the decision about a sign-up: the queued mail, or none. */
export const SIGN_UP_RESULTS = ["confirmation", "already_subscribed", "none"] as const;

type SignUpResult = (typeof SIGN_UP_RESULTS)[number];

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
