import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import type { SuppressionReason } from "../../base/mail-address";
import { conflict, invalidFields } from "../../base/errors";
import { endByAdmin, type Undo, undoOf } from "../mail/undo";
import { listSuppressionsOf, type SuppressionRow } from "../mail/suppression-store";
import { suppress } from "../mail/suppressions";
import { withoutAddresses } from "../mail/smtp/reply";
import type { SubscriberRow } from "./store";
import { auditSubscriber } from "./team";

/** Maximum length of an admin's words. */
export const NOTE_MAX = 500;

/** Suppression of a subscriber's address, and the way in which an admin can end it. */
export interface ShownSuppression extends SuppressionRow {
  undo: Undo;
}

type Addressed = Pick<SubscriberRow, "addressHmac" | "pageId">;

/** Lists the suppressions that stop mail to a subscriber. */
export function suppressionsOfSubscriber(
  reader: Reader,
  { addressHmac, pageId }: Addressed,
  now: number,
): ShownSuppression[] {
  return listSuppressionsOf(reader, { addressHmac, pageId })
    .filter(({ reason }) => reason !== "erased")
    .map((row) => ({ ...row, undo: undoOf(reader, row, now) }));
}

/**
 * Ends a suppression of a subscriber's address. `request` are the person's words, needed if the person had
 * declined. Throws `validation_failed`, and `conflict` if an admin cannot end it, or not yet.
 */
export function reactivateSubscriber(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  { reason, request = "" }: { reason: SuppressionReason; request?: string },
  actor: Actor,
): void {
  const now = ctx.clock.now();
  const found = suppressionsOfSubscriber(tx, subscriber, now).find((row) => row.reason === reason);
  if (!found) throw conflict("The address is not suppressed for this reason.");
  const why = endByAdmin(tx, found, { request, now });
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "reactivate",
    summarize: (who) => `Ended the suppression of ${who} ${why}`,
  });
}

/** Stops all mail to a subscriber's address but account mail, on every page. */
export function blockSubscriber(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  note: string,
  actor: Actor,
): void {
  // The suppression and the audit log outlive the address.
  const words = withoutAddresses(note.trim());
  if (words.length > NOTE_MAX) {
    throw invalidFields([
      { pointer: "#/note", detail: `must have at most ${NOTE_MAX} characters` },
    ]);
  }
  const { addressHmac } = subscriber;
  const more = words === "" ? {} : { note: words };
  suppress(ctx, tx, { addressHmac, reason: "blocked", ...more });
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "update",
    summarize: (who) => `Blocked ${who}${words === "" ? "" : `: “${words}”`}`,
  });
}
