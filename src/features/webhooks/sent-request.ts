import type { AppContext } from "../../context";
import type { RecordedEvent } from "../../events";
import { blanked, secretsIn } from "./deliver/blanking";
import { type ReadHeadline, writeMessage } from "./deliver/message";
import { findForTry } from "./delivery-store";
import { shownUrl } from "./formats";

/** Request of a delivery as it may be shown, without its secrets. */
export interface SentRequest {
  url: string;
  /** Without the time of a try and its signature. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * Returns the request of a delivery, built again from its event. The bytes equal those of every try,
 * unless the endpoint was changed since or its format includes what the page shows. Undefined if the
 * format has no message for the event.
 */
export function sentRequest(
  ctx: Pick<AppContext, "baseUrl" | "db">,
  deliveryId: string,
  readHeadline?: ReadHeadline,
): SentRequest | undefined {
  const found = findForTry(ctx.db, { id: deliveryId });
  if (!found) return undefined;
  const { webhook, page } = found;
  const event = found.event as RecordedEvent;
  const message = writeMessage(ctx, { event, webhook, page }, readHeadline);
  if (!message) return undefined;
  const secrets = secretsIn(webhook);
  const cut = (text: string) => blanked(text, secrets);
  const { url = webhook.url } = message;
  const headers = { ...message.headers, "webhook-id": event.id };
  return {
    url: url === webhook.url ? shownUrl(webhook.format, url) : cut(url),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, cut(value)])),
    body: cut(message.body),
  };
}
