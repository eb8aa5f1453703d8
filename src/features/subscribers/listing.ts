import type { Reader } from "../../db";
import type { RequestedChoices } from "../../db/tables/mail";
import type { SubscriberEvent, SubscriberScope, SuppressionReason } from "../../domain/mail";
import { toIso } from "../../kernel/time";
import { listSuppressionsOf } from "../mail";
import type { PageRow } from "../pages";
import { choicesOf } from "./choices";
import { readRefs, refsOf } from "./refs";
import { listActiveAfter, listOpenRequestsAfter, listUnsubscribedAfter } from "./transfer-store";

/** Rows that are read at a time. */
const ROWS_PER_BATCH = 200;

export const LISTED_STATUSES = ["active", "suppressed", "unconfirmed", "unsubscribed"] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** Subscriber, or a person who has not confirmed. Names as in the command's JSON. */
export interface SubscriberLine {
  id: string;
  /** Null some time after unsubscribing. */
  email: string | null;
  status: ListedStatus;
  /** Reasons for which the address gets no mails of the page, if it is suppressed. */
  reasons: SuppressionReason[];
  scope: SubscriberScope;
  components: string[];
  groups: string[];
  events: SubscriberEvent[];
  /** Time of the consent; of the sign-up if it is not confirmed. */
  since: string;
}

/** Lists the subscribers of a page with a status, or of every status. */
export function* listSubscribersOfPage(
  reader: Reader,
  page: PageRow,
  { status, now }: { status: ListedStatus | undefined; now: number },
): Generator<SubscriberLine> {
  const { id: pageId } = page;
  const limit = ROWS_PER_BATCH;
  const refs = readRefs(reader, pageId);
  const withRefs = ({ scope, targets, events }: RequestedChoices) => ({
    scope,
    ...refsOf(targets, refs),
    events,
  });

  if (status === undefined || status === "active" || status === "suppressed") {
    const read = (after: number) => listActiveAfter(reader, { pageId, after, limit });
    for (const row of inBatches(read, -1, ({ seq }) => seq)) {
      const reasons = reasonsOf(reader, row.addressHmac, pageId);
      const found = reasons.length > 0 ? "suppressed" : "active";
      if (status !== undefined && status !== found) continue;
      const { id, address: email, confirmedAt } = row;
      const choices = withRefs(choicesOf(reader, row));
      yield { id, email, status: found, reasons, ...choices, since: toIso(confirmedAt) };
    }
  }
  if (status === undefined || status === "unconfirmed") {
    const read = (after: string) => listOpenRequestsAfter(reader, { pageId, after, now, limit });
    for (const { id, address: email, choices, requestedAt } of inBatches(read, "", idOf)) {
      const since = toIso(requestedAt);
      yield { id, email, status: "unconfirmed", reasons: [], ...withRefs(choices), since };
    }
  }
  if (status === undefined || status === "unsubscribed") {
    const read = (after: string) => listUnsubscribedAfter(reader, { pageId, after, limit });
    for (const row of inBatches(read, "", idOf)) {
      const { id, address: email, confirmedAt } = row;
      const choices = withRefs(choicesOf(reader, row));
      const since = toIso(confirmedAt);
      yield { id, email, status: "unsubscribed", reasons: [], ...choices, since };
    }
  }
}

/** Returns the reasons for which an address gets no mails of a page. */
export function reasonsOf(
  reader: Reader,
  addressHmac: string,
  pageId: string,
): SuppressionReason[] {
  return listSuppressionsOf(reader, { addressHmac, pageId })
    .map(({ reason }) => reason)
    .filter((reason) => reason !== "erased");
}

/** Reads rows by key until there are no more. */
export function* inBatches<Row, Key>(
  read: (after: Key) => Row[],
  first: Key,
  keyOf: (row: Row) => Key,
): Generator<Row> {
  let rows = read(first);
  while (rows.length > 0) {
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_PER_BATCH) return;
    rows = read(keyOf(last));
  }
}

function idOf({ id }: { id: string }): string {
  return id;
}
