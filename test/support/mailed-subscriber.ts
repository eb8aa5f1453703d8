import type { AppContext } from "../../src/context";
import { insertAllInto, insertInto, selectOne, type Tx } from "../../src/db";
import { events } from "../../src/db/tables/events";
import {
  mailings,
  mailRequests,
  mails,
  mailThreads,
  subscriberChoices,
  subscribers,
} from "../../src/db/tables/mail";
import type { MailStatus } from "../../src/domain/mail";
import { addressHmac, ensureMailKey } from "../../src/features/mail";
import { sql } from "drizzle-orm";
import { findPage } from "../../src/features/pages";
import { consentText, type SubscriberRow } from "../../src/features/subscribers";
import { DAY_MS } from "../../src/kernel/time";

const insertSubscriber = insertInto(subscribers);
export const insertChoice = insertInto(subscriberChoices);
const insertRequest = insertInto(mailRequests);
const insertMailing = insertInto(mailings);
const insertEvent = insertInto(events);
const insertThread = insertInto(mailThreads);
const insertMails = insertAllInto(mails);
const findLastSeq = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ seq: sql<number | null>`max(seq)` }).from(subscribers),
);

/** Fields of a subscriber that have no default. */
type OwnFields = Pick<SubscriberRow, "id" | "seq" | "pageId" | "addressHmac" | "confirmedAt"> & {
  address: string;
};

/** Returns the row of a subscriber: active, and with the whole page's incidents and maintenance. */
export function subscriberRow(fields: OwnFields & Partial<SubscriberRow>): SubscriberRow {
  const { address, confirmedAt } = fields;
  return {
    addressKey: address.toLowerCase(),
    domain: address.slice(address.lastIndexOf("@") + 1),
    scope: "page",
    events: ["incidents", "maintenance"],
    status: "active",
    tokenVersion: 1,
    unsubscribedAt: null,
    consentSource: "form",
    consentText: null,
    consentIp: null,
    softFailures: 0,
    softSince: null,
    version: 1,
    createdAt: confirmedAt,
    updatedAt: confirmedAt,
    ...fields,
  };
}

/** Stores a subscriber of a page, with the next number. */
export function storeSubscriber(
  ctx: AppContext,
  tx: Tx,
  fields: { pageId: string; address: string } & Partial<SubscriberRow>,
): SubscriberRow {
  const row = subscriberRow({
    id: ctx.newId("sub"),
    seq: (findLastSeq(tx, {})?.seq ?? 0) + 1,
    addressHmac: addressHmac(ensureMailKey(ctx, tx), fields.address.toLowerCase()),
    confirmedAt: ctx.clock.now(),
    consentText: consentText({ name: findPage(tx, { id: fields.pageId })?.name ?? "" }),
    consentIp: "203.0.113.9",
    ...fields,
  });
  insertSubscriber(tx, row);
  return row;
}

/** Stores a mailing about an incident, with the mail of it to a subscriber. Returns the id of the mail. */
export function storeMail(
  ctx: AppContext,
  tx: Tx,
  { id: subscriberId, pageId, seq, address, domain }: SubscriberRow,
  more: {
    status?: MailStatus;
    subject?: string;
    reply?: string | null;
    tries?: number;
    nextTryAt?: number | null;
  } = {},
): string {
  const { status = "sent", subject = "[Acme] Search is slow", reply = null, ...rest } = more;
  const now = ctx.clock.now();
  const [id, mailingId, subjectId] = [ctx.newId("eml"), ctx.newId("mlg"), ctx.newId("inc")];
  const thread = { subjectId, pageId, domain: "example.com", subject, reach: [] };
  insertThread(tx, { ...thread, lastBeganAt: now });
  const counts = { sent: 0, bounced: 0, failed: 0, superseded: 0, cancelled: 0, expired: 0 };
  const eventId = ctx.newId("evt");
  insertEvent(tx, {
    id: eventId,
    type: "incident.created",
    pageId,
    subjectId,
    data: {},
    at: now,
  });
  insertMailing(tx, {
    id: mailingId,
    eventId,
    pageId,
    subjectId,
    kind: "incident.created",
    state: "done",
    cursor: seq,
    maxSeq: seq,
    beginAt: now,
    deadlineAt: now + DAY_MS,
    written: 1,
    ...counts,
    createdAt: now,
  });
  insertMails(tx, [
    {
      id,
      class: 3,
      mailingId,
      subscriberId,
      copy: 0,
      batch: 0,
      recipient: address ?? "",
      domain,
      subjectId,
      template: "mailing",
      params: {},
      status,
      tries: 1,
      nextTryAt: status === "pending" ? now : null,
      supersededBy: null,
      reply,
      createdAt: now,
      expiresAt: now + DAY_MS,
      finishedAt: status === "pending" ? null : now,
      ...rest,
    },
  ]);
  return id;
}

/** Stores a sign-up of a page that can be confirmed. */
export function storeSignUp(ctx: AppContext, tx: Tx, pageId: string, address: string): void {
  const now = ctx.clock.now();
  insertRequest(tx, {
    id: ctx.newId("mrq"),
    pageId,
    address,
    addressKey: address,
    throttleKey: address,
    choices: { scope: "page", targets: [], events: ["incidents", "maintenance"] },
    source: "form",
    ip: "203.0.113.9",
    clientKey: "203.0.113.9",
    requestedAt: now,
    expiresAt: now + 7 * DAY_MS,
    state: "sent",
  });
}
