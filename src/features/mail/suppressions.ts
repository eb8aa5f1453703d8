import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import {
  parseStoredAddress,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from "../../base/mail-address";
import type { MailRow } from "./queue-store";
import { isSecondBounce, isSoftBounce, isStoppedBy, type MailKind } from "./rules";
import {
  countSuppressions,
  deleteSuppression,
  findFailuresOf,
  findFirstBounce,
  findLastConfirmation,
  listSuppressionsOf,
  listSuppressionsOfSubscriber,
  putSuppression,
  setFailures,
  type SuppressionRow,
} from "./suppression-store";
import { addressHmac, ensureMailKey, findMailKey } from "./tokens";
import { findUndo } from "./undo-store";

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
export function findMark(reader: Reader, address: string): string | undefined {
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
