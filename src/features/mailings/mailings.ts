import { setImmediate } from "node:timers/promises";
import type { Actor, AuthorKind } from "../../base/actor";
import type { Timer } from "../../base/clock";
import { conflict } from "../../base/errors";
import { runInSlices } from "../../base/in-slices";
import type { ComponentStatus } from "../../base/status";
import { plural } from "../../base/text";
import { DAY_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Db } from "../../db/database";
import type { Reader, Tx } from "../../db/statements";
import { audit, createRunningAudit } from "../../events/audit";
import type { EventSubscriber, RecordedEvent } from "../../events/outbox";
import { findComponent } from "../components/store";
import { findJoinedIncident } from "../incidents/outage-store";
import { findMailHold } from "../mail/hold";
import { enqueueMailsTo, NO_COUNTS, supersedeMailing, wakeSender } from "../mail/mail";
import { describeMissing, mailReadiness } from "../mail/settings";
import { getMaintenanceRecord } from "../maintenance/records";
import { languageTagsOf } from "../pages/rules";
import { findPage, type PageRow } from "../pages/store";
import type { WrittenMail, WrittenSubject } from "../timeline/updates";
import { getMailing, hasSubjectsByLanguage, reachOf, subjectLineOf, targetsOf } from "./lists";
import {
  beginAt,
  choiceOf,
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
  endFinishedMailings,
  findEvent,
  findExpanding,
  findLastSubscriber,
  findMailing,
  findNewestBegun,
  findNextBegin,
  findNextHeldEnd,
  findThread,
  findUnfinished,
  insertMailing,
  insertThread,
  listCandidates,
  listHeld,
  listMailingsOfSubject,
  listNamingEvents,
  listOpenBefore,
  type MailingRow,
  MERGED,
  NOT_BEGUN,
  setProgress,
  setThread,
  stopMailingsOfHiddenPages,
  stopMailingsOfSubject,
  type ThreadRow,
} from "./store";

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
    ...NO_COUNTS,
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
      subjects: {},
    });
    return;
  }
  const reach = new Set(thread.reach);
  const before = reach.size;
  for (const id of named) reach.add(id);
  if (reach.size > before) {
    const subjects = JSON.stringify(thread.subjects);
    setThread(tx, { ...thread, reach: JSON.stringify([...reach]), subjects });
  }
}

/** Number of held mailings that one transaction releases. */
const RELEASED_PER_BATCH = 250;

/**
 * Stops a mailing. The sender cancels its mails that have not begun. Throws `not_found`, or `conflict` if it has
 * ended.
 */
export function stopMailing(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const mailing = getMailing(tx, id);
  requireOpen(mailing);
  setProgress(tx, { ...mailing, state: "stopped" });
  audit(ctx, tx, actor, "mailing.stop", id, `Stopped the mailing about ${mailing.kind}`);
  wakeSender(ctx, tx);
}

/**
 * Releases a held mailing. Throws `not_found`, or `conflict` if it is not held, if its time is over, or if a newer
 * mailing about the same object has begun, which it would contradict.
 */
export function releaseMailing(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const mailing = getMailing(tx, id);
  requireOpen(mailing);
  if (mailing.state !== "held") throw conflict("The mailing is not held.");
  const now = ctx.clock.now();
  if (now >= mailing.deadlineAt) throw conflict("The time of the mailing is over.");
  if (newestBegunOf(tx, mailing.subjectId) > id)
    throw conflict("A newer mailing about it was sent already.");
  setProgress(tx, { ...mailing, state: "expanding", beginAt: now });
  audit(ctx, tx, actor, "mailing.release", id, `Released the mailing about ${mailing.kind}`);
  tx.afterCommit(() => ctx.signals.mailingsRecorded.emit());
}

/**
 * Releases the held mailings of a page that are neither late nor outdated, some hundred per transaction. The newest
 * go first, since what begins meanwhile contains the texts of older ones. Returns their number.
 */
