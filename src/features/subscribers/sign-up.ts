import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import type { MailAddress } from "../../base/mail-address";
import { Problem } from "../../base/errors";
import { type ClientAddress, networksOfSite } from "../../base/client-address";
import { plural } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import {
  findNthOfAll,
  findNthOfPage,
  findNthStored,
  insertRequest,
  listBusyPages,
  listStatesOfAll,
  listStatesOfPage,
  listTimesOfClient,
  listTimesOfSite,
} from "./request-store";
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
