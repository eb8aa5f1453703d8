import type { Tx } from "../../db/statements";
import { DAY_MS } from "../../base/time";
import { signUpSubject } from "./decide";
import { deleteReportsOf, deleteReportsOfSignUps, deleteSignUpMails } from "./mail-store";
import { deleteExpiredRequests } from "./request-store";
import {
  deleteChoicesOfTarget,
  deleteSubscriber,
  findDeletedTarget,
  listSubscribersOfOldPages,
  mergeSearchIndex,
  removeConsentAddresses,
  removeOldAddresses,
} from "./store";

/** Time for which the address of an unsubscribed person, and subscribers of a deleted page, are kept. */
const KEPT_MS = 30 * DAY_MS;
/** Limits of one transaction. Deleting a subscriber deletes mails as well. */
const ROWS_PER_RUN = 500;
const SUBSCRIBERS_PER_RUN = 50;
/** Pages of the search index, of 4 KB each, that one transaction rewrites. */
const PAGES_PER_RUN = 100;

/**
 * Deletes expired sign-ups, addresses of people who unsubscribed, subscribers of deleted pages, deleted
 * components in selections, and client addresses of consents from before `addressesUntil`. Times are unix ms. Returns true if more may be left.
 */
export function sweepSubscribers(
  tx: Tx,
  { now, addressesUntil }: { now: number; addressesUntil: number },
): boolean {
  const limit = ROWS_PER_RUN;
  const counts = [
    deleteExpiredRequests(tx, { now, limit }),
    removeOldAddresses(tx, { until: now - KEPT_MS, limit }),
    removeConsentAddresses(tx, { until: addressesUntil, limit }),
  ];
  const deleted = findDeletedTarget(tx, {});
  if (deleted) counts.push(deleteChoicesOfTarget(tx, { ...deleted, limit }));
  mergeSearchIndex(tx, { pages: PAGES_PER_RUN });
  const until = now - KEPT_MS;
  const ofOldPages = listSubscribersOfOldPages(tx, { until, limit: SUBSCRIBERS_PER_RUN });
  for (const { id, pageId, addressHmac } of ofOldPages) {
    const subjectId = signUpSubject(addressHmac);
    deleteReportsOf(tx, { subscriberId: id });
    deleteReportsOfSignUps(tx, { subjectId, pageId });
    deleteSignUpMails(tx, { subjectId, pageId });
    deleteSubscriber(tx, { id });
  }
  return counts.includes(limit) || ofOldPages.length === SUBSCRIBERS_PER_RUN || !!deleted;
}
