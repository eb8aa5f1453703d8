import type { Tx } from "../../db";
import { sweepPasswordRequests } from "./forgot";
import { sweepKeyWarnings } from "./key-warnings";

/** Deletes what no mail to a user needs any more at `now` (unix ms). Returns true if more may be left. */
export function sweepUserMails(tx: Tx, now: number): boolean {
  sweepKeyWarnings(tx, now);
  return sweepPasswordRequests(tx, now);
}
