import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { cancelMailsOfSubscriber } from "../mail/queue";
import { eraseReportsAbout } from "../mail/reports/take-reports";
import { removeNotesOfMails } from "../mail/suppression-store";
import { suppress } from "../mail/suppressions";
import { storeTargets } from "./choices";
import { signUpSubject } from "./decide";
import { deleteReportsOf, deleteReportsOfSignUps, deleteSignUpMails } from "./mail-store";
import { deleteRequestsOfAddress, voidConfirmedRequests } from "./request-store";
import {
  deleteSubscriber,
  listSubscribersByHmac,
  type SubscriberRow,
  updateSubscriberRow,
} from "./store";

/** Changes the choices of a subscriber. */
export function changeChoices(
  { clock }: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  { scope, events, targets }: RequestedChoices,
): void {
  const { version } = subscriber;
  const updatedAt = clock.now();
  updateSubscriberRow(tx, { ...subscriber, scope, events, version: version + 1, updatedAt });
  storeTargets(tx, subscriber.id, targets);
}

/**
 * Ends the subscription of a subscriber's address to the page, also one that was made later, and cancels its
 * pending mails. Links for managing become invalid. Calling it again changes nothing.
 */
export function unsubscribe(ctx: Ctx, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  const now = ctx.clock.now();
  for (const row of listSubscribersByHmac(tx, { pageId, addressHmac })) {
    if (row.status !== "active") continue;
    updateSubscriberRow(tx, {
      ...row,
      status: "unsubscribed",
      unsubscribedAt: now,
      tokenVersion: row.tokenVersion + 1,
      version: row.version + 1,
      updatedAt: now,
    });
    cancelMailsOfSubscriber(ctx, tx, row.id);
    if (row.addressKey !== null) voidConfirmedRequests(tx, { addressKey: row.addressKey, pageId });
    suppress(ctx, tx, { addressHmac, reason: "unsubscribed", pageId });
  }
}

/**
 * Deletes everything that is stored about a subscriber of a page, but for a mark by which a restored backup
 * erases the address again.
 */
export function eraseSubscriber(ctx: Ctx, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  for (const row of listSubscribersByHmac(tx, { pageId, addressHmac })) {
    deleteReportsOf(tx, { subscriberId: row.id });
    // Their mailings count them, and are not done before all of their mails are over.
    cancelMailsOfSubscriber(ctx, tx, row.id);
    if (row.addressKey !== null) {
      deleteRequestsOfAddress(tx, { addressKey: row.addressKey, pageId });
      eraseReportsAbout(tx, row.addressKey);
    }
    deleteSubscriber(tx, { id: row.id });
  }
  const subjectId = signUpSubject(addressHmac);
  deleteReportsOfSignUps(tx, { subjectId, pageId });
  deleteSignUpMails(tx, { subjectId, pageId });
  removeNotesOfMails(tx, { addressHmac });
  suppress(ctx, tx, { addressHmac, reason: "erased" });
}
