/*
 * Mails to users: how they are queued and found again, and those that no change queues at once, about forgotten passwords
 * and keys that expire. Their texts are in `letters.ts`.
 */
import type { Role } from "../../base/actor";
import { type ClientAddress, networksOfSite } from "../../base/client-address";
import type { Timer } from "../../base/clock";
import { parseStoredAddress } from "../../base/mail-address";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { enqueueMails } from "../mail/mail";
import { mailReadiness } from "../mail/settings";
import { listMailsAbout } from "../mail/store";
import { startWaitingRows } from "../sending/waiting-rows";
import { declareSwitch } from "../settings/settings";
import {
  canonicalEmail,
  canUsePassword,
  emailError,
  isLive,
  WARNING_DAYS,
  warningStep,
} from "./rules";
import {
  deleteKeyWarningsBefore,
  deletePasswordRequestsBefore,
  type ExpiringKeyRow,
  findNthRequest,
  findNthRequestOf,
  findNthRequestOfSite,
  findUser,
  findUserRowByEmail,
  findWarnedKey,
  insertKeyWarning,
  insertPasswordRequest,
  listExpiringKeyRows,
  listKeyWarnings,
  listLiveOwners,
  listWaitingPasswordRequests,
  setRequestAddress,
  type UserRow,
} from "./store";
import { EMAIL_MAX_LENGTH } from "./wire";

/** Place of the change of a password. */
export type PasswordChange = "account" | "link" | "command";

/** Change of a second factor, about which its user gets a mail. Times in unix ms. */
export type SecondFactorChange =
  | { change: "on" | "off" | "recovery_codes_created" }
  | { change: "reset"; by: "owner" | "command" }
  /** `left`: number of recovery codes that are not used yet. */
  | { change: "recovery_code_used"; left: number }
  /** `until`: end of the pause after wrong codes. */
  | { change: "codes_refused"; until: number };

/** Mail to a user, with the values that it is written from. */
export type UserMail =
  | { template: "invitation"; params: { by: string } }
  | { template: "password_reset"; params: Record<never, never> }
  | { template: "password_changed"; params: { by: PasswordChange; at: number } }
  | { template: "recovered"; params: { at: number; role: Role } }
  | { template: "connected"; params: { system: string; label: string; at: number } }
  | { template: "second_factor"; params: SecondFactorChange & { at: number } }
  | { template: "expiring_keys"; params: { keys: string[] } };

type UserTemplate = UserMail["template"];

/** Class of each mail, and the time after which it is not sent any more. */
const SENDING: Record<UserTemplate, { class: 1 | 2; lastsMs: number }> = {
  invitation: { class: 1, lastsMs: 7 * DAY_MS },
  password_reset: { class: 1, lastsMs: HOUR_MS },
  password_changed: { class: 1, lastsMs: 3 * DAY_MS },
  recovered: { class: 1, lastsMs: 3 * DAY_MS },
  connected: { class: 1, lastsMs: 3 * DAY_MS },
  second_factor: { class: 1, lastsMs: 3 * DAY_MS },
  expiring_keys: { class: 2, lastsMs: 3 * DAY_MS },
};

/** Queues a mail to a user, and returns true. Returns false if mail is not ready, or the email is no address for mail. */
export function mailUser(
  ctx: Ctx,
  tx: Tx,
  { id, email }: Pick<UserRow, "id" | "email">,
  mail: UserMail,
): boolean {
  const recipient = parseStoredAddress(email, { allowUtf8Local: true });
  if ("error" in recipient || !mailReadiness(ctx).ready) return false;
  const { lastsMs, ...sending } = SENDING[mail.template];
  const expiresAt = ctx.clock.now() + lastsMs;
  enqueueMails(ctx, tx, [{ ...mail, ...sending, recipient, subjectId: id, expiresAt }]);
  return true;
}

/** Queues the mail that tells a user of a changed password. */
export function mailChangedPassword(ctx: Ctx, tx: Tx, user: UserRow, by: PasswordChange): void {
  const params = { by, at: ctx.clock.now() };
  mailUser(ctx, tx, user, { template: "password_changed", params });
}

