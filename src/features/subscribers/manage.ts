import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { RequestedChoices } from "../../db/tables/mail";
import { storeTargets } from "./choices";
import { signUpSubject } from "./decide";
import {
  cancelPendingMails,
  deleteReportsOf,
  deleteSignUpMails,
  putSuppression,
} from "./mail-store";
import { deleteRequestsOfAddress, voidConfirmedRequests } from "./request-store";
import {
  deleteSubscriber,
  listSubscribersByHmac,
  type SubscriberRow,
  updateSubscriberRow,
} from "./store";

type Services = Pick<AppContext, "clock">;

/** Changes the choices of a subscriber. */
export function changeChoices(
  { clock }: Services,
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
export function unsubscribe({ clock }: Services, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  const now = clock.now();
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
    cancelPendingMails(tx, { subscriberId: row.id, now });
    if (row.addressKey !== null) voidConfirmedRequests(tx, { addressKey: row.addressKey, pageId });
    putSuppression(tx, { addressHmac, pageId, reason: "unsubscribed", at: now });
  }
}

/**
 * Deletes everything that is stored about a subscriber of a page, but for a mark by which a restored backup
 * erases the address again.
 */
export function eraseSubscriber({ clock }: Services, tx: Tx, subscriber: SubscriberRow): void {
  const { pageId, addressHmac } = subscriber;
  for (const row of listSubscribersByHmac(tx, { pageId, addressHmac })) {
    deleteReportsOf(tx, { subscriberId: row.id });
    if (row.addressKey !== null) {
      deleteRequestsOfAddress(tx, { addressKey: row.addressKey, pageId });
    }
    deleteSubscriber(tx, { id: row.id });
  }
  deleteSignUpMails(tx, { subjectId: signUpSubject(addressHmac), pageId });
  putSuppression(tx, { addressHmac, pageId: "", reason: "erased", at: clock.now() });
}
