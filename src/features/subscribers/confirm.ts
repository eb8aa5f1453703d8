import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { ENDED_BY_CONFIRMING } from "../mail/rules";
import { endSuppressions, findSuppression, suppress } from "../mail/suppressions";
import type { PageRow } from "../pages/store";
import { existingChoices, readChoosable } from "./choices";
import { enrol } from "./enrol";
import { deadLink, type RequestLink } from "./links";
import {
  declineRequestsOfAddress,
  type RequestRow,
  setRequestState,
  voidOpenRequests,
} from "./request-store";
import { findSubscriberByAddress, type SubscriberRow } from "./store";

/** Returns the text to which a person agrees by confirming, as it is shown and stored. */
export function consentText(page: Pick<PageRow, "name">): string {
  return `Messages about ${page.name} will be sent to this address. Every message has a link to unsubscribe.`;
}

/**
 * Subscribes the address of a sign-up with the choices of it, and makes the address's other sign-ups on the
 * page void. A sign-up that was confirmed already changes nothing. Throws `not_found` if that subscription
 * has ended, or if the address gets no mail.
 */
export function confirmSignUp(
  ctx: Ctx,
  tx: Tx,
  { request, page }: RequestLink,
  ip: string,
): SubscriberRow {
  const { pageId, addressKey } = request;
  const current = findSubscriberByAddress(tx, { pageId, addressKey });
  if (request.state === "confirmed") {
    if (current?.status !== "active") throw deadLink(page);
    return current;
  }
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  if (findSuppression(tx, { addressHmac: hmac, pageId, kind: "confirmation" })) throw deadLink();
  const isRenewed = endSuppressions(tx, hmac, ENDED_BY_CONFIRMING, pageId) > 0;
  const choices = existingChoices(request.choices, readChoosable(tx, pageId));
  const { address, source } = request;
  const enrolment = { pageId, address, addressKey, choices };
  const subscriber = enrol(
    ctx,
    tx,
    enrolment,
    { current, hmac, isRenewed },
    {
      confirmedAt: ctx.clock.now(),
      consentSource: source,
      consentText: consentText(page),
      consentIp: ip,
    },
  );
  setRequestState(tx, { id: request.id, state: "confirmed" });
  voidOpenRequests(tx, { addressKey, pageId, except: request.id });
  return subscriber;
}

/** Stops all sign-up mails to the address of a sign-up, for every page, and ends its open sign-ups. */
export function declineSignUps(
  ctx: Ctx,
  tx: Tx,
  { addressKey }: Pick<RequestRow, "addressKey">,
): void {
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  suppress(ctx, tx, { addressHmac: hmac, reason: "declined" });
  declineRequestsOfAddress(tx, { addressKey });
}