export async function releaseHeldMailings(
  ctx: Ctx,
  page: { id: string; name: string },
  write: Db["write"],
  actor: Actor,
): Promise<number> {
  const ids = listHeld(ctx.db, { pageId: page.id }).map(({ id }) => id);
  const record = createRunningAudit(ctx, actor, "mailing.release", page.id);
  let released = 0;
  try {
    while (ids.length > 0) {
      const some = ids.splice(0, RELEASED_PER_BATCH);
      released += await write((tx) => {
        const count = releaseSome(ctx, tx, some);
        const all = plural(released + count, "held mailing");
        if (count > 0) record(tx, `Released ${all} of the page “${page.name}”`);
        return count;
      });
      await setImmediate();
    }
  } finally {
    if (released > 0) ctx.signals.mailingsRecorded.emit();
  }
  return released;
}

/** Releases those of some mailings that are held, and neither late nor outdated. Returns their number. */
function releaseSome({ clock }: Ctx, tx: Tx, ids: readonly string[]): number {
  const now = clock.now();
  // A component whose status changes all day is the subject of thousands.
  const newestBegun = new Map<string, string>();
  return ids.filter((id) => {
    const mailing = findMailing(tx, { id });
    if (mailing?.state !== "held" || now >= mailing.deadlineAt) return false;
    const { subjectId } = mailing;
    const newest = newestBegun.get(subjectId) ?? newestBegunOf(tx, subjectId);
    newestBegun.set(subjectId, newest);
    if (newest > id) return false;
    return setProgress(tx, { ...mailing, state: "expanding", beginAt: now }) > 0;
  }).length;
}

/** Returns the id of the newest mailing about an object that has begun; an empty text without one. */
function newestBegunOf(reader: Reader, subjectId: string): string {
  return findNewestBegun(reader, { subjectId })?.id ?? "";
}

function requireOpen({ state }: MailingRow): void {
  if (state === "done" || state === "stopped") throw conflict("The mailing has ended.");
}

/** Number of subscribers that one transaction reads, and of mails that it writes. */
const CHUNK = 500;
/** Number of mails within which domains take turns. */
const BATCH = 2_000;
/** Template of all mails of mailings. */
export const MAILING_TEMPLATE = "mailing";

/**
 * Writes the mails of up to 500 subscribers for the oldest due mailing. `domain` is that of the sender's address; undefined while mail is not ready. Returns true if there may be more.
 */
export function advanceMailings(ctx: Ctx, tx: Tx, domain: string | undefined): boolean {
  const mailing = findExpanding(tx, { now: ctx.clock.now() });
  if (!mailing) return false;
  const page = findPage(tx, { id: mailing.pageId });
  const isMailed = page && page.visibility === "public" && !page.isSample;
  const reach = isMailed ? reachOf(tx, mailing) : undefined;
  if (!page || !reach || domain === undefined) {
    setProgress(tx, { ...mailing, state: "stopped" });
    return true;
  }
  if (mailing.cursor !== NOT_BEGUN) return writeMails(ctx, tx, mailing, reach);
  const begun = begin(ctx, tx, mailing, { page, reach, domain });
  return begun ? writeMails(ctx, tx, begun, reach) : true;
}

interface Beginning {
  page: PageRow;
  reach: readonly string[];
  domain: string;
}

/** Begins a mailing. Returns undefined if it is over, or if a newer one contains its text. */
function begin(
  { clock }: Ctx,
  tx: Tx,
  mailing: MailingRow,
  { page, reach, domain }: Beginning,
): MailingRow | undefined {
  const now = clock.now();
  const end = (cursor: number) => setProgress(tx, { ...mailing, state: "done", cursor });
  if (now >= mailing.deadlineAt || !isStillTrue(tx, mailing)) {
    end(NOT_BEGUN);
    return undefined;
  }
  const waiting = listMailingsOfSubject(tx, mailing).filter(
    ({ id, state, cursor }) =>
      id !== mailing.id && (state === "expanding" || state === "held") && cursor === NOT_BEGUN,
  );
  const isDue = ({ id, state, beginAt }: MailingRow) =>
    id > mailing.id && state === "expanding" && beginAt <= now;
  if (waiting.some(isDue)) {
    end(MERGED);
    return undefined;
  }
  // Also a held one: it could not be sent after this one, and its text would be lost.
  for (const older of waiting.filter(({ id }) => id < mailing.id)) {
    setProgress(tx, { ...older, state: "done", cursor: MERGED });
  }
  const { subjectId, pageId } = mailing;
  const thread = findThread(tx, { subjectId });
  if (!thread) {
    const empty = { domain: "", subject: "", reach: [], lastBeganAt: null, subjects: {} };
    insertThread(tx, { subjectId, pageId, ...empty });
  }
  // Domain and subject stay those of the first mailing.
  const isFirst = !thread || thread.lastBeganAt === null;
  const subjects = subjectsOf(tx, mailing, page, isFirst ? undefined : thread);
  setThread(tx, {
    subjectId,
    domain: isFirst ? domain : thread.domain,
    subject: isFirst ? (subjects[page.locale] ?? subjectLineOf(tx, mailing, page)) : thread.subject,
    reach: JSON.stringify(reach),
    subjects: JSON.stringify(subjects),
    lastBeganAt: now,
  });
  const begun = { ...mailing, cursor: 0 };
  setProgress(tx, begun);
  return begun;
}

