import type { Reader } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import type { SubscriberEvent, SubscriberScope, SuppressionReason } from "../../base/mail-address";
import { toIso } from "../../base/time";
import type { PageRow } from "../pages/store";
import { choicesOf } from "./choices";
import { type ListedSubscriber, listSignUps, listSubscribers } from "./list";
import type { ListPart } from "./list-parts";
import { readRefs, refsOf } from "./refs";

/** Rows that are read at a time. */
const ROWS_PER_PART = 500;

export const LISTED_STATUSES = ["active", "suppressed", "unconfirmed", "unsubscribed"] as const;
type ListedStatus = (typeof LISTED_STATUSES)[number];

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

/** Lists the subscribers of a page with a status, or of every status. Within a list, the oldest is first. */
export function listSubscribersOfPage(
  reader: Reader,
  { id: pageId }: PageRow,
  { status: wanted, now }: { status: ListedStatus | undefined; now: number },
): SubscriberLine[] {
  const refs = readRefs(reader, pageId);
  const isWanted = (status: ListedStatus) => wanted === undefined || status === wanted;

  function toLine(
    { id, address: email }: { id: string; address: string | null },
    facts: Pick<SubscriberLine, "status" | "reasons">,
    { scope, targets, events }: RequestedChoices,
    since: number,
  ): SubscriberLine {
    return { id, email, ...facts, scope, ...refsOf(targets, refs), events, since: toIso(since) };
  }

  function confirmed(view: "active" | "unsubscribed"): SubscriberLine[] {
    return readAll((part) => listSubscribers(reader, { ...part, pageId, view })).map((row) => {
      const reasons = view === "active" ? reasonsOf(row) : [];
      const status = reasons.length > 0 ? "suppressed" : view;
      return toLine(row, { status, reasons }, choicesOf(reader, row), row.confirmedAt);
    });
  }

  function unconfirmed(): SubscriberLine[] {
    const facts = { status: "unconfirmed" as const, reasons: [] };
    const rows = readAll((part) => listSignUps(reader, { ...part, pageId }, now));
    return rows.map((row) => toLine(row, facts, row.choices, row.requestedAt));
  }

  return [
    ...(isWanted("active") || isWanted("suppressed") ? confirmed("active") : []),
    ...(isWanted("unconfirmed") ? unconfirmed() : []),
    ...(isWanted("unsubscribed") ? confirmed("unsubscribed") : []),
  ].filter(({ status }) => isWanted(status));
}

/** Reads all parts of a list without a search. Returns the oldest row first. */
function readAll<Row>(
  list: (part: { search: string; limit: number; before: string | undefined }) => ListPart<Row>,
): Row[] {
  const rows: Row[] = [];
  let before: string | undefined;
  do {
    const part = list({ search: "", limit: ROWS_PER_PART, before });
    rows.push(...part.rows);
    before = part.nextBefore;
  } while (before !== undefined);
  return rows.reverse();
}

/** Returns the reasons for which an address gets no mails. The mark of an erased one stops nothing. */
function reasonsOf({ reasons }: ListedSubscriber): SuppressionReason[] {
  const all = (reasons?.split(",") ?? []) as SuppressionReason[];
  return all.filter((reason) => reason !== "erased");
}
