import type { MailAddress, MailClass, MailStatus } from "../../base/mail-address";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import {
  addToMailing,
  cancelOfMailing,
  endMail,
  findMail,
  findMailing,
  findNextMailing,
  insertMails,
  insertMailsTo,
  listExpired,
  listExpiredOfMailing,
  listPendingOfSubscriber,
  type MailingCounts,
  type MailRow,
  queueMailAgain,
  supersedeOfMailing,
} from "./store";

/*
 * Mails as rows: they are queued, cancelled, superseded or expire here. `sending/` sends them, and `hold.ts` stops all
 * mailings. The counts of a mailing change in the same transaction as its mails.
 */

/** Mail to be sent. */
export interface NewMail {
  class: MailClass;
  recipient: Pick<MailAddress, "address" | "domain">;
  /** Object that the mail is about. Mails about it go to one recipient one after the other. */
  subjectId: string;
  /** Name of the template, with the values that it needs. They contain no secret. */
  template: string;
  params: Record<string, unknown>;
  subscriberId?: string;
  /** Required for class 3. */
  mailingId?: string;
  /** Greater than 0 if the mail of a mailing is sent again by hand. */
  copy?: number;
  /** Time (unix ms) before which it is not sent; now if omitted. */
  dueAt?: number;
  /** Number of a part of a mailing's mails, by default 0. Earlier parts go first. */
  batch?: number;
  /** Time (unix ms) from which it is not sent any more. */
  expiresAt: number;
}

export const NO_COUNTS: MailingCounts = {
  written: 0,
  sent: 0,
  bounced: 0,
  failed: 0,
  superseded: 0,
  cancelled: 0,
  expired: 0,
};

/**
 * Queues mails and wakes the sender after the commit. Mails of a mailing are added to its number
 * of written mails. Returns the ids.
 */
export function enqueueMails(ctx: Ctx, tx: Tx, mails: readonly NewMail[]): string[] {
  const now = ctx.clock.now();
  const rows = mails.map((mail) => {
    if ((mail.class === 3) !== (mail.mailingId !== undefined)) {
      throw new Error("mails of class 3, and no others, belong to a mailing");
    }
    return rowOf({ ...mail, id: ctx.newId("eml") }, now);
  });
  insertMails(tx, rows);
  for (const [id, written] of countBy(rows)) addToMailing(tx, { ...NO_COUNTS, id, written });
  if (rows.length > 0) wakeSender(ctx, tx);
  return rows.map(({ id }) => id);
}

/** Queues a mail with a known id. One that has ended is queued again and keeps its `Message-ID`. */
export function queueDirectly(
  ctx: Ctx,
  tx: Tx,
  mail: Omit<NewMail, "mailingId"> & { id: string },
): void {
  const now = ctx.clock.now();
  if (findMail(tx, mail)) queueMailAgain(tx, { ...mail, now });
  else insertMails(tx, [rowOf(mail, now)]);
  wakeSender(ctx, tx);
}

/** Returns the row of a mail that is queued at `now`. */
function rowOf({ recipient, dueAt, ...mail }: NewMail & { id: string }, now: number): MailRow {
  return {
    subscriberId: null,
    mailingId: null,
    copy: 0,
    batch: 0,
    ...mail,
    recipient: recipient.address,
    domain: recipient.domain,
    status: "pending",
    tries: 0,
    nextTryAt: dueAt ?? now,
    supersededBy: null,
    reply: null,
    createdAt: now,
    finishedAt: null,
  };
}

/** Mails of a mailing that differ in nothing but their recipients. */
interface MailsOfMailing extends Required<Pick<NewMail, "batch" | "mailingId">> {
  subjectId: string;
  template: string;
  expiresAt: number;
  /** Numbers of the subscribers, who have addresses. */
  seqs: readonly number[];
}

/** Queues mails like `enqueueMails`, without reading their recipients. */
export function enqueueMailsTo(ctx: Ctx, tx: Tx, { seqs, ...shared }: MailsOfMailing): void {
  if (seqs.length === 0) return;
  const written = insertMailsTo(tx, {
    ...shared,
    mails: `{${seqs.map((seq) => `"${ctx.newId("eml")}":${seq}`).join(",")}}`,
    createdAt: ctx.clock.now(),
  });
  addToMailing(tx, { ...NO_COUNTS, id: shared.mailingId, written });
  wakeSender(ctx, tx);
}

