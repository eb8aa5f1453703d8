import type { Tx } from "../../db";
import { hasBatches } from "./delivery-store";
import { deleteHoursBefore } from "./health-store";
import { deleteDeliveriesOf, deleteEvent, listEventsBefore } from "./trim-store";

/** Small enough that nobody waits for the transaction: each delivery has up to ten tries, and answers. */
const ROWS_AT_ONCE = 200;

/**
 * Deletes events from before a moment (unix ms) with what tells of their delivery, the oldest first, a
 * few hundred rows a call. What still waits to be delivered is left, with its event. Whether there may
 * be more.
 */
export function trimDeliveries(tx: Tx, before: number): boolean {
  const hours = deleteHoursBefore(tx, { before, limit: ROWS_AT_ONCE });
  // Events whose deliveries are still to be written look as if nothing waited for them.
  if (hasBatches(tx)) return hours === ROWS_AT_ONCE;
  const events = listEventsBefore(tx, { before, limit: ROWS_AT_ONCE });
  let left = ROWS_AT_ONCE;
  for (const { id } of events) {
    left -= deleteDeliveriesOf(tx, { eventId: id, limit: left });
    if (left <= 0) return true;
    deleteEvent(tx, { id });
  }
  return events.length === ROWS_AT_ONCE || hours === ROWS_AT_ONCE;
}
