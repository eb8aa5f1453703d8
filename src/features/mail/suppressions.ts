import type { Actor } from "../../base/actor";
import { conflict, invalidFields, notFound } from "../../base/errors";
import {
  maskAddress,
  parseStoredAddress,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from "../../base/mail-address";
import { codePointLength } from "../../base/text";
import { DAY_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { ALERTS_AS_PAGE } from "./alert-stop-store";
import { isSecondBounce, isSoftBounce, isStoppedBy, type MailKind } from "./rules";
import { withoutAddresses } from "./reply";
import type { MailRow } from "./store";
import {
  countSuppressions,
  deleteSuppression,
  findFailuresOf,
  findFirstBounce,
  findLastConfirmation,
  findOfAddress,
  findUndo,
  type KnownSuppression,
  listOfAddress,
  listOfReason,
  listSuppressionsOf,
  listSuppressionsOfSubscriber,
  putSuppression,
  putUndo,
  setFailures,
  type SuppressionRow,
} from "./suppression-store";
import { addressHmac, ensureMailKey, findMailKey } from "./tokens";

/** Page of suppressions that count for the installation. */
const ALL_PAGES = "";

/** Suppression to be made. */
interface NewSuppression {
  addressHmac: string;
  reason: SuppressionReason;
  /** Page of the reason `unsubscribed`, or `ALERTS_AS_PAGE`; the others count for the installation. */
  pageId?: string;
  /** Mail that caused it. */
  mailId?: string;
  /** Words of the relay, of a report or of the admin who made it. */
  note?: string;
}

/** Stops mails of a kind to an address: see `isStoppedBy`. */
export function suppress(
  { clock }: Ctx,
  tx: Tx,
  { addressHmac: hmac, reason, pageId = ALL_PAGES, mailId, note }: NewSuppression,
): void {
  if ((reason === "unsubscribed") !== (pageId !== ALL_PAGES)) {
    throw new Error("suppressions by unsubscribing, and no others, count for one page");
  }
  const cause = { mailId: mailId ?? null, note: note ?? null, at: clock.now() };
  putSuppression(tx, { addressHmac: hmac, pageId, reason, ...cause });
}

/** Ends suppressions of an address by their reasons; `unsubscribed` only for that page. Returns their number. */
export function endSuppressions(
  tx: Tx,
  hmac: string,
  reasons: readonly SuppressionReason[],
  page?: string,
): number {
  let ended = 0;
  for (const reason of reasons) {
    const pageId = reason === "unsubscribed" ? page : ALL_PAGES;
    if (pageId !== undefined) ended += deleteSuppression(tx, { addressHmac: hmac, pageId, reason });
  }
  if (reasons.includes("soft")) setFailures(tx, { ...NO_FAILURES, addressHmac: hmac });
  return ended;
}

/**
 * Returns the time (unix ms) from which failures and complaints count for an address: when an admin last ended its
 * suppression, or when the person last confirmed. 0 if neither has happened.
 */
export function countedSince(reader: Reader, hmac: string): number {
  const undoneAt = findUndo(reader, { addressHmac: hmac })?.at ?? 0;
  return Math.max(undoneAt, findLastConfirmation(reader, { addressHmac: hmac })?.at ?? 0);
}

/** Returns the number of suppressions of each reason. */
export function countSuppressedAddresses(
  reader: Reader,
): { reason: SuppressionReason; count: number }[] {
  const counts = new Map(countSuppressions(reader, {}).map((row) => [row.reason, row.count]));
  return SUPPRESSION_REASONS.map((reason) => ({ reason, count: counts.get(reason) ?? 0 }));
}

/** Finds a suppression that stops a kind of mail to an address, for a page or for no page. */
export function findSuppression(
  reader: Reader,
  {
    addressHmac: hmac,
    pageId,
    kind,
  }: { addressHmac: string; pageId: string | null; kind: MailKind },
): SuppressionRow | undefined {
  return listSuppressionsOf(reader, { addressHmac: hmac, pageId }).find(({ reason }) =>
    isStoppedBy(reason, kind),
  );
}

type Addressed = Pick<MailRow, "recipient" | "subscriberId">;

/** True if an alert or a mail of a mailing must not be sent to its recipient. Other mails are checked when queued. */
export function isSuppressed(
  reader: Reader,
  mail: Addressed & Pick<MailRow, "class"> & { pageId: string | null },
): boolean {
  const { subscriberId, pageId } = mail;
  if (mail.class === 1) return false;
  const kind = mail.class === 3 ? "mailing" : "alert";
  const found =
    subscriberId === null
      ? suppressionsOf(reader, mail.recipient)
      : listSuppressionsOfSubscriber(reader, { subscriberId, pageId });
  return found.some(({ reason }) => isStoppedBy(reason, kind));
}

function suppressionsOf(reader: Reader, recipient: string): Pick<SuppressionRow, "reason">[] {
  const hmac = hmacOf(reader, recipient);
  return hmac === undefined ? [] : listSuppressionsOf(reader, { addressHmac: hmac, pageId: null });
}

const NO_FAILURES = { softFailures: 0, softSince: null };

/** Resets the failures of an address after a success. `softFailures` are those of the subscriber, if there is one. */
export function resetFailures(
  tx: Tx,
  { subscriberId, recipient, softFailures }: Addressed & { softFailures: number | null },
): void {
  if (subscriberId === null) {
    const hmac = hmacOf(tx, recipient);
    if (hmac !== undefined) endSuppressions(tx, hmac, ["soft"]);
    return;
  }
  if (softFailures === 0) return;
  const failures = findFailuresOf(tx, { subscriberId });
  if (failures) endSuppressions(tx, failures.addressHmac, ["soft"]);
}

/** Counts a final failure that is not about the address. The third one suppresses it, if a week lies between. */
export function addFailure(
  ctx: Ctx,
  tx: Tx,
  { subscriberId }: Addressed,
  cause: { mailId: string; note: string },
): void {
  const failures = subscriberId === null ? undefined : findFailuresOf(tx, { subscriberId });
  if (!failures) return;
  const now = ctx.clock.now();
  const softFailures = failures.softFailures + 1;
  const softSince = failures.softSince ?? now;
  setFailures(tx, { addressHmac: failures.addressHmac, softFailures, softSince });
  if (!isSoftBounce(softFailures, softSince, now)) return;
  suppress(ctx, tx, { addressHmac: failures.addressHmac, reason: "soft", ...cause });
}

/**
 * Suppresses an address to which a mail bounced: at once, or without certainty if an earlier mail to the
 * subscriber bounced at least a day ago.
 */
export function addBounce(
  ctx: Ctx,
  tx: Tx,
  { subscriberId, recipient }: Addressed,
  isCertain: boolean,
  cause: { mailId: string; note: string },
): void {
  const subscriber = subscriberId === null ? undefined : findFailuresOf(tx, { subscriberId });
  if (!isCertain) {
    if (subscriberId === null || !subscriber) return;
    const since = countedSince(tx, subscriber.addressHmac);
    const first = findFirstBounce(tx, { subscriberId, since })?.at ?? null;
    if (!isSecondBounce(first, ctx.clock.now())) return;
  }
  const hmac = subscriber?.addressHmac ?? markOfAddress(ctx, tx, recipient);
  suppress(ctx, tx, { addressHmac: hmac, reason: "bounced", ...cause });
}

/** Returns the mark of a mail's recipient. */
export function markOfRecipient(ctx: Ctx, tx: Tx, { subscriberId, recipient }: Addressed): string {
  const subscriber = subscriberId === null ? undefined : findFailuresOf(tx, { subscriberId });
  return subscriber?.addressHmac ?? markOfAddress(ctx, tx, recipient);
}

/** Returns the mark of an address in any spelling. */
export function markOfAddress(ctx: Ctx, tx: Tx, address: string): string {
  return addressHmac(ensureMailKey(ctx, tx), parsedKeyOf(address));
}

/** Returns the mark of an address in any spelling; undefined if no address was ever marked. */
function findMark(reader: Reader, address: string): string | undefined {
  const key = findMailKey(reader);
  return key && addressHmac(key, parsedKeyOf(address));
}

function parsedKeyOf(address: string): string {
  const parsed = parseStoredAddress(address, { allowUtf8Local: true });
  return "error" in parsed ? keyOf(address) : parsed.key;
}

/** Returns the mark of an address; undefined if no address was ever marked. */
function hmacOf(reader: Reader, recipient: string): string | undefined {
  const key = findMailKey(reader);
  return key && addressHmac(key, keyOf(recipient));
}

/** Returns the address in lower case, which is the same for all spellings. */
function keyOf(recipient: string): string {
  return recipient.toLowerCase();
}

/** Time after which an admin may end a suppression after failures of the same address again. */
export const UNDO_WAIT_MS = 7 * DAY_MS;
/** Maximum length of a person's request. */
const REQUEST_MAX = 500;

/** Condition under which an admin can end a suppression; null if only the person can. */
const UNDO_RULES: Readonly<Record<SuppressionReason, "free" | "weekly" | "request" | null>> = {
  bounced: "weekly",
  soft: "weekly",
  complained: null,
  unsubscribed: null,
  declined: "request",
  blocked: "free",
  erased: null,
};

/**
 * Way in which an admin can end a suppression. `waiting`: not yet, since an admin did so less than 7 days ago;
 * `request`: with the person's request in words; `person`: only the person can, by confirming again.
 */
export type Undo = "possible" | "request" | "waiting" | "person";

type OfAddress = Pick<SuppressionRow, "addressHmac" | "pageId" | "reason">;

/** Returns the way in which an admin can end a suppression at `now` (unix ms). */
export function undoOf(
  reader: Reader,
  { addressHmac, pageId, reason }: OfAddress,
  now: number,
): Undo {
  const rule = pageId === ALERTS_AS_PAGE ? "request" : UNDO_RULES[reason];
  if (rule === null) return "person";
  if (rule !== "weekly") return rule === "request" ? rule : "possible";
  const undone = findUndo(reader, { addressHmac });
  return undone && now - undone.at < UNDO_WAIT_MS ? "waiting" : "possible";
}

/**
 * Ends a suppression for an admin, and returns its reason for the audit log. `request` are the person's words,
 * needed if the person had declined or stopped alerts. After failures, `bounced` and `soft` end together.
 * Throws `validation_failed`, and `conflict` if an admin cannot end it, or not yet.
 */
export function endByAdmin(
  tx: Tx,
  of: OfAddress,
  { request, now }: { request: string; now: number },
): string {
  const { addressHmac, pageId, reason } = of;
  const undo = undoOf(tx, of, now);
  if (undo === "person") {
    throw conflict("Only the person can end this, by confirming a subscription.");
  }
  if (undo === "waiting") {
    throw conflict("This was ended less than 7 days ago, and mail to the address failed again.");
  }
  const words = request.trim();
  if (undo === "request" && (words === "" || codePointLength(words) > REQUEST_MAX)) {
    const detail = `must have 1 to ${REQUEST_MAX} characters`;
    throw invalidFields([{ pointer: "#/request", detail }]);
  }
  const hasFailed = UNDO_RULES[reason] === "weekly";
  endSuppressions(tx, addressHmac, hasFailed ? ["bounced", "soft"] : [reason], pageId);
  if (hasFailed) putUndo(tx, { addressHmac, at: now });
  const why = pageId === ALERTS_AS_PAGE ? "stopped alerts" : reason;
  return undo === "request" ? `(${why}): “${withoutAddresses(words)}”` : `(${why})`;
}

/** Suppression, and how an admin can end it. */
export interface ListedSuppression extends KnownSuppression {
  undo: Undo;
}

/** Number of suppressions on one part of the list. */
const PART = 50;

/** Lists a part of the suppressions of one reason, newest first. */
export function listSuppressed(
  reader: Reader,
  reason: SuppressionReason,
  before: { at: number; addressHmac: string } | undefined,
  now: number,
): { suppressed: ListedSuppression[]; hasMore: boolean } {
  const position = {
    beforeAt: before?.at ?? Number.MAX_SAFE_INTEGER,
    beforeHmac: before?.addressHmac ?? "",
  };
  const rows = listOfReason(reader, { reason, ...position, limit: PART + 1 });
  return { suppressed: listed(reader, rows.slice(0, PART), now), hasMore: rows.length > PART };
}

/** Lists the suppressions of an address in any spelling; marks of erased addresses are none. */
export function suppressionsOfAddress(
  reader: Reader,
  address: string,
  now: number,
): ListedSuppression[] {
  const mark = findMark(reader, address);
  const rows = mark === undefined ? [] : listOfAddress(reader, { addressHmac: mark });
  const shown = rows.filter(({ reason }) => reason !== "erased");
  return listed(reader, shown, now);
}

/**
 * Returns a suppression that counts for the installation; by the reason `unsubscribed`, the one of alerts. Throws
 * `not_found`.
 */
export function getSuppressed(
  reader: Reader,
  { addressHmac, reason: name }: { addressHmac: string; reason: string },
  now: number,
): ListedSuppression {
  const reason = SUPPRESSION_REASONS.find((one) => one === name);
  const pageId = reason === "unsubscribed" ? ALERTS_AS_PAGE : "";
  const row = reason && findOfAddress(reader, { addressHmac, pageId, reason });
  const [found] = row ? listed(reader, [row], now) : [];
  if (!found) throw notFound("suppression");
  return found;
}

/**
 * Ends a suppression. `request` are the person's words, needed if the person had declined. Throws `not_found`,
 * `validation_failed`, and `conflict` if an admin cannot end it, or not yet.
 */
export function undoSuppression(
  ctx: Ctx,
  tx: Tx,
  of: { addressHmac: string; reason: string; request: string },
  actor: Actor,
): void {
  const now = ctx.clock.now();
  const found = getSuppressed(tx, of, now);
  const why = endByAdmin(tx, found, { request: of.request, now });
  const { address, subscriberId, mailId } = found;
  const who = address === null ? "an address that is not stored" : maskAddress(address);
  const summary = `Ended the suppression of ${who} ${why}`;
  audit(ctx, tx, actor, "subscriber.reactivate", subscriberId ?? mailId ?? "mail", summary);
}

function listed(
  reader: Reader,
  rows: readonly KnownSuppression[],
  now: number,
): ListedSuppression[] {
  return rows.map((row) => ({ ...row, undo: undoOf(reader, row, now) }));
}
