import type { DeliveryStatus } from "../../base/webhook";
import { webhookPath, WEBHOOKS_PATH } from "../../ui/frame/paths";

export const NEW_WEBHOOK_PATH = `${WEBHOOKS_PATH}/new`;

/** Returns the paths of an endpoint's screens and forms. */
export function pathsOfWebhook(id: string) {
  const home = webhookPath(id);
  return {
    home,
    edit: `${home}/edit`,
    test: `${home}/test`,
    enable: `${home}/enable`,
    confirmation: `${home}/confirmation`,
    rotate: `${home}/rotate`,
    disable: `${home}/disable`,
    redeliver: `${home}/redeliver`,
    delete: `${home}/delete`,
    /** Returns the path of the list of deliveries; `before` continues after that id. */
    deliveries({ status, before }: { status?: DeliveryStatus; before?: string }): string {
      const query = new URLSearchParams();
      if (status !== undefined) query.set("show", status);
      if (before !== undefined) query.set("before", before);
      const text = query.toString();
      return text === "" ? home : `${home}?${text}`;
    },
    /**
     * Returns the path of one delivery, with the response of its last attempt or of the given one.
     */
    delivery(deliveryId: string, tryNumber?: number): string {
      const path = `${home}/deliveries/${encodeURIComponent(deliveryId)}`;
      return tryNumber === undefined ? path : `${path}?try=${tryNumber}`;
    },
    sendAgain: (deliveryId: string) =>
      `${home}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`,
  };
}
