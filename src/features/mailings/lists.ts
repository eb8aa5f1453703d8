import type { Reader } from "../../db/statements";
import { NEWEST } from "../../base/ids";
import type { MailHold } from "../../base/mail-address";
import { notFound } from "../../base/errors";
import { findComponent } from "../components/store";
import { findIncident } from "../incidents/store";
import { findMaintenance } from "../maintenance/store";
import { listNewest, listNewestOfPage } from "./list-store";
import { findMailing, type MailingRow, MERGED, NOT_BEGUN } from "./store";

/** Query of the list of mailings; without a page for all pages. */
interface MailingQuery {
  pageId: string | undefined;
  /** Id of the last mailing before this part of the list. */
  before: string | undefined;
  limit: number;
}

/** Lists mailings, newest first. */
export function listMailings(
  reader: Reader,
  { pageId, before = NEWEST, limit }: MailingQuery,
): MailingRow[] {
  return pageId === undefined
    ? listNewest(reader, { before, limit })
    : listNewestOfPage(reader, { pageId, before, limit });
}

/** Returns a mailing. Throws `not_found`. */
export function getMailing(reader: Reader, id: string): MailingRow {
  const mailing = findMailing(reader, { id });
  if (!mailing) throw notFound("mailing");
  return mailing;
}

/** Returns the name of the object that a mailing is about; undefined once it is deleted. */
export function nameOfSubject(
  reader: Reader,
  { kind, subjectId: id }: Pick<MailingRow, "kind" | "subjectId">,
): string | undefined {
  if (kind.startsWith("incident.")) return findIncident(reader, { id })?.row.name;
  if (kind.startsWith("maintenance.")) return findMaintenance(reader, { id })?.row.name;
  return findComponent(reader, { id })?.name;
}

/** Returns the number of a mailing's mails that are neither sent nor over. */
export function waitingOf(mailing: MailingRow): number {
  const { written, sent, bounced, failed, superseded, cancelled, expired } = mailing;
  return written - sent - bounced - failed - superseded - cancelled - expired;
}

/** State of a mailing as people see it. */
export type MailingProgress =
  /** Until its window is over. */
  | "waiting"
  | "sending"
  /** Until an admin releases it, since the page had too many, or all mailings are held. */
  | "held"
  | "all_held"
  | "done"
  /** Its text is in the next mailing of its subject. */
  | "merged"
  /** Over before it began: too late, or not true any more. */
  | "not_begun"
  | "stopped";

/** Returns the state of a mailing at a time (unix ms), while all mailings are held or not. */
export function progressOf(
  { state, cursor, beginAt }: MailingRow,
  hold: MailHold | undefined,
  now: number,
): MailingProgress {
  if (state === "held" || state === "stopped") return state;
  if (state === "done") {
    if (cursor === MERGED) return "merged";
    return cursor === NOT_BEGUN ? "not_begun" : "done";
  }
  if (hold) return "all_held";
  return cursor === NOT_BEGUN && beginAt > now ? "waiting" : "sending";
}
