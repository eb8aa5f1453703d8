import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { SUPPRESSION_REASONS, type SuppressionReason } from "../../domain/mail";
import { maskAddress } from "../../domain/mail-address";
import { conflict, invalidFields, notFound } from "../../errors";
import { audit } from "../../events";
import { codePointLength } from "../../kernel/text";
import { DAY_MS } from "../../kernel/time";
import { findSetting, putSetting } from "../settings";
import { withoutAddresses } from "./smtp/reply";
import {
  findOfAddress,
  type KnownSuppression,
  listOfAddress,
  listOfReason,
} from "./suppression-list-store";
import { endSuppressions, findMark } from "./suppressions";

/** Time after which an admin may end a suppression after failures of the same address again. */
const UNDO_WAIT_MS = 7 * DAY_MS;
const REQUEST_MAX = 500;

/** Setting with the addresses, by their marks, whose suppressions an admin ended, and the times (unix ms). */
const UNDONE = "mail_undone";
const UNDONE_MAX = 1_000;

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

/** Suppression, and how an admin can end it. */
export interface ListedSuppression extends KnownSuppression {
  /** `waiting`: an admin did so less than 7 days ago; `request`: with the person's request in words. */
  undo: "possible" | "request" | "waiting" | "person";
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

/** Returns a suppression that counts for the installation. Throws `not_found`. */
export function getSuppressed(
  reader: Reader,
  { addressHmac, reason: name }: { addressHmac: string; reason: string },
  now: number,
): ListedSuppression {
  const reason = SUPPRESSION_REASONS.find((one) => one === name);
  const row = reason && findOfAddress(reader, { addressHmac, reason });
  const [found] = row ? listed(reader, [row], now) : [];
  if (!found) throw notFound("suppression");
  return found;
}

/**
 * Ends a suppression. `request` are the person's words, needed if the person had declined. Throws `not_found`,
 * `validation_failed`, and `conflict` if an admin cannot end it, or not yet.
 */
export function undoSuppression(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  of: { addressHmac: string; reason: string; request: string },
  actor: Actor,
): void {
  const now = ctx.clock.now();
  const { addressHmac, reason, undo, address, subscriberId, mailId } = getSuppressed(tx, of, now);
  if (undo === "person") {
    throw conflict("Only the person can end this, by confirming a subscription.");
  }
  if (undo === "waiting") {
    throw conflict("This was ended less than 7 days ago, and mail to the address failed again.");
  }
  const words = of.request.trim();
  if (undo === "request" && (words === "" || codePointLength(words) > REQUEST_MAX)) {
    const detail = `must have the person's request in at most ${REQUEST_MAX} characters`;
    throw invalidFields([{ pointer: "#/request", detail }]);
  }
  const hasFailed = UNDO_RULES[reason] === "weekly";
  endSuppressions(tx, addressHmac, hasFailed ? ["bounced", "soft"] : [reason]);
  if (hasFailed) markUndone(tx, addressHmac, now);
  const who = address === null ? "an address that is not stored" : maskAddress(address);
  const request = undo === "request" ? `: “${withoutAddresses(words)}”` : "";
  const summary = `Ended the suppression of ${who} (${reason})${request}`;
  audit(ctx, tx, actor, "subscriber.reactivate", subscriberId ?? mailId ?? "mail", summary);
}

/** Returns the time at which an admin last ended suppressions of an address after failures, within 7 days (unix ms). */
export function undoneAt(reader: Reader, addressHmac: string): number | undefined {
  return readUndone(reader)[addressHmac];
}

function listed(
  reader: Reader,
  rows: readonly KnownSuppression[],
  now: number,
): ListedSuppression[] {
  const undone = readUndone(reader);
  return rows.map((row) => {
    const rule = UNDO_RULES[row.reason];
    const isWaiting = rule === "weekly" && now - (undone[row.addressHmac] ?? 0) < UNDO_WAIT_MS;
    if (isWaiting) return { ...row, undo: "waiting" };
    return { ...row, undo: rule === null ? "person" : rule === "request" ? rule : "possible" };
  });
}

function readUndone(reader: Reader): Record<string, number> {
  return (findSetting(reader, { name: UNDONE })?.value as Record<string, number> | undefined) ?? {};
}

function markUndone(tx: Tx, addressHmac: string, now: number): void {
  const recent = Object.entries({ ...readUndone(tx), [addressHmac]: now })
    .filter(([, at]) => now - at < UNDO_WAIT_MS)
    .slice(-UNDONE_MAX);
  putSetting(tx, { name: UNDONE, value: Object.fromEntries(recent), now });
}
