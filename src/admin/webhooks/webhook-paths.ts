import type { DeliveryStatus } from "../../kernel/webhook";
import { WEBHOOKS_PATH, webhookPath } from "../paths";

export const NEW_WEBHOOK_PATH = `${WEBHOOKS_PATH}/new`;

/** What is asked before it is done to an endpoint, each on a page of its own. */
export type Question = "rotate" | "disable" | "redeliver" | "delete";

/** The screens of one endpoint, and where its forms are sent. */
export function pathsOfWebhook(id: string) {
  const home = webhookPath(id);
  return {
    home,
    edit: `${home}/edit`,
    test: `${home}/test`,
    enable: `${home}/enable`,
    ask: (question: Question) => `${home}/${question}`,
    /** A list of its deliveries, those behind one of them where `before` is given. */
    deliveries({ status, before }: { status?: DeliveryStatus; before?: string }): string {
      const query = new URLSearchParams();
      if (status !== undefined) query.set("show", status);
      if (before !== undefined) query.set("before", before);
      const text = query.toString();
      return text === "" ? home : `${home}?${text}`;
    },
    /** One delivery, with the answer to its last try or to the one of a number. */
    delivery(deliveryId: string, tryNumber?: number): string {
      const path = `${home}/deliveries/${encodeURIComponent(deliveryId)}`;
      return tryNumber === undefined ? path : `${path}?try=${tryNumber}`;
    },
    sendAgain: (deliveryId: string) =>
      `${home}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`,
  };
}
