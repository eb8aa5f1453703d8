import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import type { RecordedEvent } from "../../../events/outbox";
import type { WebhookFormat } from "../../../base/webhook";
import { type PageAddress, pageUrl as addressOf } from "../../pages/references";
import type { FormatContext, Message } from "../formats/format";
import { FORMATS } from "../formats";
import { type DeliveryToTry, findEventPage } from "../delivery-store";
import type { Member } from "./groups";
import { countKnownDown } from "./group-store";
import { findShownStatus } from "../store";

/** An event with the parts of the endpoint that its format needs. */
export interface Outgoing {
  event: RecordedEvent;
  webhook: { url: string; format: WebhookFormat; settings: Record<string, unknown> };
  /** Page of the event, if it has one. */
  page: (PageAddress & { name: string }) | null;
  /** Gathered events, of which `event` is the newest; absent for a message about one. */
  gathered?: FormatContext["gathered"];
}

/**
 * Returns the parts of the message that deliveries of one group make, oldest first. `row` is one of them. Messages of
 * several pages belong to none.
 */
export function outgoingOf(
  reader: Reader,
  { webhook }: Pick<DeliveryToTry, "webhook">,
  members: readonly Member[],
): Outgoing & Pick<DeliveryToTry, "webhook"> {
  const events = members.map(({ event }) => event as RecordedEvent);
  const event = events.at(-1);
  if (!event) throw new Error("a group of deliveries has no event");
  const [pageId = null, ...otherPages] = new Set(events.map((one) => one.pageId));
  const page =
    pageId === null || otherPages.length > 0 ? undefined : findEventPage(reader, { id: pageId });
  const outgoing = { event, webhook, page: page ?? null };
  if (events.length === 1) return outgoing;
  const except = JSON.stringify(events.map(({ subjectId }) => subjectId));
  const stillDown = countKnownDown(reader, { webhookId: webhook.id, except })?.count ?? 0;
  return { ...outgoing, gathered: { events, stillDown } };
}

/**
 * Reads the headline of a page by its id. The application passes it in, since this module must not
 * import `status`.
 */
export type ReadHeadline = (reader: Reader, pageId: string) => Headline;

type Headline = NonNullable<FormatContext["headline"]>;

/**
 * Returns the message for an event; undefined if the endpoint's format has none. Page and component
 * statuses are read from `db` only by formats that need them.
 */
export function writeMessage(
  ctx: Ctx,
  outgoing: Outgoing,
  readHeadline?: ReadHeadline,
): Message | undefined {
  return FORMATS[outgoing.webhook.format].write(
    outgoing.event,
    contextOf(ctx, outgoing, readHeadline),
  );
}

/** Returns the facts about endpoint and page that formats use. */
export function contextOf(
  { baseUrl, db }: Ctx,
  { event: { pageId }, webhook, page, gathered }: Outgoing,
  readHeadline?: ReadHeadline,
): FormatContext {
  const { url, settings } = webhook;
  return {
    url,
    settings,
    gathered,
    pageName: page?.name ?? new URL(baseUrl).host,
    pageUrl: page ? addressOf(baseUrl, page) : baseUrl,
    statusOf: (componentId) => findShownStatus(db, { id: componentId })?.status,
    get headline() {
      return pageId === null ? undefined : readHeadline?.(db, pageId);
    },
  };
}
