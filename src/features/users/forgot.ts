/*
 * Requests for a new password by mail. A request is only stored, so that its answer tells nothing about users; the mails
 * are queued later.
 */
import { type ClientAddress, networksOfSite } from "../../base/client-address";
import { HOUR_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { mailReadiness } from "../mail/settings";
import { declareSwitch } from "../settings/settings";
import { listMailsTo, mailUser } from "./mails";
import { canonicalEmail, emailError, isLive } from "./rules";
import {
  deletePasswordRequestsBefore,
  findNthRequest,
  findNthRequestOf,
  findNthRequestOfSite,
  findUserRowByEmail,
  insertPasswordRequest,
  listWaitingPasswordRequests,
  setRequestAddress,
} from "./store";
import { EMAIL_MAX_LENGTH } from "./wire";

/** Path of the form for a forgotten password. */
export const FORGOT_PATH = "/admin/forgot";

/** Limits of an hour: mails to a user, requests of a client, of a site with many clients, and in all. */
const MAILS_AN_HOUR = 3;

const REQUESTS_OF_CLIENT = 10;

const REQUESTS_OF_SITE = 50;

const REQUESTS_IN_ALL = 20_000;

/** Requests that one transaction decides about. */
const REQUESTS_PER_BATCH = 50;

/** Limit of rows that one transaction deletes. */
const ROWS_PER_BATCH = 500;

/** Links for new passwords by mail, which an owner can turn off. */
export const { read: areResetMailsOn, set: setResetMails } = declareSwitch({
  name: "reset_mails",
  initial: true,
  action: "settings.reset_mails",
  summarize: (isOn) => `Turned password resets by mail ${isOn ? "on" : "off"}`,
});

/** Returns true if users who forgot their password can get a link by mail. */
export function canResetByMail(ctx: Ctx): boolean {
  return areResetMailsOn(ctx.db) && mailReadiness(ctx).ready;
}

/** Returns the email that someone typed as it is looked up, or its error. */
export function forgottenEmail(typed: string): { email: string } | { error: string } {
  const email = canonicalEmail(typed);
  if (email.length > EMAIL_MAX_LENGTH) return { error: "is too long" };
  const error = emailError(email);
  return error === undefined ? { email } : { error };
}

/**
 * Stores that someone forgot the password of an email, about which `decidePasswordRequests` decides later. The
 * statements are the same whether a user has it or not. Returns 0, or the seconds to wait if a limit is used up
 * and nothing was stored.
 */
export function requestPassword(
  ctx: Ctx,
  tx: Tx,
  { email, client }: { email: string; client: ClientAddress },
): number {
  const now = ctx.clock.now();
  const since = now - HOUR_MS;
  const clientKey = client.network;
  const site = networksOfSite(client);
  const oldest = [
    findNthRequestOf(tx, { clientKey, since, skipped: REQUESTS_OF_CLIENT - 1 }),
    site && findNthRequestOfSite(tx, { ...site, since, skipped: REQUESTS_OF_SITE - 1 }),
    findNthRequest(tx, { since, skipped: REQUESTS_IN_ALL - 1 }),
  ];
  const waitMs = Math.max(0, ...oldest.map((row) => (row ? row.at + HOUR_MS - now : 0)));
  if (waitMs > 0) return Math.ceil(waitMs / SECOND_MS);
  insertPasswordRequest(tx, { address: email, clientKey, requestedAt: now });
  tx.afterCommit(() => ctx.signals.passwordsForgotten.emit());
  return 0;
}

/** Returns true if requests wait for a decision. */
export function hasPasswordRequests(reader: Reader): boolean {
  return listWaitingPasswordRequests(reader, { limit: 1 }).length > 0;
}

/**
 * Queues the mails for the oldest waiting requests, and removes their addresses. Users without a password get
 * none: their invitation lets them choose one.
 */
export function decidePasswordRequests(ctx: Ctx, tx: Tx): void {
  const now = ctx.clock.now();
  for (const { id, address, requestedAt } of listWaitingPasswordRequests(tx, {
    limit: REQUESTS_PER_BATCH,
  })) {
    setRequestAddress(tx, { id, address: null });
    const user = findUserRowByEmail(tx, { email: address ?? "" });
    if (!user || !isLive(user) || user.passwordHash === null) continue;
    // A restored backup may hold a request of long ago.
    if (requestedAt <= now - HOUR_MS || !areResetMailsOn(tx)) continue;
    const sent = listMailsTo(tx, user.id, "password_reset", {
      since: now - HOUR_MS,
      limit: MAILS_AN_HOUR,
    });
    if (sent.length < MAILS_AN_HOUR)
      mailUser(ctx, tx, user, { template: "password_reset", params: {} });
  }
}

/** Deletes requests that no limit counts any more at `now` (unix ms). Returns true if more may be left. */
export function sweepPasswordRequests(tx: Tx, now: number): boolean {
  const some = { until: now - HOUR_MS, limit: ROWS_PER_BATCH };
  return deletePasswordRequestsBefore(tx, some) === ROWS_PER_BATCH;
}
