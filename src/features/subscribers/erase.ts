import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { type MailAddress, maskAddress } from "../../base/mail-address";
import { audit } from "../../events/audit";
import { plural } from "../../base/text";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { eraseReportsAbout } from "../mail/reports/take-reports";
import { removeNotesOfMails } from "../mail/suppression-store";
import { suppress } from "../mail/suppressions";
import type { PageRow } from "../pages/store";
import { signUpSubject } from "./decide";
import { deleteReportsOfSignUps, deleteSignUpMails } from "./mail-store";
import { eraseSubscriber } from "./manage";
import { deleteRequestsOfAddress } from "./request-store";
import { listSubscribersOfAddress } from "./store";

interface Erasure {
  /** Number of subscriptions that were erased, one for a page. */
  subscriptions: number;
  /** Number of sign-ups that were erased. */
  requests: number;
}

/**
 * Deletes everything about an address: subscriptions, sign-ups, mails and the relay's replies, of one page or
 * of all. A mark is left, by which a restored backup erases the address again. Suppressions stay: they are
 * kept without the address.
 */
export function eraseAddress(
  ctx: Ctx,
  tx: Tx,
  { address, key }: Pick<MailAddress, "address" | "key">,
  page: PageRow | undefined,
  actor: Actor,
): Erasure {
  const hmac = addressHmac(ensureMailKey(ctx, tx), key);
  const subjectId = signUpSubject(hmac);
  const rows = listSubscribersOfAddress(tx, { addressHmac: hmac }).filter(
    ({ pageId }) => page === undefined || pageId === page.id,
  );
  const pageId = page?.id ?? null;
  const requests = deleteRequestsOfAddress(tx, { addressKey: key, pageId });
  for (const row of rows) eraseSubscriber(ctx, tx, row);
  deleteReportsOfSignUps(tx, { subjectId, pageId });
  deleteSignUpMails(tx, { subjectId, pageId });
  // Unmatched reports name addresses that never subscribed, too.
  eraseReportsAbout(tx, key);
  removeNotesOfMails(tx, { addressHmac: hmac });
  suppress(ctx, tx, { addressHmac: hmac, reason: "erased" });
  const counts = `${plural(rows.length, "subscription")}, ${plural(requests, "sign-up")}`;
  const who = `${maskAddress(address)} from ${page?.name ?? "all pages"}`;
  audit(ctx, tx, actor, "subscriber.erase", page?.id ?? "subscribers", `Erased ${who}: ${counts}`);
  return { subscriptions: rows.length, requests };
}
