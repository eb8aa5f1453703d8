import type { Reader } from "../../db";
import {
  type Backlog,
  deliveryHealth,
  type Failure,
  lastFailure,
  listWebhooks,
  type WebhookRecord,
} from "../../features/webhooks";
import type { PageRow } from "../../features/pages";
import { NEWEST } from "../../domain/ids";
import { readPages } from "../read-pages";

const PAGE_SIZE = 50;

/** Endpoint with its backlog and last failure. */
export interface ListedWebhook {
  record: WebhookRecord;
  backlog: Backlog | undefined;
  failure: Failure | undefined;
}

/** Content of one screen of the list of endpoints. */
export interface WebhookListing {
  webhooks: readonly ListedWebhook[];
  pages: readonly PageRow[];
  /**
   * Last id of this screen if more follow. `isContinued` is true for every screen but the first.
   */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/** Reads endpoints, newest first, older than the one with the id `before`. `now` is in unix ms. */
export function readWebhookList(
  reader: Reader,
  before: string | undefined,
  now: number,
): WebhookListing {
  const position = { before: before ?? NEWEST, limit: PAGE_SIZE + 1 };
  const records = listWebhooks(reader, position, now);
  const shown = records.slice(0, PAGE_SIZE);
  const { backlogs } = deliveryHealth(reader, now);
  return {
    webhooks: shown.map((record) => ({
      record,
      backlog: backlogs.find(({ webhookId }) => webhookId === record.row.id),
      failure: lastFailure(reader, record.row.id),
    })),
    pages: readPages(reader),
    nextBefore: records.length > PAGE_SIZE ? shown.at(-1)?.row.id : undefined,
    isContinued: before !== undefined,
  };
}
