import type { MailClass } from "../../base/mail-address";
import { DAY_MS } from "../../base/time";
import type { Reader, Tx } from "../../db/statements";
import { findReportToken, trimUnmatchedReports } from "./reports";
import {
  countPendingOfMailings,
  countUnmatched,
  countWaiting,
  deleteMailingsBefore,
  deleteMailsBefore,
  deleteReportsBefore,
  findMail,
  findNextMailing,
  findPendingOfMailing,
  sumOfOpenMailings,
} from "./store";
import { findRelayRecord, type RelayRecord } from "./settings";
import { deleteUndosBefore } from "./suppression-store";

/*
 * Figures of what waits and what came back, for people and metrics, and the deletion of what is over.
 */

/** Returns the number of pending mails of a class, and the time at which the oldest was queued (unix ms). */
export function waitingMails(
  reader: Reader,
  one: MailClass,
): { count: number; oldestAt: number | undefined } {
  if (one === 3) return waitingOfMailings(reader);
  const { count = 0, oldestId = null } = countWaiting(reader, { class: one }) ?? {};
  const oldest = oldestId === null ? undefined : findMail(reader, { id: oldestId });
  return { count, oldestAt: oldest?.createdAt };
}

/** Number of waiting mails up to which rows are counted; beyond it the counts of mailings are added up. */
const COUNTED_MAX = 1_000;

/** There can be 100,000: neither are all rows counted, nor is the oldest looked for among all of them. */
function waitingOfMailings(reader: Reader): ReturnType<typeof waitingMails> {
  const times: number[] = [];
  for (let after = ""; ;) {
    const id = findNextMailing(reader, { after })?.id ?? null;
    if (id === null) break;
    after = id;
    const found = findPendingOfMailing(reader, { mailingId: id });
    if (found) times.push(found.createdAt);
  }
  const counted = countPendingOfMailings(reader, { limit: COUNTED_MAX + 1 })?.count ?? 0;
  const count =
    counted <= COUNTED_MAX ? counted : Math.max(counted, sumOfOpenMailings(reader, {})?.count ?? 0);
  return { count, oldestAt: times.length > 0 ? Math.min(...times) : undefined };
}

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

/** Time for which mails are kept at least: waits and failures in a row are counted from them. */
const COUNTED_MS = 30 * DAY_MS;

/**
 * Deletes mails that have ended, mailings and reports from before `before` (unix ms), and unmatched reports. All are
 * of more than 30 days ago. Returns true if there may be more.
 */
export function trimMails(tx: Tx, { before, now }: { before: number; now: number }): boolean {
  trimUnmatchedReports(tx, now);
  const some = { before: Math.min(before, now - COUNTED_MS), limit: ROWS_PER_BATCH };
  const deleted = [
    // Mails from before an undo must not count again, so it is kept as long as they are.
    deleteUndosBefore(tx, some),
    deleteMailsBefore(tx, some),
    deleteMailingsBefore(tx, some),
    deleteReportsBefore(tx, some),
  ];
  return deleted.includes(ROWS_PER_BATCH);
}

const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Waiting mails of one class. */
export interface WaitingMails {
  class: MailClass;
  count: number;
  /** Time at which the oldest was queued (unix ms). */
  oldestAt: number | undefined;
}

/** State of sending and of what came back, for people. */
export interface Delivery {
  /** Undefined until the relay answered a mail since the start. */
  relay: RelayRecord | undefined;
  waiting: readonly WaitingMails[];
  /** Number of unmatched reports. */
  unmatched: number;
  /** Time at which the token for reports was made (unix ms); undefined without one. */
  tokenAt: number | undefined;
}

/** Reads the state of sending and of what came back. */
export function readDelivery(reader: Reader): Delivery {
  return {
    relay: findRelayRecord(reader),
    waiting: CLASSES.map((one) => ({ class: one, ...waitingMails(reader, one) })),
    unmatched: countUnmatched(reader, {})?.count ?? 0,
    tokenAt: findReportToken(reader)?.createdAt,
  };
}
