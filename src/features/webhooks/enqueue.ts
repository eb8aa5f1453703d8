import type { AppContext } from "../../context";
import type { EventSubscriber } from "../../events";
import { insertDelivery } from "./delivery-store";
import { findLiveWebhook, listTakers } from "./store";

/**
 * Queues each event for the endpoints that want it, in the transaction of the change that it tells of:
 * the two commit together or not at all. Whoever delivers is woken after the commit.
 */
export function enqueueDeliveries(ctx: Pick<AppContext, "newId" | "signals">): EventSubscriber {
  return (tx, { id: eventId, type, pageId, subjectId, at }) => {
    // Who tries an endpoint out wants to see that one, whatever it listens to.
    const takers =
      type === "webhook.test"
        ? [findLiveWebhook(tx, { id: subjectId })].filter((taker) => taker !== undefined)
        : listTakers(tx, { type, pageId });
    if (takers.length === 0) return;
    for (const taker of takers) {
      insertDelivery(tx, {
        id: ctx.newId("dlv"),
        webhookId: taker.id,
        eventId,
        subjectId,
        status: "pending",
        tries: 0,
        triesBefore: 0,
        nextTryAt: at,
        createdAt: at,
      });
    }
    tx.afterCommit(() => {
      for (const { id } of takers) ctx.signals.deliveriesQueued.emit(id);
    });
  };
}
