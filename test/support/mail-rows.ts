import { asc } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { mailings, mails, subscribers, suppressions } from "../../src/db/tables/mail";
import type { SubscriberRow } from "../../src/features/subscribers/store";
import { DAY_MS } from "../../src/base/time";

type MailingRow = typeof mailings.$inferSelect;
type MailRow = typeof mails.$inferSelect;

/** Fields of a row: those without a default, and any others. */
type Fields<Row, Own extends keyof Row> = Pick<Row, Own> & Partial<Row>;

/** Returns the row of a subscriber: active, and with the whole page's incidents and maintenance. */
export function subscriberRow(
  fields: Fields<SubscriberRow, "id" | "seq" | "pageId" | "addressHmac" | "confirmedAt"> & {
    address: string;
  },
): SubscriberRow {
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
    language: null,
    version: 1,
    createdAt: confirmedAt,
    updatedAt: confirmedAt,
    ...fields,
  };
}

/** Returns the row of a mailing about a new incident: done, without mails. */
export function mailingRow(
  fields: Fields<MailingRow, "id" | "pageId" | "subjectId" | "createdAt">,
): MailingRow {
  const { id, createdAt } = fields;
  return {
    eventId: `evt_${id}`,
    kind: "incident.created",
    state: "done",
    cursor: 0,
    maxSeq: 0,
    beginAt: createdAt,
    deadlineAt: createdAt + DAY_MS,
    written: 0,
    sent: 0,
    bounced: 0,
    failed: 0,
    superseded: 0,
    cancelled: 0,
    expired: 0,
    author: "person",
    ...fields,
  };
}

/** Returns the row of a mail of a mailing: sent by one try, or due now if it is pending. */
export function mailRow(
  fields: Fields<
    MailRow,
    "id" | "mailingId" | "subscriberId" | "recipient" | "subjectId" | "createdAt"
  >,
): MailRow {
  const { recipient, createdAt, status = "sent" } = fields;
  const isPending = status === "pending";
  return {
    class: 3,
    copy: 0,
    batch: 0,
    domain: recipient.slice(recipient.lastIndexOf("@") + 1),
    template: "mailing",
    params: {},
    status,
    tries: 1,
    nextTryAt: isPending ? createdAt : null,
    supersededBy: null,
    reply: null,
    expiresAt: createdAt + DAY_MS,
    finishedAt: isPending ? null : createdAt,
    ...fields,
  };
}

export const listMails = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(mails).orderBy(asc(mails.id)),
);
export const listMailings = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(mailings).orderBy(asc(mailings.id)),
);
export const listSubscribers = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(subscribers).orderBy(asc(subscribers.seq)),
);
export const listSuppressions = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(suppressions).orderBy(asc(suppressions.at)),
);
