import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { AuthorKind } from "../../base/actor";
import type { EventSubscriber, RecordedEvent } from "../../events/outbox";
import { DAY_MS } from "../../base/time";
import { findJoinedIncident } from "../incidents/outage-store";
import { describeMissing } from "../mail/test-mail";
import { findMailHold } from "../mail/hold";
import { mailReadiness } from "../mail/settings";
import { getMaintenanceRecord } from "../maintenance/records";
import { findPage } from "../pages/store";
import type { WrittenMail, WrittenSubject } from "../timeline/updates";
import { isNamedSince } from "./expand";
import {
  beginAt,
  componentIdsOf,
  deadlineAt,
  DRAFT_REASON,
  EDIT_REASON,
  limitReason,
  MAILINGS_PER_DAY,
  namesComponent,
  pageReason,
  REMINDER_DISTANCE_MS,
  silentReason,
  STATUS_WAIT_MS,
} from "./rules";
import {
  countMailings,
  findThread,
  insertMailing,
  insertThread,
  listMailingsOfSubject,
  type MailingRow,
  NOT_BEGUN,
  setProgress,
  setThread,
  stopMailingsOfSubject,
} from "./store";
import { findLastSubscriber } from "./subscriber-store";

const SUBJECTS = /^(?:incident|maintenance|component)\./;

/**
 * Writes one mailing for each event that subscribers get mails of, in the transaction of the change. What
 * happens while mail is not ready is not mailed later.
 */
export function recordMailings(ctx: Ctx): EventSubscriber {
  return (tx, groups) => {
    const relevant = groups.flat().filter(({ type }) => SUBJECTS.test(type));
    if (relevant.length === 0) return;
    const audiences = new Map<string, number | undefined>();
    const takeOne = createTaking(tx, relevant[0]?.at ?? 0);
    let isMailReady: boolean | undefined;
    for (const event of relevant) {
      const { pageId } = event;
      if (pageId === null) continue;
      // Components that a maintenance named once stay in its reach, also for people who subscribe later, and by
      // changes that are not mailed.
      if (event.type.startsWith("maintenance.")) growReach(tx, { ...event, pageId });
      if (!audiences.has(pageId)) audiences.set(pageId, findLastSubscriber(tx, { pageId })?.seq);
      const maxSeq = audiences.get(pageId);
      if (maxSeq === undefined) continue;
      isMailReady ??= mailReadiness(ctx).ready;
      const known = { relevant, maxSeq, isReady: isMailReady, takeOne };
      recordMailing(ctx, tx, { ...event, pageId }, known);
    }
  };
}

interface Circumstances {
  /** Events of the same change. */
  relevant: readonly RecordedEvent[];
  /** Greatest number of the page's subscribers. */
  maxSeq: number;
  isReady: boolean;
  /** Takes one of the mailings that an author has left on a page. Returns false without one. */
  takeOne(pageId: string, author: AuthorKind): boolean;
}

function recordMailing(
  ctx: Ctx,
  tx: Tx,
  event: RecordedEvent & { pageId: string },
  { relevant, maxSeq, isReady, takeOne }: Circumstances,
): void {
  const { type, subjectId, pageId, at, author = "monitor" } = event;
  if (type === "incident.deleted") {
    // The sender cancels the mails of stopped mailings.
    const stopped = stopMailingsOfSubject(tx, { subjectId });
    if (stopped > 0) tx.afterCommit(() => ctx.signals.mailsQueued.emit());
    return;
  }
  const page = findPage(tx, { id: pageId });
  if (!page || !isReady || pageReason(page) !== undefined) return;
  if (silentReason(event) !== undefined || isNamedMeanwhile(tx, event, relevant)) return;
  const earlier = listMailingsOfSubject(tx, { subjectId });
  if (isLeftOut(event, earlier)) return;
  if (type === "component.status_changed" && mergeStatus(tx, event, earlier)) return;
  insertMailing(tx, {
    id: ctx.newId("mlg"),
    eventId: event.id,
    pageId,
    subjectId,
    kind: type,
    state: takeOne(pageId, author) ? "expanding" : "held",
    cursor: NOT_BEGUN,
    maxSeq,
    beginAt: beginAt(type, at, findThread(tx, { subjectId })?.lastBeganAt ?? null),
    deadlineAt: deadlineAt(event),
    written: 0,
    sent: 0,
    bounced: 0,
    failed: 0,
    superseded: 0,
    cancelled: 0,
    expired: 0,
    createdAt: at,
    author,
  });
  wake(ctx, tx);
}

/** Returns a function that counts an author's mailings of a page once, however many events follow. */
function createTaking(reader: Reader, now: number): Circumstances["takeOne"] {
  const left = new Map<string, number>();
  return (pageId, author) => {
    const key = `${pageId} ${author}`;
    const before = left.get(key) ?? mailingsLeft(reader, { pageId, author, now });
    left.set(key, before - 1);
    return before > 0;
  };
}

