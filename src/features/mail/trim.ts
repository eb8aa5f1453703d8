import type { Tx } from "../../db/statements";
import { DAY_MS } from "../../base/time";
import { trimUnmatchedReports } from "./reports/take-reports";
import { deleteMailingsBefore, deleteMailsBefore, deleteReportsBefore } from "./trim-store";
import { deleteUndosBefore } from "./undo-store";

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