/** Wakes the sender after the commit: mails were queued, held, released or cancelled. */
export function wakeSender(ctx: Ctx, tx: Tx): void {
  tx.afterCommit(() => ctx.signals.mailsQueued.emit());
}

/**
 * Cancels at most `limit` pending mails of a mailing and returns their number. Mails that are being sent stay
 * sent if the relay accepts them.
 */
export function cancelMailsOfMailing(ctx: Ctx, tx: Tx, mailingId: string, limit: number): number {
  const cancelled = cancelOfMailing(tx, { mailingId, now: ctx.clock.now(), limit });
  addToMailing(tx, { ...NO_COUNTS, id: mailingId, cancelled });
  return cancelled;
}

/** Cancels the pending mails of a subscriber, such as after unsubscribing. Returns their number. */
export function cancelMailsOfSubscriber(ctx: Ctx, tx: Tx, subscriberId: string): number {
  const pending = listPendingOfSubscriber(tx, { subscriberId });
  return endMails(ctx, tx, pending, "cancelled");
}

/**
 * Ends the pending mails of an older mailing to some subscribers, which the mails of a newer one replace.
 * Returns their number.
 */
export function supersedeMailing(
  { clock }: Ctx,
  tx: Tx,
  mailingId: string,
  { by, seqs }: { by: string; seqs: readonly number[] },
): number {
  const now = clock.now();
  const superseded = supersedeOfMailing(tx, { mailingId, by, seqs: JSON.stringify(seqs), now });
  if (superseded > 0) addToMailing(tx, { ...NO_COUNTS, id: mailingId, superseded });
  return superseded;
}

/** True if `expireMails` would end mails. */
export function hasExpired(reader: Reader, now: number): boolean {
  return listExpiredMails(reader, now, 1).length > 0;
}

/** Ends up to `limit` mails whose time is over, due or not. Returns their number. */
export function expireMails(ctx: Ctx, tx: Tx, limit: number): number {
  return endMails(ctx, tx, listExpiredMails(tx, ctx.clock.now(), limit), "expired");
}

type PendingMail = Pick<MailRow, "id" | "mailingId">;

/** Lists up to `limit` mails whose time is over. Those of a mailing end with it. */
function listExpiredMails(reader: Reader, now: number, limit: number): PendingMail[] {
  const expired: PendingMail[] = [];
  for (const one of [1, 2] as const) {
    expired.push(...listExpired(reader, { class: one, now, limit: limit - expired.length }));
  }
  for (let mailingId = ""; expired.length < limit;) {
    const next = findNextMailing(reader, { after: mailingId })?.id;
    if (next === undefined || next === null) break;
    mailingId = next;
    if ((findMailing(reader, { id: next })?.deadlineAt ?? 0) > now) continue;
    const left = limit - expired.length;
    expired.push(...listExpiredOfMailing(reader, { mailingId, now, limit: left }));
  }
  return expired;
}

/** States in which a mail is over. */
type FinalStatus = Exclude<MailStatus, "pending">;

/** Mail that is in a final state now, or is not any more. */
export interface CountedMail {
  mailingId: string;
  status: FinalStatus;
  by: 1 | -1;
}

/** Changes the counts of mailings. */
export function countMails(tx: Tx, mails: readonly CountedMail[]): void {
  const byMailing = new Map<string, MailingCounts>();
  for (const { mailingId, status, by } of mails) {
    const counts = byMailing.get(mailingId) ?? { ...NO_COUNTS };
    counts[status] += by;
    byMailing.set(mailingId, counts);
  }
  for (const [id, counts] of byMailing) addToMailing(tx, { ...counts, id });
}

function endMails(
  { clock }: Ctx,
  tx: Tx,
  rows: readonly PendingMail[],
  status: FinalStatus,
): number {
  const now = clock.now();
  const ended = rows.filter(({ id }) => endMail(tx, { id, status, now }) === 1);
  for (const [id, count] of countBy(ended)) {
    addToMailing(tx, { ...NO_COUNTS, id, [status]: count });
  }
  return ended.length;
}

/** Counts rows by their mailing. */
function countBy(rows: readonly { mailingId: string | null }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { mailingId } of rows) {
    if (mailingId !== null) counts.set(mailingId, (counts.get(mailingId) ?? 0) + 1);
  }
  return counts;
}