/** Counts the further mailings of an author that a page sends without an admin. `now` is in unix ms. */
export function mailingsLeft(
  reader: Reader,
  { pageId, author, now }: Pick<MailingRow, "pageId" | "author"> & { now: number },
): number {
  const limit = MAILINGS_PER_DAY[author];
  const since = now - DAY_MS;
  const counted = countMailings(reader, { pageId, author, since, now, limit })?.count ?? 0;
  return limit - counted;
}

/**
 * Returns the outcome of the mails about a change of an incident or a maintenance that a transaction has recorded. Its
 * mailing is written at the end of the transaction, by the same rules.
 */
export function mailOfChange(
  ctx: Ctx,
  tx: Tx,
  { id: subjectId, pageId, isDraft = false }: WrittenSubject,
): WrittenMail {
  const readiness = mailReadiness(ctx);
  if (!readiness.ready) {
    const reason = `Mail cannot be sent: it needs ${describeMissing(readiness.missing)}.`;
    return { state: "off", reason };
  }
  const page = findPage(tx, { id: pageId });
  const offReason = page && pageReason(page);
  if (offReason !== undefined) return { state: "off", reason: offReason };
  const event = ctx.outbox.listUnpublished(tx).findLast((each) => each.subjectId === subjectId);
  const noneReason = isDraft ? DRAFT_REASON : event ? silentReason(event) : EDIT_REASON;
  if (noneReason !== undefined) return { state: "none", reason: noneReason };
  if (!findLastSubscriber(tx, { pageId })) {
    return { state: "none", reason: "The page has no subscribers." };
  }
  const author = event?.author ?? "monitor";
  const now = event?.at ?? ctx.clock.now();
  if (mailingsLeft(tx, { pageId, author, now }) <= 0) {
    return { state: "held", reason: `${limitReason(author)} An admin can release this one.` };
  }
  if (!findMailHold(tx)) return { state: "queued" };
  return { state: "held", reason: "All mailings are held until an admin releases them." };
}

function wake({ signals }: Ctx, tx: Tx): void {
  tx.afterCommit(() => signals.mailingsRecorded.emit());
}

/**
 * True if an incident or a maintenance of the same change names the component whose status changed, or if a monitor
 * changed it and its outage has joined an incident whose next update will name it.
 */
function isNamedMeanwhile(
  reader: Reader,
  { type, subjectId, pageId, author }: RecordedEvent & { pageId: string },
  relevant: readonly RecordedEvent[],
): boolean {
  if (type !== "component.status_changed") return false;
  const joined = { pageId, componentId: subjectId, startedFrom: 0 };
  if (author === "monitor" && findJoinedIncident(reader, joined)) return true;
  return relevant.some(
    (other) =>
      /^(?:incident|maintenance)\./.test(other.type) && namesComponent(other.data, subjectId),
  );
}

/** True for a reminder soon after the plan or the start. */
function isLeftOut({ type, at }: RecordedEvent, earlier: readonly MailingRow[]): boolean {
  if (type !== "maintenance.reminder") return false;
  return earlier.some(
    ({ kind, createdAt }) =>
      (kind === "maintenance.scheduled" || kind === "maintenance.started") &&
      at - createdAt < REMINDER_DISTANCE_MS,
  );
}

/**
 * Adds a change of a status to a mailing of the component that has not begun. Returns false without one that would
 * still be sent.
 */
function mergeStatus(tx: Tx, { at }: RecordedEvent, earlier: readonly MailingRow[]): boolean {
  const waiting = earlier.findLast(
    ({ state, cursor }) => state === "expanding" && cursor === NOT_BEGUN,
  );
  if (!waiting) return false;
  if (isNamedSince(tx, waiting)) {
    setProgress(tx, { ...waiting, state: "done" });
    return false;
  }
  setProgress(tx, { ...waiting, beginAt: Math.max(waiting.beginAt, at + STATUS_WAIT_MS) });
  return true;
}

function growReach(tx: Tx, { subjectId, pageId, data }: RecordedEvent & { pageId: string }): void {
  if (!findPage(tx, { id: pageId })) return;
  const thread = findThread(tx, { subjectId });
  const named =
    data["truncated"] === true
      ? getMaintenanceRecord(tx, subjectId).components.map(({ id }) => id)
      : componentIdsOf(data);
  if (!thread) {
    insertThread(tx, {
      subjectId,
      pageId,
      domain: "",
      subject: "",
      reach: named,
      lastBeganAt: null,
    });
    return;
  }
  const reach = new Set(thread.reach);
  const before = reach.size;
  for (const id of named) reach.add(id);
  if (reach.size > before) setThread(tx, { ...thread, reach: JSON.stringify([...reach]) });
}
