import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { storeTargets } from "./choices";
import {
  findLastAudience,
  findLastSeq,
  insertSubscriber,
  type SubscriberRow,
  updateSubscriberRow,
} from "./store";

/** Address that is subscribed to a page, with its choices. They name only what exists. */
interface Enrolment {
  pageId: string;
  address: string;
  addressKey: string;
  choices: RequestedChoices;
}

/** Time, origin, words and client of a consent. */
type Consent = Pick<SubscriberRow, "confirmedAt" | "consentSource" | "consentText" | "consentIp">;

/**
 * Stores a subscription. `current` is what the page has of the address, subscribed or not. New choices of a
 * subscriber are no new consent: its time, words and client stay those of one moment. `isRenewed` is true if the
 * consent ends a suppression, which replaces the earlier one.
 */
export function enrol(
  ctx: Ctx,
  tx: Tx,
  { pageId, address, addressKey, choices }: Enrolment,
  {
    current,
    hmac,
    isRenewed = false,
  }: { current: SubscriberRow | undefined; hmac: string; isRenewed?: boolean },
  consent: Consent,
): SubscriberRow {
  const now = ctx.clock.now();
  const active = current?.status === "active" ? current : undefined;
  const { confirmedAt, consentSource, consentText, consentIp } =
    active && !isRenewed ? active : consent;
  const row: SubscriberRow = {
    id: current?.id ?? ctx.newId("sub"),
    // The audience of a mailing are those confirmed before it.
    seq: active?.seq ?? nextSeq(tx),
    pageId,
    address,
    addressKey,
    addressHmac: hmac,
    domain: address.slice(address.lastIndexOf("@") + 1),
    scope: choices.scope,
    events: choices.events,
    status: "active",
    tokenVersion: current?.tokenVersion ?? 1,
    unsubscribedAt: null,
    confirmedAt,
    consentSource,
    consentText,
    consentIp,
    softFailures: 0,
    softSince: null,
    version: (current?.version ?? 0) + 1,
    createdAt: current?.createdAt ?? now,
    updatedAt: now,
  };
  if (current) updateSubscriberRow(tx, row);
  else insertSubscriber(tx, row);
  storeTargets(tx, row.id, choices.targets);
  return row;
}

/** Returns a number that no subscriber and no audience has had. The last subscriber may have been erased. */
function nextSeq(tx: Tx): number {
  return Math.max(findLastSeq(tx, {})?.seq ?? 0, findLastAudience(tx, {})?.seq ?? 0) + 1;
}
