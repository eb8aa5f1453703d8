import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import {
  addressHmac,
  ENDED_BY_CONFIRMING,
  endSuppressions,
  ensureMailKey,
  findSuppression,
  suppress,
} from "../mail";
import type { PageRow } from "../pages";
import { existingChoices, readChoosable, storeTargets } from "./choices";
import { deadLink, type RequestLink } from "./links";
import {
  declineRequestsOfAddress,
  type RequestRow,
  setRequestState,
  voidOpenRequests,
} from "./request-store";
import {
  findLastAudience,
  findLastSeq,
  findSubscriberByAddress,
  insertSubscriber,
  type SubscriberRow,
  updateSubscriberRow,
} from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "random">;

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
  ctx: Services,
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
  const subscriber = subscribe(ctx, tx, { request, page }, { current, hmac, ip });
  setRequestState(tx, { id: request.id, state: "confirmed" });
  voidOpenRequests(tx, { addressKey, pageId, except: request.id });
  endSuppressions(tx, hmac, ENDED_BY_CONFIRMING, pageId);
  return subscriber;
}

function subscribe(
  ctx: Services,
  tx: Tx,
  { request, page }: RequestLink,
  found: { current: SubscriberRow | undefined; hmac: string; ip: string },
): SubscriberRow {
  const { current, hmac, ip } = found;
  const { pageId, address, addressKey } = request;
  const choices = existingChoices(request.choices, readChoosable(tx, pageId));
  const now = ctx.clock.now();
  const wasActive = current?.status === "active";
  const row: SubscriberRow = {
    id: current?.id ?? ctx.newId("sub"),
    // The audience of a mailing are those confirmed before it.
    seq: wasActive ? current.seq : nextSeq(tx),
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
    // New choices are no new consent: its time, words and client stay those of one moment.
    ...(wasActive ? consentOf(current) : newConsent(page, request.source, ip, now)),
    softFailures: 0,
    softSince: null,
    reactivatedAt: current?.reactivatedAt ?? null,
    version: (current?.version ?? 0) + 1,
    createdAt: current?.createdAt ?? now,
    updatedAt: now,
  };
  if (current) updateSubscriberRow(tx, row);
  else insertSubscriber(tx, row);
  storeTargets(tx, row.id, choices.targets);
  return row;
}

type Consent = Pick<SubscriberRow, "confirmedAt" | "consentSource" | "consentText" | "consentIp">;

function consentOf({ confirmedAt, consentSource, consentText, consentIp }: Consent): Consent {
  return { confirmedAt, consentSource, consentText, consentIp };
}

function newConsent(page: PageRow, source: RequestRow["source"], ip: string, now: number): Consent {
  return {
    confirmedAt: now,
    consentSource: source,
    consentText: consentText(page),
    consentIp: ip,
  };
}

/** Returns a number that no subscriber and no audience has had. The last subscriber may have been erased. */
function nextSeq(tx: Tx): number {
  return Math.max(findLastSeq(tx, {})?.seq ?? 0, findLastAudience(tx, {})?.seq ?? 0) + 1;
}

/** Stops all sign-up mails to the address of a sign-up, for every page, and ends its open sign-ups. */
export function declineSignUps(
  ctx: Pick<AppContext, "clock" | "random">,
  tx: Tx,
  { addressKey }: Pick<RequestRow, "addressKey">,
): void {
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  suppress(ctx, tx, { addressHmac: hmac, reason: "declined" });
  declineRequestsOfAddress(tx, { addressKey });
}