/** Queues the mail that tells a user of a change of the second factor. */
export function mailSecondFactor(
  ctx: Ctx,
  tx: Tx,
  user: UserRow,
  change: SecondFactorChange,
): void {
  const params = { ...change, at: ctx.clock.now() };
  mailUser(ctx, tx, user, { template: "second_factor", params });
}

/** Lists a user's mails of a kind that were queued after `since` (unix ms), newest first. */
export function listMailsTo(
  reader: Reader,
  userId: string,
  template: UserTemplate,
  { since, limit }: { since: number; limit: number },
) {
  return listMailsAbout(reader, { subjectId: userId, template, since, limit });
}

/** Mails of a user that are read to find the last one with a result. */
const MAILS_READ = 20;

/** Last mail about a user's account, if it did not arrive at the relay. */
export interface MailTrouble {
  template: string;
  /** True if it is tried again. */
  isWaiting: boolean;
  /** Last reply of the relay; null if there was none. */
  reply: string | null;
  /** Time of the failure, or of the queuing of a mail that is tried again (unix ms). */
  at: number;
}

/** Finds the trouble with a user's last account mail; undefined if the relay took it, or there was none. */
export function findMailTrouble(reader: Reader, userId: string): MailTrouble | undefined {
  const mails = listMailsAbout(reader, {
    subjectId: userId,
    template: "",
    since: 0,
    limit: MAILS_READ,
  });
  const last = mails.find(
    ({ class: mailClass, status, tries }) =>
      mailClass === 1 && status !== "cancelled" && (status !== "pending" || tries > 0),
  );
  if (!last || last.status === "sent") return undefined;
  const { template, status, reply, createdAt, finishedAt } = last;
  return { template, isWaiting: status === "pending", reply, at: finishedAt ?? createdAt };
}

/*
 * Requests for a new password by mail. A request is only stored, so that its answer tells nothing about users; the mails
 * are queued later.
 */

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
function hasPasswordRequests(reader: Reader): boolean {
  return listWaitingPasswordRequests(reader, { limit: 1 }).length > 0;
}

/**
 * Queues the mails for the oldest waiting requests, and removes their addresses. Users without a password get
 * none: their invitation lets them choose one.
 */
