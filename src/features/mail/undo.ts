import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { maskAddress, SUPPRESSION_REASONS, type SuppressionReason } from "../../base/mail-address";
import { conflict, invalidFields, notFound } from "../../base/errors";
import { audit } from "../../events/audit";
import { codePointLength } from "../../base/text";
import { DAY_MS } from "../../base/time";
import { ALERTS_AS_PAGE } from "./alert-stop-store";
import { withoutAddresses } from "./smtp/reply";
import {
  findOfAddress,
  type KnownSuppression,
  listOfAddress,
  listOfReason,
} from "./suppression-list-store";
import type { SuppressionRow } from "./suppression-store";
import { endSuppressions, findMark } from "./suppressions";
import { findUndo, putUndo } from "./undo-store";

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
