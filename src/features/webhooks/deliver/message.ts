import type { AppContext } from "../../../context";
import type { Reader } from "../../../db";
import type { RecordedEvent } from "../../../events";
import type { WebhookFormat } from "../../../domain/webhook";
import { type PageAddress, pageUrl as addressOf } from "../../pages";
import type { FormatContext, Message } from "../formats/format";
import { FORMATS } from "../formats";
import { findShownStatus } from "../store";

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
 * Writes what is sent, or undefined where the endpoint's format does not tell of the event. What the page
 * and its components show is read from `db` by formats that need it, and by no other.
 */
export function writeMessage(
  { baseUrl, db }: Pick<AppContext, "baseUrl" | "db">,
  { event, webhook, page }: Outgoing,
  readHeadline?: ReadHeadline,
): Message | undefined {
  const { url, format, settings } = webhook;
  const { pageId } = event;
  return FORMATS[format].write(event, {
    url,
    settings,
    pageName: page?.name ?? new URL(baseUrl).host,
    pageUrl: page ? addressOf(baseUrl, page) : baseUrl,
    statusOf: (componentId) => findShownStatus(db, { id: componentId })?.status,
    get headline() {
      return pageId === null ? undefined : readHeadline?.(db, pageId);
    },
  });
}
