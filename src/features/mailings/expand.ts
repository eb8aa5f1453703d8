import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { ComponentStatus } from "../../base/status";
import { findComponent } from "../components/store";
import { findJoinedIncident } from "../incidents/outage-store";
import { enqueueMailsTo, supersedeMailing } from "../mail/queue";
import { findPage, type PageRow } from "../pages/store";
import { reachOf, targetsOf } from "./reach";
import { choiceOf, namesComponent } from "./rules";
import {
  findEvent,
  findExpanding,
  findThread,
  insertThread,
  listMailingsOfSubject,
  listNamingEvents,
  listOpenBefore,
  type MailingRow,
  MERGED,
  NOT_BEGUN,
  setProgress,
  setThread,
} from "./store";
import { listCandidates } from "./subscriber-store";
import { subjectLineOf } from "./subject";

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
    insertThread(tx, { subjectId, pageId, domain: "", subject: "", reach: [], lastBeganAt: null });
  }
  // Domain and subject stay those of the first mailing.
  const isFirst = !thread || thread.lastBeganAt === null;
  setThread(tx, {
    subjectId,
    domain: isFirst ? domain : thread.domain,
    subject: isFirst ? subjectLineOf(tx, mailing, page) : thread.subject,
    reach: JSON.stringify(reach),
    lastBeganAt: now,
  });
  const begun = { ...mailing, cursor: 0 };
  setProgress(tx, begun);
  return begun;
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
export function isNamedSince(
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
export interface StatusChange {
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
