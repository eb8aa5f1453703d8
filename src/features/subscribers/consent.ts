import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import type { Actor } from "../../base/actor";
import type { ConsentSource, MailAddress, SuppressionReason } from "../../base/mail-address";
import { validate } from "../../base/validation";
import { Text } from "../../base/schema";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { listSuppressionsOf } from "../mail/suppression-store";
import { enrol } from "./enrol";
import { findSubscriberByAddress, type SubscriberRow } from "./store";
import { auditSubscriber } from "./team";

/** Maximum length of the words of a consent, in code points. */
export const CONSENT_MAX = 1_000;

/** Address whose owner has already consented, by the team's word. */
interface ConsentedAddress {
  pageId: string;
  address: MailAddress;
  /** Choices that name only what exists. */
  choices: RequestedChoices;
  source: Exclude<ConsentSource, "form">;
  /** Words by which the consent is documented. */
  consent: string;
}

type ConsentResult =
  | { result: "added"; subscriber: SubscriberRow }
  /** Is a subscriber already, whose choices stay. */
  | { result: "subscribed"; subscriber: SubscriberRow }
  /** Only the person can begin a subscription that ended, by confirming. */
  | { result: "suppressed"; reason: SuppressionReason };

/**
 * Subscribes an address without a mail. A person who unsubscribed, declined, complained, bounced or is blocked is
 * not brought back. `actor` is null for an import, which has an audit entry of its own.
 */
export function addConsentedSubscriber(
  ctx: Ctx,
  tx: Tx,
  { pageId, address, choices, source, consent }: ConsentedAddress,
  actor: Actor | null,
): ConsentResult {
  const { key: addressKey } = address;
  const current = findSubscriberByAddress(tx, { pageId, addressKey });
  const hmac = addressHmac(ensureMailKey(ctx, tx), addressKey);
  // A mark of an erased address stops nothing.
  const stop = listSuppressionsOf(tx, { addressHmac: hmac, pageId }).find(
    ({ reason }) => reason !== "erased",
  );
  if (stop) return { result: "suppressed", reason: stop.reason };
  if (current?.status === "active") return { result: "subscribed", subscriber: current };
  if (current) return { result: "suppressed", reason: "unsubscribed" };
  const enrolment = { pageId, address: address.address, addressKey, choices };
  const subscriber = enrol(
    ctx,
    tx,
    enrolment,
    { current, hmac },
    {
      confirmedAt: ctx.clock.now(),
      consentSource: source,
      consentText: consent,
      consentIp: null,
    },
  );
  if (actor) {
    auditSubscriber(ctx, tx, actor, subscriber, {
      action: "add",
      summarize: (who, page) => `Subscribed ${who} to ${page} by an earlier consent`,
    });
  }
  return { result: "added", subscriber };
}

const ConsentBody = Type.Object({ consent: Text({ minLength: 1, maxLength: CONSENT_MAX }) });

/** Returns the words of a consent, trimmed. Throws `validation_failed` for `consent`. */
export function readConsent(text: string): string {
  return validate(ConsentBody, { consent: text.trim() }).consent;
}
