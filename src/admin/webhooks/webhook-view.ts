import type { Reader } from "../../db";
import {
  type Backlog,
  type DeliveryRecord,
  deliveryHealth,
  type Failure,
  getWebhookRecord,
  lastFailure,
  listDeliveries,
  type WebhookRecord,
} from "../../features/webhooks";
import { findPage, type PageRow } from "../../features/pages";
import { NEWEST } from "../../domain/ids";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../domain/webhook";

const PAGE_SIZE = 25;

/** Endpoint with its health and one screen of its deliveries. */
export interface WebhookView {
  record: WebhookRecord;
  /** Page whose events the endpoint receives; null for all pages. */
  page: PageRow | null;
  backlog: Backlog | undefined;
  failure: Failure | undefined;
  deliveries: readonly DeliveryRecord[];
  status: DeliveryStatus | undefined;
  /**
   * Last id of this screen if more follow. `isContinued` is true for every screen but the first.
   */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/**
 * Reads an endpoint and the deliveries for a query. Invalid parameters are ignored. Throws
 * `not_found`.
 */
export function readWebhookView(
  reader: Reader,
  id: string,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): WebhookView {
  const record = getWebhookRecord(reader, id, now);
  const { pageId } = record.row;
  const status = DELIVERY_STATUSES.find((one) => one === query["show"]);
  const before = query["before"] || undefined;
  const found = listDeliveries(reader, {
    webhookId: id,
    status: status ?? null,
    before: before ?? NEWEST,
    limit: PAGE_SIZE + 1,
  });
  const deliveries = found.slice(0, PAGE_SIZE);
  return {
    record,
    page: (pageId !== null && findPage(reader, { id: pageId })) || null,
    backlog: deliveryHealth(reader, now).backlogs.find(({ webhookId }) => webhookId === id),
    failure: lastFailure(reader, id),
    deliveries,
    status,
    nextBefore: found.length > PAGE_SIZE ? deliveries.at(-1)?.row.id : undefined,
    isContinued: before !== undefined,
  };
}
