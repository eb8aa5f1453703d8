import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuthorKind } from "../../base/actor";
import type {
  ConsentSource,
  MailClass,
  MailingState,
  MailRequestState,
  MailStatus,
  SubscriberEvent,
  SubscriberScope,
  SuppressionReason,
} from "../../base/mail-address";

export const subscribers = sqliteTable("subscribers", {
  id: text().primaryKey(),
  seq: integer().notNull(),
  pageId: text("page_id").notNull(),
  address: text(),
  addressKey: text("address_key"),
  addressHmac: text("address_hmac").notNull(),
  domain: text().notNull(),
  scope: text().$type<SubscriberScope>().notNull(),
  events: text({ mode: "json" }).$type<SubscriberEvent[]>().notNull(),
  status: text().$type<"active" | "unsubscribed">().notNull(),
  tokenVersion: integer("token_version").notNull(),
  confirmedAt: integer("confirmed_at").notNull(),
  unsubscribedAt: integer("unsubscribed_at"),
  consentSource: text("consent_source").$type<ConsentSource>().notNull(),
  consentText: text("consent_text"),
  consentIp: text("consent_ip"),
  softFailures: integer("soft_failures").notNull(),
  softSince: integer("soft_since"),
  version: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  language: text(),
});

export const subscriberChoices = sqliteTable(
  "subscriber_choices",
  { targetId: text("target_id").notNull(), subscriberId: text("subscriber_id").notNull() },
  (table) => [primaryKey({ columns: [table.targetId, table.subscriberId] })],
);

/** Number of subscribers of each page by status and choices. Triggers keep it. */
export const subscriberCounts = sqliteTable(
  "subscriber_counts",
  {
    pageId: text("page_id").notNull(),
    status: text().$type<"active" | "unsubscribed">().notNull(),
    scope: text().$type<SubscriberScope>().notNull(),
    events: text({ mode: "json" }).$type<SubscriberEvent[]>().notNull(),
    subscribers: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.pageId, table.status, table.scope, table.events] })],
);

/** Choices of a sign-up form. `targets` are ids of components and groups. */
export interface RequestedChoices {
  scope: SubscriberScope;
  targets: string[];
  events: SubscriberEvent[];
  /** Tag of a language of the page; null or absent for that of the page. */
  language?: string | null;
}

export const mailRequests = sqliteTable("mail_requests", {
  id: text().primaryKey(),
  pageId: text("page_id").notNull(),
  address: text().notNull(),
  addressKey: text("address_key").notNull(),
  throttleKey: text("throttle_key").notNull(),
  choices: text({ mode: "json" }).$type<RequestedChoices>().notNull(),
  source: text().$type<ConsentSource>().notNull(),
  ip: text(),
  clientKey: text("client_key"),
  requestedAt: integer("requested_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  state: text().$type<MailRequestState>().notNull(),
});

export const mailThreads = sqliteTable("mail_threads", {
  subjectId: text("subject_id").primaryKey(),
  pageId: text("page_id").notNull(),
  domain: text().notNull(),
  subject: text().notNull(),
  reach: text({ mode: "json" }).$type<string[]>().notNull(),
  lastBeganAt: integer("last_began_at"),
  subjects: text({ mode: "json" }).$type<Record<string, string>>().notNull().default({}),
});

export const mailings = sqliteTable("mailings", {
  id: text().primaryKey(),
  eventId: text("event_id").notNull(),
  pageId: text("page_id").notNull(),
  subjectId: text("subject_id").notNull(),
  kind: text().notNull(),
  state: text().$type<MailingState>().notNull(),
  cursor: integer().notNull(),
  maxSeq: integer("max_seq").notNull(),
  beginAt: integer("begin_at").notNull(),
  deadlineAt: integer("deadline_at").notNull(),
  written: integer().notNull().default(0),
  sent: integer().notNull().default(0),
  bounced: integer().notNull().default(0),
  failed: integer().notNull().default(0),
  superseded: integer().notNull().default(0),
  cancelled: integer().notNull().default(0),
  expired: integer().notNull().default(0),
  createdAt: integer("created_at").notNull(),
  author: text().$type<AuthorKind>().notNull().default("person"),
});

export const mails = sqliteTable("mails", {
  id: text().primaryKey(),
  class: integer().$type<MailClass>().notNull(),
  mailingId: text("mailing_id"),
  subscriberId: text("subscriber_id"),
  copy: integer().notNull(),
  recipient: text().notNull(),
  domain: text().notNull(),
  batch: integer().notNull(),
  subjectId: text("subject_id").notNull(),
  template: text().notNull(),
  params: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
  status: text().$type<MailStatus>().notNull(),
  tries: integer().notNull(),
  nextTryAt: integer("next_try_at"),
  supersededBy: text("superseded_by"),
  reply: text(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  finishedAt: integer("finished_at"),
});

export const suppressions = sqliteTable(
  "suppressions",
  {
    addressHmac: text("address_hmac").notNull(),
    pageId: text("page_id").notNull(),
    reason: text().$type<SuppressionReason>().notNull(),
    mailId: text("mail_id"),
    note: text(),
    at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.addressHmac, table.pageId, table.reason] })],
);

/** Times at which an admin last ended the suppression of an address to which mails had failed. */
export const suppressionUndos = sqliteTable("suppression_undos", {
  addressHmac: text("address_hmac").primaryKey(),
  at: integer().notNull(),
});

export const mailReports = sqliteTable("mail_reports", {
  id: text().primaryKey(),
  at: integer().notNull(),
  mailId: text("mail_id"),
  kind: text().$type<"hard" | "soft" | "complaint" | "other">().notNull(),
  status: text(),
  excerpt: text().notNull(),
});

export const mailWarnings = sqliteTable(
  "mail_warnings",
  {
    subject: text().notNull(),
    step: integer().notNull(),
    recipient: text().notNull(),
    at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.step, table.recipient] })],
);
