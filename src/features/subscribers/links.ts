/*
 * Links in mails to subscribers: what they open, and their addresses. A link works on its page's own domain or the public
 * address; one that is unknown or has ended is `not_found`.
 */
import { Problem } from "../../base/errors";
import type { Reader } from "../../db/statements";
import { wordsOf } from "../../languages/words";
import {
  findMailKey,
  isTokenOf,
  type LinkPurpose,
  type MailKey,
  subjectOfToken,
  tokenOf,
} from "../mail/tokens";
import { linkedLanguage, withLanguage } from "../pages/language-links";
import { type DomainPage, pageBaseUrl } from "../pages/addresses";
import { takesSubscribers } from "../pages/mail";
import { findPageOrDeleted, type PageRow } from "../pages/store";
import { findRequest, findSubscriber, type RequestRow, type SubscriberRow } from "./store";

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
export interface RequestLink {
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
  if (!isOpen || use.now >= request.expiresAt || !takesSubscribers(page)) {
    throw deadLink(page, request.choices.language);
  }
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
  if (!isRight || subscriber.status !== "active") throw deadLink(page, subscriber.language);
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

/**
 * Returns the error of a link that is unknown or has ended. `page` is the one that it was once for, `language` that of the
 * person.
 */
export function deadLink(page?: PageRow, language?: string | null): Problem {
  const { t } = wordsOf("en");
  const said = "failure.link_text";
  if (!page || page.visibility !== "public" || page.deletedAt !== null) {
    return new Problem("not_found", t(said), { said });
  }
  const path = withLanguage(`/status/${page.slug}/subscribe`, linkedLanguage(page, language));
  const next = { path, label: t("subscribe.again"), said: "subscribe.again" } as const;
  return new Problem("not_found", t(said), { said, next });
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
