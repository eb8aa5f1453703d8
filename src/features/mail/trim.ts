import type { Tx } from "../../db";
import { trimUnmatchedReports } from "./reports/take-reports";
import { deleteMailingsBefore, deleteMailsBefore, deleteReportsBefore } from "./trim-store";
import { UNDO_WAIT_MS } from "./undo";
import { deleteUndosBefore } from "./undo-store";

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

/**
 * Deletes mails that have ended, mailings and reports from before `before` (unix ms), and unmatched reports of
 * more than 30 days ago. Returns true if there may be more.
 */
export function trimMails(tx: Tx, { before, now }: { before: number; now: number }): boolean {
  trimUnmatchedReports(tx, now);
  const some = { before, limit: ROWS_PER_BATCH };
  // Mails from before an undo must not count again, so it is kept as long as they are.
  const undos = { ...some, before: Math.min(before, now - UNDO_WAIT_MS) };
  const deleted = [
    deleteUndosBefore(tx, undos),
    deleteMailsBefore(tx, some),
    deleteMailingsBefore(tx, some),
    deleteReportsBefore(tx, some),
  ];
  return deleted.includes(ROWS_PER_BATCH);
}
