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
import { NEWEST } from "../../kernel/ids";
import { readPages } from "../read-pages";

const PAGE_SIZE = 50;

/** An endpoint with how it does. */
export interface ListedWebhook {
  record: WebhookRecord;
  backlog: Backlog | undefined;
  failure: Failure | undefined;
}

/** One screen of the list of endpoints. */
export interface WebhookListing {
  webhooks: readonly ListedWebhook[];
  pages: readonly PageRow[];
  /** The id behind which the next screen begins, if there is one; and whether this is not the first. */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/** Endpoints newest first, those older than the one of the id `before`; `now` in unix ms. */
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