/**
 * Returns the subject lines of a thread by language, none where all languages have the same one. Those of earlier
 * mailings stay, and a language that the page has had only since gets one now.
 */
function subjectsOf(
  tx: Tx,
  mailing: MailingRow,
  page: PageRow,
  thread: ThreadRow | undefined,
): Record<string, string> {
  if (!hasSubjectsByLanguage(mailing, page)) return thread?.subjects ?? {};
  const subjects = { ...thread?.subjects };
  // Its mails were all in the language of the page.
  if (thread && Object.keys(subjects).length === 0) subjects[page.locale] = thread.subject;
  for (const locale of languageTagsOf(page)) {
    subjects[locale] ??= subjectLineOf(tx, mailing, { ...page, locale });
  }
  return subjects;
}

/** Cost of a subject in one more language as a step for `runInSlices`, if its words and formats are not loaded yet. */
const SUBJECT_STEP = 10;

/**
 * Writes the subjects of the mailing that begins next, so that the transaction in which it begins finds the words and
 * formats of all languages loaded.
 */
function* subjectSteps({ db, clock }: Ctx): Generator<number, void> {
  const mailing = findExpanding(db, { now: clock.now() });
  const page = mailing?.cursor === NOT_BEGUN ? findPage(db, { id: mailing.pageId }) : undefined;
  if (!mailing || !page || !hasSubjectsByLanguage(mailing, page)) return;
  for (const locale of languageTagsOf(page)) {
    subjectLineOf(db, mailing, { ...page, locale });
    yield SUBJECT_STEP;
  }
}

/**
 * Returns false for a change of a status that is not shown any more, or whose component an incident or a
 * maintenance has named since.
 */
function isStillTrue(reader: Reader, mailing: MailingRow): boolean {
  if (mailing.kind !== "component.status_changed") return true;
  const change = readStatusChange(reader, mailing);
  if (!change || change.status === change.before) return false;
  return !isNamedSince(reader, mailing);
}

/**
 * True if an incident or a maintenance has named a component since the mailing about its status was recorded, or if an
 * outage of it has joined an incident.
 */
function isNamedSince(
  reader: Reader,
  { pageId, subjectId, createdAt: since, author }: MailingRow,
): boolean {
  // A change by people is news even if an earlier outage has joined.
  const startedFrom = author === "monitor" ? 0 : since;
  if (findJoinedIncident(reader, { pageId, componentId: subjectId, startedFrom })) return true;
  return listNamingEvents(reader, { pageId, since }).some(({ data }) =>
    namesComponent(data, subjectId),
  );
}

/** Net change of a component's status since the event of a mailing. */
interface StatusChange {
  name: string;
  status: ComponentStatus;
  before: ComponentStatus;
  at: number;
}

/** Returns the net change of a status since an event; undefined if event or component are gone. */
export function readStatusChange(
  reader: Reader,
  { eventId, subjectId }: Pick<MailingRow, "eventId" | "subjectId">,
): StatusChange | undefined {
  const event = findEvent(reader, { id: eventId });
  const component = findComponent(reader, { id: subjectId });
  if (!event || !component) return undefined;
  const before = event.data["old_status"] as ComponentStatus;
  return { name: component.name, status: component.status, before, at: event.at };
}

