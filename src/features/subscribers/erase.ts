import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { type MailAddress, maskAddress } from "../../domain/mail-address";
import { audit } from "../../events";
import { plural } from "../../kernel/text";
import { addressHmac, ensureMailKey, removeNotesOfMails, suppress } from "../mail";
import { signUpSubject } from "./decide";
import { eraseSubscriber } from "./manage";
import {
  deleteAllReportsOfSignUps,
  deleteAllRequestsOfAddress,
  deleteAllSignUpMails,
  listSubscribersOfAddress,
} from "./transfer-store";

export interface Erasure {
  /** Number of subscriptions that were erased, one for a page. */
  subscriptions: number;
  /** Number of sign-ups that were erased. */
  requests: number;
}

/**
 * Deletes everything about an address of every page: subscriptions, sign-ups, mails and the relay's replies.
 * A mark is left, by which a restored backup erases the address again. Suppressions stay: they are kept
 * without the address.
 */
export function eraseAddress(
  ctx: Pick<AppContext, "clock" | "random">,
  tx: Tx,
  { address, key }: Pick<MailAddress, "address" | "key">,
  actor: Actor,
): Erasure {
  const hmac = addressHmac(ensureMailKey(ctx, tx), key);
  const requests = deleteAllRequestsOfAddress(tx, { addressKey: key });
  const rows = listSubscribersOfAddress(tx, { addressHmac: hmac });
  for (const row of rows) eraseSubscriber(ctx, tx, row);
  const subjectId = signUpSubject(hmac);
  deleteAllReportsOfSignUps(tx, { subjectId });
  deleteAllSignUpMails(tx, { subjectId });
  removeNotesOfMails(tx, { addressHmac: hmac });
  suppress(ctx, tx, { addressHmac: hmac, reason: "erased" });
  const counts = `${plural(rows.length, "subscription")}, ${plural(requests, "sign-up")}`;
  const who = maskAddress(address);
  audit(ctx, tx, actor, "subscriber.erase", "subscribers", `Erased ${who}: ${counts}`);
  return { subscriptions: rows.length, requests };
}
