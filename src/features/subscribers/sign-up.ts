import { Type } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import { type ClientAddress, networksOfSite } from "../../base/client-address";
import type { Timer } from "../../base/clock";
import { Problem } from "../../base/errors";
import type { ConsentSource, MailAddress, SuppressionReason } from "../../base/mail-address";
import { Text } from "../../base/schema";
import { plural } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import { validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { ENDED_BY_CONFIRMING } from "../mail/rules";
import { listSuppressionsOf } from "../mail/suppression-store";
import { endSuppressions, findSuppression, suppress } from "../mail/suppressions";
import {
  addressHmac,
  ensureMailKey,
  findMailKey,
  isTokenOf,
  type LinkPurpose,
  type MailKey,
  subjectOfToken,
  tokenOf,
} from "../mail/tokens";
import { startWaitingRows } from "../outgoing/waiting-rows";
import type { DomainPage } from "../pages/custom-domains";
import { takesSubscribers } from "../pages/mail";
import { pageBaseUrl } from "../pages/addresses";
import { findPageOrDeleted, type PageRow } from "../pages/store";
import {
  CLIENT_LIMITS,
  clientWait,
  HOURLY_LIMITS,
  hourlyLimit,
  REQUEST_LIFETIME_MS,
  SAMPLE_SIZE,
  SITE_LIMITS,
  STORED_HOURLY,
} from "./rules";
import {
  declineRequestsOfAddress,
  findNthOfAll,
  findNthOfPage,
  findNthStored,
  findRequest,
  findSubscriber,
  findSubscriberByAddress,
  insertRequest,
  listBusyPages,
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
import {
  auditSubscriber,
  decideSignUps,
  enrol,
  existingChoices,
  readChoosable,
  type SignUpResult,
} from "./subscribers";

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
  if (waitMs > 0) throw tooMany("Too many people are signing up.", waitMs);
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

function tooMany(reason: string, waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  const wait =
    waitMs < MINUTE_MS
      ? plural(seconds, "second")
      : plural(Math.ceil(waitMs / MINUTE_MS), "minute");
  return new Problem("rate_limited", `${reason} Try again in ${wait}.`, {
    headers: { "Retry-After": String(seconds) },
  });
}

/** Returns the text to which a person agrees by confirming, as it is shown and stored. */
export function consentText(page: Pick<PageRow, "name">): string {
  return `Messages about ${page.name} will be sent to this address. Every message has a link to unsubscribe.`;
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
    if (current?.status !== "active") throw deadLink(page);
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
      consentText: consentText(page),
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

/** Earlier versions of a subscriber's links that are recognised, so that their page is named. */
const OLD_VERSIONS_MAX = 20;

/** Circumstances of a request for a link. */
export interface LinkUse {
  /** Page whose custom domain the request was sent to; undefined on every other host. */
  domain: DomainPage | undefined;
  /** Unix ms. */
  now: number;
}

/** Sign-up that a link of a confirmation mail names. */
interface RequestLink {
  request: RequestRow;
  page: PageRow;
}

/** Subscriber whom a link names. */
export interface SubscriberLink {
  subscriber: SubscriberRow;
  page: PageRow;
}

/**
 * Returns the sign-up of a link that confirms it. A sign-up that was confirmed already is found too. Throws
 * `not_found`, with a link to the page's form where the token was right once.
 */
export function openConfirmation(reader: Reader, token: string, use: LinkUse): RequestLink {
  const link = findRequestLink(reader, "confirm", token, use);
  const { request, page } = link;
  const isOpen = request.state === "sent" || request.state === "confirmed";
  if (!isOpen || use.now >= request.expiresAt || !takesSubscribers(page)) throw deadLink(page);
  return link;
}

/** Returns the sign-up of a link that declines further mails. Throws `not_found`. */
export function openDecline(reader: Reader, token: string, use: LinkUse): RequestLink {
  return findRequestLink(reader, "decline", token, use);
}

function findRequestLink(
  reader: Reader,
  purpose: "confirm" | "decline",
  token: string,
  use: LinkUse,
): RequestLink {
  const { key, id } = readToken(reader, token, "mrq_");
  if (!isTokenOf(key, purpose, { id }, token)) throw deadLink();
  const request = findRequest(reader, { id });
  const page = request && findPageOrDeleted(reader, { id: request.pageId });
  if (!request || !page) throw deadLink();
  requireOwnHost(page, use);
  return { request, page };
}

/** Returns the subscriber of a link for managing. Throws `not_found`. */
export function openManagement(reader: Reader, token: string, use: LinkUse): SubscriberLink {
  const { key, id } = readToken(reader, token, "sub_");
  const subscriber = findSubscriber(reader, { id });
  const page = subscriber && findPageOrDeleted(reader, { id: subscriber.pageId });
  if (!subscriber || !page) throw deadLink();
  const { tokenVersion: version } = subscriber;
  const isRight = isTokenOf(key, "manage", { id, version }, token);
  if (!isRight && !isEarlier(key, subscriber, token)) throw deadLink();
  requireOwnHost(page, use);
  if (!isRight || subscriber.status !== "active") throw deadLink(page);
  return { subscriber, page };
}

/** Returns true for a link from before the last change of the version. */
function isEarlier(key: MailKey, { id, tokenVersion }: SubscriberRow, token: string): boolean {
  const oldest = Math.max(1, tokenVersion - OLD_VERSIONS_MAX);
  for (let version = tokenVersion - 1; version >= oldest; version--) {
    if (isTokenOf(key, "manage", { id, version }, token)) return true;
  }
  return false;
}

/**
 * Returns the subscriber of a link for unsubscribing; undefined if the subscriber was erased, since the link is
 * right for ever. Throws `not_found`.
 */
export function openUnsubscribing(
  reader: Reader,
  token: string,
  use: LinkUse,
): SubscriberLink | undefined {
  const { key, id } = readToken(reader, token, "sub_");
  if (!isTokenOf(key, "unsubscribe", { id }, token)) throw deadLink();
  const subscriber = findSubscriber(reader, { id });
  const page = subscriber && findPageOrDeleted(reader, { id: subscriber.pageId });
  if (!subscriber || !page) return undefined;
  requireOwnHost(page, use);
  return { subscriber, page };
}

function readToken(reader: Reader, token: string, prefix: string): { key: MailKey; id: string } {
  const id = subjectOfToken(token);
  const key = id?.startsWith(prefix) ? findMailKey(reader) : undefined;
  if (id === undefined || !key) throw deadLink();
  return { key, id };
}

/** Throws `not_found` on a custom domain of another page. Deleted pages have no domain. */
function requireOwnHost(page: PageRow, { domain }: LinkUse): void {
  if (domain && (page.deletedAt !== null || !domain.slugs.has(page.slug))) throw deadLink();
}

/** Returns the error of a link that is unknown or has ended. `page` is the one that it was once for. */
export function deadLink(page?: PageRow): Problem {
  const detail = "This link is unknown, has expired or was replaced.";
  if (!page || page.visibility !== "public" || page.deletedAt !== null) {
    return new Problem("not_found", detail);
  }
  const next = { path: `/status/${page.slug}/subscribe`, label: "Subscribe again" };
  return new Problem("not_found", detail, { next });
}

/** Returns the address of a link in a mail: on the page's own domain, where it has one. */
export function mailLink(
  baseUrl: string,
  page: PageRow,
  purpose: LinkPurpose,
  token: string,
): string {
  const isServed = page.deletedAt === null && page.visibility === "public";
  return `${isServed ? pageBaseUrl(baseUrl, page) : baseUrl}${mailPath(purpose, token)}`;
}

/** Returns the path of a link in a mail. */
export function mailPath(purpose: LinkPurpose, token: string): string {
  return `/mail/${purpose}/${token}`;
}

/** Returns the path at which a subscriber manages the subscription. */
export function managePath(reader: Reader, { id, tokenVersion: version }: SubscriberRow): string {
  const key = findMailKey(reader);
  if (!key) throw new Error("there is no key, although there is a subscriber");
  return mailPath("manage", tokenOf(key, "manage", { id, version }));
}
