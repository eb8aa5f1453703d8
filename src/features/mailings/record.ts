import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { EventSubscriber, RecordedEvent } from "../../events";
import { DAY_MS } from "../../kernel/time";
import { mailReadiness } from "../mail";
import { getMaintenanceRecord } from "../maintenance";
import { findPage } from "../pages";
import { isNamedSince } from "./expand";
import {
  beginAt,
  componentIdsOf,
  deadlineAt,
  isMailed,
  MAILINGS_PER_DAY,
  namesComponent,
  REMINDER_DISTANCE_MS,
  STATUS_WAIT_MS,
} from "./rules";
import {
  findMailingBefore,
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

type Services = Pick<AppContext, "newId" | "signals">;

const SUBJECTS = /^(?:incident|maintenance|component)\./;

/**
 * Writes one mailing for each event that subscribers get mails of, in the transaction of the change. What
 * happens while mail is not ready is not mailed later.
 */
export function recordMailings(
  ctx: Services & Pick<AppContext, "baseUrl" | "config" | "db">,
): EventSubscriber {
  return (tx, groups) => {
    const relevant = groups.flat().filter(({ type }) => SUBJECTS.test(type));
    if (relevant.length === 0) return;
    const audiences = new Map<string, number | undefined>();
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
      recordMailing(ctx, tx, { ...event, pageId }, { relevant, maxSeq, isReady: isMailReady });
    }
  };
}

interface Circumstances {
  /** Events of the same change. */
  relevant: readonly RecordedEvent[];
  /** Greatest number of the page's subscribers. */
  maxSeq: number;
  isReady: boolean;
}

function recordMailing(
  ctx: Services,
  tx: Tx,
  event: RecordedEvent & { pageId: string },
  { relevant, maxSeq, isReady }: Circumstances,
): void {
  const { type, subjectId, pageId, at } = event;
  if (type === "incident.deleted") {
    // The sender cancels the mails of stopped mailings.
    const stopped = stopMailingsOfSubject(tx, { subjectId });
    if (stopped > 0) tx.afterCommit(() => ctx.signals.mailsQueued.emit());
    return;
  }
  const page = findPage(tx, { id: pageId });
  if (!page) return;
  if (!isReady || !isMailed(event, page) || isNamedMeanwhile(event, relevant)) return;
  const earlier = listMailingsOfSubject(tx, { subjectId });
  if (isLeftOut(event, earlier)) return;
  if (type === "component.status_changed" && mergeStatus(tx, event, earlier)) return;
  const deadline = deadlineAt(event);
  if (deadline <= at) return;
  const fiftieth = findMailingBefore(tx, { pageId, offset: MAILINGS_PER_DAY - 1 });
  const isHeld = fiftieth !== undefined && fiftieth.createdAt > at - DAY_MS;
  insertMailing(tx, {
    id: ctx.newId("mlg"),
    eventId: event.id,
    pageId,
    subjectId,
    kind: type,
    state: isHeld ? "held" : "expanding",
    cursor: NOT_BEGUN,
    maxSeq,
    beginAt: beginAt(type, at, findThread(tx, { subjectId })?.lastBeganAt ?? null),
    deadlineAt: deadline,
    written: 0,
    sent: 0,
    bounced: 0,
    failed: 0,
    superseded: 0,
    cancelled: 0,
    expired: 0,
    createdAt: at,
  });
  wake(ctx, tx);
}

function wake({ signals }: Services, tx: Tx): void {
  tx.afterCommit(() => signals.mailingsRecorded.emit());
}

/** True if an incident or a maintenance of the same change names the component whose status changed. */
function isNamedMeanwhile(
  { type, subjectId }: RecordedEvent,
  relevant: readonly RecordedEvent[],
): boolean {
  if (type !== "component.status_changed") return false;
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
