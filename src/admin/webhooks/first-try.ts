import type { Ctx } from "../../context";
import type { DeliveryStatus } from "../../base/webhook";
import { type DeliveryRecord, getDelivery } from "../../features/webhooks/deliveries";
import { SECOND_MS } from "../../base/time";

/** Time for which a screen waits for the result of a test, in milliseconds. */
const WAIT_MS = 2 * SECOND_MS;

/** Messages about a test event by the status of its delivery. */
export const TEST_RESULTS: Readonly<Record<DeliveryStatus, string>> = {
  pending: "The test event is queued. No result yet.",
  delivered: "The test event was delivered.",
  failed: "The test event was not delivered. The response shows the reason.",
  cancelled: "The test event was cancelled.",
  superseded: "The test event was not sent, because a newer message arrived first.",
};

/**
 * Returns a new delivery after its first attempt, or after two seconds without a result. Does not wait if
 * nothing delivers in this process.
 */
export async function awaitFirstTry(
  { clock, db, signals }: Ctx,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord> {
  const read = () => getDelivery(db, webhookId, deliveryId);
  if (!signals.deliveriesQueued.hasListeners) return read();
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = signals.deliveryTried.on((id) => {
    if (id === deliveryId) resolve();
  });
  const timer = clock.after(WAIT_MS, resolve);
  try {
    if (read().row.tries === 0) await promise;
    return read();
  } finally {
    timer.cancel();
    unsubscribe();
  }
}
