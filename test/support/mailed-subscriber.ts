import type { Ctx } from "../../src/context";
import { insertInto, selectOne, type Tx } from "../../src/db/statements";
import { events } from "../../src/db/tables/events";
import {
  mailings,
  mailRequests,
  mails,
  mailThreads,
  subscriberChoices,
  subscribers,
} from "../../src/db/tables/mail";
import type { MailStatus } from "../../src/base/mail-address";
import { addressHmac, ensureMailKey } from "../../src/features/mail/tokens";
import { sql } from "drizzle-orm";
import { findPage } from "../../src/features/pages/store";
import { consentText } from "../../src/features/subscribers/sign-up";
import type { SubscriberRow } from "../../src/features/subscribers/store";
import { DAY_MS } from "../../src/base/time";
import { mailingRow, mailRow, subscriberRow } from "./mail-rows";

const insertSubscriber = insertInto(subscribers);
export const insertChoice = insertInto(subscriberChoices);
const insertRequest = insertInto(mailRequests);
const insertMailing = insertInto(mailings);
const insertEvent = insertInto(events);
const insertThread = insertInto(mailThreads);
const insertMail = insertInto(mails);
const findLastSeq = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ seq: sql<number | null>`max(seq)` }).from(subscribers),
);

/** Stores a subscriber of a page, with the next number. */
export function storeSubscriber(
  ctx: Ctx,
  tx: Tx,
  fields: { pageId: string; address: string } & Partial<SubscriberRow>,
): SubscriberRow {
  const row = subscriberRow({
    id: ctx.newId("sub"),
    seq: (findLastSeq(tx, {})?.seq ?? 0) + 1,
    addressHmac: addressHmac(ensureMailKey(ctx, tx), fields.address.toLowerCase()),
    confirmedAt: ctx.clock.now(),
    consentText: consentText(
      findPage(tx, { id: fields.pageId }) ?? { name: "", locale: "en", languages: [] },
      fields.language,
    ),
    consentIp: "203.0.113.9",
    ...fields,
  });
  insertSubscriber(tx, row);
  return row;
}

/** Stores a mailing about an incident, with the mail of it to a subscriber. Returns the id of the mail. */
export function storeMail(
  ctx: Ctx,
  tx: Tx,
  { id: subscriberId, pageId, seq, address }: SubscriberRow,
  more: {
    status?: MailStatus;
    subject?: string;
    reply?: string | null;
    tries?: number;
    nextTryAt?: number | null;
  } = {},
): string {
  const { subject = "[Acme] Search is slow", ...rest } = more;
  const now = ctx.clock.now();
  const [id, mailingId, subjectId] = [ctx.newId("eml"), ctx.newId("mlg"), ctx.newId("inc")];
  const thread = { subjectId, pageId, domain: "example.com", subject, reach: [], subjects: {} };
  insertThread(tx, { ...thread, lastBeganAt: now });
  const eventId = ctx.newId("evt");
  insertEvent(tx, {
    id: eventId,
    type: "incident.created",
    pageId,
    subjectId,
    data: {},
    at: now,
  });
  const row = mailingRow({
    id: mailingId,
    eventId,
    pageId,
    subjectId,
    cursor: seq,
    maxSeq: seq,
    written: 1,
    createdAt: now,
  });
  insertMailing(tx, row);
  const recipient = address ?? "";
  insertMail(
    tx,
    mailRow({ id, mailingId, subscriberId, recipient, subjectId, createdAt: now, ...rest }),
  );
  return id;
}

/** Stores a sign-up of a page that can be confirmed. */
export function storeSignUp(ctx: Ctx, tx: Tx, pageId: string, address: string): void {
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