function decidePasswordRequests(ctx: Ctx, tx: Tx): void {
  const now = ctx.clock.now();
  for (const { id, address, requestedAt } of listWaitingPasswordRequests(tx, {
    limit: REQUESTS_PER_BATCH,
  })) {
    setRequestAddress(tx, { id, address: null });
    const user = findUserRowByEmail(tx, { email: address ?? "" });
    if (!user || !isLive(user) || user.passwordHash === null) continue;
    if (!canUsePassword(ctx.config, user)) continue;
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
function sweepPasswordRequests(tx: Tx, now: number): boolean {
  const some = { until: now - HOUR_MS, limit: ROWS_PER_BATCH };
  return deletePasswordRequestsBefore(tx, some) === ROWS_PER_BATCH;
}

/*
 * Mails before API keys expire: which are due, and to whom.
 */

/** Time after which warnings are forgotten. Their keys have expired by then. */
const KEPT_MS = 60 * DAY_MS;

/** Keys that are read: more than one mail lists. */
const KEYS_MAX = 1_000;

/** Mail about expiring keys, with the step of each: 14 or 3 days. */
interface KeyWarning {
  user: UserRow;
  keys: { id: string; step: number }[];
}

/**
 * Returns the mails about expiring keys that are due now, to creators, else to the owners. A user gets at most
 * one a day, so it also names the keys that would be due within a day.
 */
function dueKeyWarnings(ctx: Ctx, reader: Reader): KeyWarning[] {
  const now = ctx.clock.now();
  const until = now + (Math.max(...WARNING_DAYS) + 1) * DAY_MS;
  const rows = listExpiringKeyRows(reader, { now, until, limit: KEYS_MAX });
  if (rows.length === 0) return [];
  const owners = listLiveOwners(reader, {});
  const warnings = new Map<string, KeyWarning & { isDue: boolean }>();
  for (const row of rows) {
    const recipients = recipientsOf(reader, row, owners);
    const before = listKeyWarnings(reader, { subject: row.id });
    for (const user of recipients) {
      // A warning to someone who is no recipient any more counts as well.
      const steps = before
        .filter(({ recipient }) => !recipients.some(({ id }) => id !== user.id && id === recipient))
        .map(({ step }) => step);
      const isNew = (step: number | undefined) => step !== undefined && step < Math.min(...steps);
      const step = warningStep(row, now + DAY_MS);
      if (step === undefined || !isNew(step)) continue;
      const warning = warnings.get(user.id) ?? { user, keys: [], isDue: false };
      warning.keys.push({ id: row.id, step });
      warning.isDue ||= isNew(warningStep(row, now));
      warnings.set(user.id, warning);
    }
  }
  const since = now - DAY_MS;
  return [...warnings.values()].filter(
    ({ user, isDue }) =>
      isDue &&
      user.warnsOfKeys &&
      listMailsTo(reader, user.id, "expiring_keys", { since, limit: 1 }).length === 0,
  );
}

/** Queues the mails about expiring keys that are due now. */
function warnOfKeys(ctx: Ctx, tx: Tx): void {
  const at = ctx.clock.now();
  for (const { user, keys } of dueKeyWarnings(ctx, tx)) {
    const params = { keys: keys.map(({ id }) => id) };
    if (!mailUser(ctx, tx, user, { template: "expiring_keys", params })) continue;
    for (const { id, step } of keys) {
      insertKeyWarning(tx, { subject: id, step, recipient: user.id, at });
    }
  }
}

function recipientsOf(
  reader: Reader,
  { createdByKind, createdById }: ExpiringKeyRow,
  owners: readonly UserRow[],
): readonly UserRow[] {
  const creator =
    createdByKind === "user" ? findUser(reader, { id: createdById ?? "" }) : undefined;
  return creator && isLive(creator) ? [creator] : owners;
}

/** Returns those of the keys that still work at `now`, the next to expire first. */
export function readWarnedKeys(
  reader: Reader,
  ids: readonly string[],
  now: number,
): { name: string; expiresAt: number; createdById: string | null }[] {
  return ids.flatMap((id) => {
    const { name, expiresAt, revokedAt, createdById } = findWarnedKey(reader, { id }) ?? {};
    if (name === undefined || expiresAt == null || revokedAt !== null || expiresAt <= now)
      return [];
    return [{ name, expiresAt, createdById: createdById ?? null }];
  });
}

/** Deletes warnings of long ago. */
function sweepKeyWarnings(tx: Tx, now: number): void {
  deleteKeyWarningsBefore(tx, { until: now - KEPT_MS });
}

/** Time between two looks for keys that expire soon. */
const LOOK_MS = 10 * MINUTE_MS;

/** Queues the mails for forgotten passwords and expiring keys. */
export function startUserMails(ctx: Ctx): Timer {
  const requests = startWaitingRows(ctx, {
    signal: ctx.signals.passwordsForgotten,
    hasWaiting: () => hasPasswordRequests(ctx.db),
    work: (tx) => decidePasswordRequests(ctx, tx),
    failed: "requests for new passwords wait for the database",
  });

  async function look(): Promise<void> {
    try {
      if (!mailReadiness(ctx).ready) return;
      if (dueKeyWarnings(ctx, ctx.db).length > 0) await ctx.db.write((tx) => warnOfKeys(ctx, tx));
    } catch (error) {
      ctx.log.warn({ err: error }, "mails about expiring keys could not be queued; trying later");
    }
  }

  const timers = [
    requests,
    ctx.clock.after(MINUTE_MS, () => void look()),
    ctx.clock.every(LOOK_MS, () => void look()),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Deletes what no mail to a user needs any more at `now` (unix ms). Returns true if more may be left. */
export function sweepUserMails(tx: Tx, now: number): boolean {
  sweepKeyWarnings(tx, now);
  return sweepPasswordRequests(tx, now);
}
