import type { Tx } from "../../db";
import { SESSION_IDLE_MS, SESSION_LIFETIME_MS } from "./rules";
import { deleteDeadLinks, deleteDeadSessions } from "./store";

const ROWS_AT_ONCE = 500;

/**
 * Deletes sessions and links that open nothing any more, at most 500 rows a call, so that no
 * transaction grows long. What is left is for the next call. `now` in unix ms.
 */
export function sweepAuth(tx: Tx, now: number): void {
  const sessions = deleteDeadSessions(tx, {
    seenUntil: now - SESSION_IDLE_MS,
    createdUntil: now - SESSION_LIFETIME_MS,
    limit: ROWS_AT_ONCE,
  });
  deleteDeadLinks(tx, { now, limit: ROWS_AT_ONCE - sessions });
}
