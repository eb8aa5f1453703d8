import type { Reader } from "../../../db";
import type { RecordedEvent } from "../../../events";
import type { WebhookFormat } from "../../../kernel/webhook";
import { type PageAddress, pageUrl as addressOf } from "../../pages";
import type { FormatContext, Message } from "../format";
import { FORMATS } from "../formats";

/** An event on its way, with the endpoint as far as its format concerns. */
export interface Outgoing {
  event: RecordedEvent;
  webhook: { url: string; format: WebhookFormat; settings: Record<string, unknown> };
  /** The page that it happened on, if there is one. */
  page: (PageAddress & { name: string }) | null;
}

/**
 * Says what a page shows as a whole, by its id. Whoever puts the application together brings it, since
 * that is reckoned in a room which webhooks do not know.
 */
export type ReadHeadline = (reader: Reader, pageId: string) => Headline;

type Headline = NonNullable<FormatContext["headline"]>;

/**
 * What is sent; undefined where the endpoint's format does not tell of the event. `headlineOf` says what a
 * page shows, by its id; it is asked by a format that needs it, and by no other.
 */
export function writeMessage(
  { event, webhook, page }: Outgoing,
  baseUrl: string,
  headlineOf?: (pageId: string) => Headline,
): Message | undefined {
  const { url, format, settings } = webhook;
  const context: FormatContext = {
    url,
    settings,
    pageName: page?.name ?? new URL(baseUrl).host,
    pageUrl: page ? addressOf(baseUrl, page) : baseUrl,
  };
  const { pageId } = event;
  if (pageId === null || !headlineOf) return FORMATS[format].write(event, context);
  return FORMATS[format].write(event, {
    ...context,
    get headline() {
      return headlineOf(pageId);
    },
  });
}
