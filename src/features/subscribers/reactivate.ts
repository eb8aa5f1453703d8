import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import type { SuppressionReason } from "../../domain/mail";
import { invalidFields, Problem } from "../../errors";
import { DAY_MS } from "../../kernel/time";
import {
  endSuppressions,
  listSuppressionsOf,
  suppress,
  type SuppressionRow,
  withoutAddresses,
} from "../mail";
import { setReactivated, type SubscriberRow } from "./store";
import { auditSubscriber } from "./team";

/** Time after which an admin may end a suppression after bounces again. */
export const REACTIVATION_WAIT_MS = 7 * DAY_MS;
/** Maximum length of an admin's words. */
export const NOTE_MAX = 500;

/**
 * Condition for an admin to end a suppression: none, a week since the last time, or the person's request in
 * words. `person`: only the person can, by confirming again.
 */
const ENDED_BY_ADMIN: Readonly<Record<SuppressionReason, "free" | "wait" | "words" | "person">> = {
  bounced: "wait",
  soft: "wait",
  complained: "person",
  unsubscribed: "person",
  declined: "words",
  blocked: "free",
  erased: "person",
};

/** Suppression of a subscriber's address, and the way in which an admin can end it. */
export interface ShownSuppression extends SuppressionRow {
  /** `waiting`: an admin did so less than a week ago. */
  end: "free" | "words" | "person" | "waiting";
}

type Addressed = Pick<SubscriberRow, "addressHmac" | "pageId" | "reactivatedAt">;

/** Lists the suppressions that stop mail to a subscriber. */
export function suppressionsOfSubscriber(
  reader: Reader,
  { addressHmac, pageId, reactivatedAt }: Addressed,
  now: number,
): ShownSuppression[] {
  const isWaiting = reactivatedAt !== null && now - reactivatedAt < REACTIVATION_WAIT_MS;
  return listSuppressionsOf(reader, { addressHmac, pageId })
    .filter(({ reason }) => reason !== "erased")
    .map((row) => {
      const rule = ENDED_BY_ADMIN[row.reason];
      return { ...row, end: rule === "wait" ? (isWaiting ? "waiting" : "free") : rule };
    });
}

type Services = Pick<AppContext, "clock">;

/**
 * Ends a suppression of a subscriber's address. `request` are the person's words, needed if the person had
 * declined. Throws `conflict` if an admin cannot end it, or not yet.
 */
export function reactivateSubscriber(
  ctx: Services,
  tx: Tx,
  subscriber: SubscriberRow,
  { reason, request = "" }: { reason: SuppressionReason; request?: string },
  actor: Actor,
): void {
  const now = ctx.clock.now();
  const found = suppressionsOfSubscriber(tx, subscriber, now).find((row) => row.reason === reason);
  if (!found) throw new Problem("conflict", "The address is not suppressed for this reason.");
  if (found.end === "person") {
    throw new Problem("conflict", "Only the person can end this, by confirming a subscription.");
  }
  if (found.end === "waiting") {
    throw new Problem(
      "conflict",
      "An admin ended this less than 7 days ago, and mail failed again.",
    );
  }
  const words = request.trim();
  if (found.end === "words" && (words === "" || words.length > NOTE_MAX)) {
    const detail = `must have 1 to ${NOTE_MAX} characters`;
    throw invalidFields([{ pointer: "#/request", detail }]);
  }
  const { addressHmac } = subscriber;
  const hasBounced = reason === "bounced" || reason === "soft";
  endSuppressions(tx, addressHmac, hasBounced ? ["bounced", "soft"] : [reason]);
  if (hasBounced) setReactivated(tx, { addressHmac, now });
  auditSubscriber(ctx, tx, actor, subscriber, {
    action: "reactivate",
    summarize: (who) =>
      `Ended the suppression of ${who} (${reason})${found.end === "words" ? `: “${withoutAddresses(words)}”` : ""}`,
  });
}

/** Stops all mail to a subscriber's address but account mail, on every page. */
export function blockSubscriber(
  ctx: Services,
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