function writeMails(ctx: Ctx, tx: Tx, mailing: MailingRow, reach: readonly string[]): boolean {
  const { id: mailingId, subjectId, kind } = mailing;
  const candidates = listCandidates(tx, {
    pageId: mailing.pageId,
    after: mailing.cursor,
    until: mailing.maxSeq,
    choice: JSON.stringify(choiceOf(kind) ?? ""),
    targets: JSON.stringify(targetsOf(tx, mailing, reach)),
    limit: CHUNK,
  });
  const seqs = candidates.filter(({ isIncluded }) => isIncluded === 1).map(({ seq }) => seq);
  enqueueMailsTo(ctx, tx, {
    mailingId,
    subjectId,
    template: MAILING_TEMPLATE,
    batch: Math.floor(mailing.written / BATCH),
    expiresAt: mailing.deadlineAt,
    seqs,
  });
  for (const older of listOpenBefore(tx, { subjectId, id: mailingId })) {
    supersedeMailing(ctx, tx, older.id, { by: mailingId, seqs });
  }
  const isLast = candidates.length < CHUNK;
  setProgress(tx, {
    ...mailing,
    state: isLast ? "sending" : "expanding",
    cursor: isLast ? mailing.maxSeq : (candidates.at(-1)?.seq ?? mailing.maxSeq),
  });
  return true;
}

/** Longest time between two looks at the database, in which mails may have been sent or mailings stopped. */
const TICK_MS = 5 * SECOND_MS;

interface RunningMailings {
  stop(): Promise<void>;
  /** Resolves when no mailing is due. */
  whenIdle(): Promise<void>;
}

/**
 * Starts writing the mails of due mailings, one transaction for up to 500 subscribers. Continues at the cursor
 * after a restart. Failed writes are repeated.
 */
export function startMailings(ctx: Ctx): RunningMailings {
  let running: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = false;
  let isFailing = false;
  let timer: Timer | undefined;

  async function advance(): Promise<void> {
    if (!hasUnfinished()) return;
    let hasMore = true;
    while (hasMore && !isStopped) {
      const domain = senderDomain(ctx);
      await runInSlices(subjectSteps(ctx));
      hasMore = await ctx.db.write((tx) => advanceMailings(ctx, tx, domain));
      await setImmediate();
    }
    await ctx.db.write((tx) => {
      // The sender cancels the mails of stopped mailings.
      if (stopMailingsOfHiddenPages(tx, {}) > 0) wakeSender(ctx, tx);
      endFinishedMailings(tx, { now: ctx.clock.now() });
    });
  }

  /** Idle servers write nothing. */
  const hasUnfinished = () => findUnfinished(ctx.db, { now: ctx.clock.now() }) !== undefined;

  async function run(): Promise<void> {
    let delayMs: number | undefined;
    while (isWoken && !isStopped) {
      isWoken = false;
      try {
        await advance();
        delayMs = untilNextLook();
        isFailing = false;
      } catch (error) {
        // Logged once per series of failures, which can last for hours.
        if (!isFailing) ctx.log.error({ err: error }, "mailings wait for the database");
        isFailing = true;
        delayMs = TICK_MS;
      }
    }
    running = undefined;
    timer?.cancel();
    if (!isStopped && delayMs !== undefined) timer = ctx.clock.after(delayMs, wake);
  }

  function wake(): void {
    isWoken = true;
    if (!isStopped) running ??= run();
  }

  /** Returns the time until the next look at the database in ms; undefined if nothing waits. */
  function untilNextLook(): number | undefined {
    const now = ctx.clock.now();
    if (!hasUnfinished()) {
      const end = findNextHeldEnd(ctx.db, {})?.at ?? undefined;
      return end === undefined ? undefined : Math.min(DAY_MS, Math.max(0, end - now));
    }
    const next = findNextBegin(ctx.db, {})?.at ?? Number.POSITIVE_INFINITY;
    return Math.min(TICK_MS, Math.max(0, next - now));
  }

  const listeners = [
    ctx.signals.mailingsRecorded.on(wake),
    // The page may be private now, and public again before the next look.
    ctx.signals.addressesChanged.on(wake),
    ctx.signals.databaseChangedElsewhere.on(wake),
  ];
  wake();
  return {
    async stop() {
      isStopped = true;
      for (const off of listeners) off();
      timer?.cancel();
      await running;
    },
    async whenIdle() {
      while (running) await running;
    },
  };
}

/** Returns the domain of the sender's address; undefined while mail is not ready. */
function senderDomain(ctx: Ctx): string | undefined {
  const readiness = mailReadiness(ctx);
  return readiness.ready ? readiness.settings.from.address.split("@").at(-1) : undefined;
}
